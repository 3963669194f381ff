package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sessevents/sessevents/cmd/internal/build"
)

// TestHookExe: hooks call csd-hook only where it is there and of this version.
func TestHookExe(t *testing.T) {
	says := func(version string) string { return fmt.Sprintf("#!/bin/sh\necho '%s'\n", version) }
	for name, test := range map[string]struct {
		place, text string
		mode        os.FileMode
		found       bool
	}{
		"beside":             {"bin/csd-hook", says(build.Version()), 0o700, true},
		"in libexec":         {"libexec/csd-hook", says(build.Version()), 0o700, true},
		"of another version": {"bin/csd-hook", says("v0.0.1"), 0o700, false},
		"broken":             {"bin/csd-hook", "#!/bin/sh\nexit 1\n", 0o700, false},
		"no program":         {"bin/csd-hook", says(build.Version()), 0o600, false},
		"none":               {"bin/other", says(build.Version()), 0o700, false},
	} {
		dir := t.TempDir()
		want := filepath.Join(dir, "bin", "csd")
		path := filepath.Join(dir, test.place)
		for _, folder := range []string{filepath.Join(dir, "bin"), filepath.Dir(path)} {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(test.text), test.mode); err != nil {
			t.Fatal(err)
		}
		if got := hookExe(filepath.Join(dir, "bin", "csd")); test.found && got != path || !test.found && got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestHookProgram: the two programs, built together, find each other, and the second one is a hook.
func TestHookProgram(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, ".", "../csd-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	csd, hook := filepath.Join(dir, "csd"), filepath.Join(dir, hookName)
	if a, b := versionOf(csd), versionOf(hook); a != b || a == "" {
		t.Errorf("csd is of %q, csd-hook of %q", a, b)
	}
	out, err := exec.Command(hook, "hook", "claude", dir, "nobody").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v, %q", err, out)
	}
	out, err = exec.Command(hook).CombinedOutput()
	if status, _ := err.(*exec.ExitError); status == nil || status.ExitCode() != 1 || len(out) == 0 { //nolint:errorlint // as Output returns it
		t.Errorf("by hand: %v, %q", err, out)
	}
}
