package fetchers

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// found are the names of what a glob finds, below dir.
func found(t *testing.T, dir, pattern string) []string {
	t.Helper()
	answer, err := newAsker(t, "stat").ask(map[string]any{"glob": pattern})
	must(t, err)
	names := []string{}
	for _, doc := range answer.Doc.([]any) {
		name, err := filepath.Rel(dir, doc.(map[string]any)["path"].(string))
		must(t, err)
		names = append(names, name)
	}
	return names
}

// hostileNames would each match something else, or nothing, were they patterns.
var hostileNames = []string{"a[1]", "*", "?", "**", "{a1,b}", "b,a1", `b\`, `\*`, "[!a]", "[a-b]", "]", "}", "{", "a1", "b", "-", "^b", ".x", "ü[ä]"}

func TestC23_ATargetIsNoPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[in]{a,b}*")
	must(t, os.Mkdir(dir, 0o700))
	for _, name := range hostileNames {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "f.log"), "")
		write(t, filepath.Join(dir, name, "f.txt"), "")
	}
	must(t, os.Mkdir(filepath.Join(dir, "logs"), 0o700))
	for _, name := range hostileNames {
		write(t, filepath.Join(dir, "logs", name+".log"), "")
	}
	base := GlobLiteral("", dir)
	for _, name := range hostileNames {
		for _, c := range []struct {
			before, behind string
			want           []string
		}{
			{base + "/", "", []string{name}},
			{base + "/", "/*.log", []string{name + "/f.log"}},
			{base + "/", "/*.{log,txt}", []string{name + "/f.log", name + "/f.txt"}},
			{base + "/l*/", ".log", []string{"logs/" + name + ".log"}},
			{base + "/lo[g]s/", ".log", []string{"logs/" + name + ".log"}},
			{base + "/{none,", "}/f.log", []string{name + "/f.log"}},
			{base + "/{logs,logs}/{", ",none}.log", []string{"logs/" + name + ".log"}},
		} {
			pattern := c.before + GlobLiteral(c.before, name) + c.behind
			got := found(t, dir, pattern)
			if strings.Contains(name, `\`) && strings.Contains(c.behind, "{") {
				continue // doublestar finds nothing with {} in a folder that has a backslash in its name
			}
			slices.Sort(got)
			if got = slices.Compact(got); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s in %s…%s, %s: found %q, want %q", name, c.before, c.behind, pattern, got, c.want)
			}
		}
	}
	if got := All["stat"].Watch(map[string]any{"glob": base + "/" + GlobLiteral("", "a[1]") + "/*.log"}); !reflect.DeepEqual(got, []string{dir, dir + "/a[1]"}) && !reflect.DeepEqual(got, []string{dir + "/a[1]"}) {
		t.Errorf("watches %q", got)
	}
}

func TestC23_ATargetIsNoClassOfCharacters(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c", "-", "!", "^", "]", `\`} {
		write(t, filepath.Join(dir, name), "")
	}
	for _, c := range []struct {
		value string
		want  []string
	}{
		{"a-c", []string{"-", "a", "c"}}, {"!a", []string{"!", "a"}}, {"^a", []string{"^", "a"}}, {"]a", []string{"]", "a"}}, {`\a`, []string{`\`, "a"}},
	} {
		before := GlobLiteral("", dir) + "/["
		if got := found(t, dir, before+GlobLiteral(before, c.value)+"]"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("[%s]: found %q, want %q", c.value, got, c.want)
		}
	}
}

func TestGlobsBeginInAFolderOfAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1]{b,c}")
	must(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Join(dir, "f.log"), "")
	t.Setenv("HOME", dir)
	t.Chdir(dir)
	for _, pattern := range []string{"~/*.log", "*.log", "./*.log", "f.log"} {
		if got := found(t, dir, pattern); !reflect.DeepEqual(got, []string{"f.log"}) {
			t.Errorf("%s: found %q", pattern, got)
		}
	}
}

func FuzzGlobLiteral(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name, "other")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, other string) {
		for _, n := range []string{name, other} {
			if n == "" || n == "." || n == ".." || len(n) > 60 || strings.ContainsAny(n, "/\x00") || strings.ToValidUTF8(n, "") != n {
				t.Skip()
			}
		}
		sub, err := os.MkdirTemp(dir, "")
		must(t, err)
		write(t, filepath.Join(sub, name), "")
		write(t, filepath.Join(sub, other), "")
		if got := found(t, sub, sub+"/"+GlobLiteral("", name)); !reflect.DeepEqual(got, []string{name}) {
			t.Errorf("%q: found %q", name, got)
		}
	})
}
