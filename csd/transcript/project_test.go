package transcript

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestF54_ProjectFolder(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/u/w1":                           "-home-u-w1",
		"/home/u/w é_ü:@+ x,漢.~%(1)A9":         "-home-u-w--------x------1-A9", // as the real client made it
		"/tmp/a b-П@x.y_z":                     "-tmp-a-b---x-y-z",
		"/home/u/🚀":                            "-home-u---", // two units of UTF-16
		"/" + strings.Repeat("a", 199):         "-" + strings.Repeat("a", 199),
		"/" + strings.Repeat("ab", 100):        "-" + strings.Repeat("ab", 99) + "a-8vo0h9", // hashes as a JavaScript engine gives them
		"/home/u/" + strings.Repeat("漢ü", 120): "-home-u-" + strings.Repeat("-", 192) + "-so2563",
	} {
		if got := ClaudeProject(cwd); got != want {
			t.Errorf("%s: got %s, want %s", cwd, got, want)
		}
	}
}

func TestF54_FindClaude(t *testing.T) {
	config, cwd := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cwd, link); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		t.Fatal(err)
	}
	make := func(folder, id string) string {
		path := filepath.Join(config, "projects", folder, id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := FindClaude(config, cwd, "id-1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before there is any: %v", err)
	}
	here := make(ClaudeProject(real), "id-1")
	elsewhere := make("-of-another-encoding", "id-2")
	make("-of-another-encoding", "id-1")
	for id, want := range map[string]string{"id-1": here, "id-2": elsewhere} {
		for _, cwd := range []string{cwd, link, link + "/"} {
			if got, err := FindClaude(config, cwd, id); err != nil || got != want {
				t.Errorf("%s from %s: got %s, %v", id, cwd, got, err)
			}
		}
	}
	for _, id := range []string{"", "id-3", "../id-1", "*", ".", "a/b"} {
		if got, err := FindClaude(config, cwd, id); err == nil {
			t.Errorf("%q: got %s", id, got)
		}
	}
}
