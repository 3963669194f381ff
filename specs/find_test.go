package specs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessevents/sessevents/internal/specfile"
	"github.com/sessevents/sessevents/specs"
)

// TestFindLooksNearestFirst: the working directory, its parents, the user's folder, the built-in ones.
func TestFindLooksNearestFirst(t *testing.T) {
	root := t.TempDir()
	put := func(parts ...string) string {
		path := filepath.Join(append([]string{root}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(base, "name: base", "name: "+name, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	here := put("repo", "sub", ".sessevents", "here.yaml")
	above := put("repo", ".sessevents", "above.yaml")
	put("repo", ".sessevents", "here.yaml")
	config := put("config", "sessevents", "specs", "mine.yaml")
	put("config", "sessevents", "specs", "above.yaml")
	put("config", "sessevents", "specs", "Not A Name.yaml")
	put("repo", ".sessevents", "folder.yaml", "x")
	builtin := fstest.MapFS{
		"shipped.yaml": {Data: []byte(strings.Replace(base, "name: base", "name: shipped", 1))},
		"mine.yaml":    {Data: []byte("version: 1\n")},
	}
	places := specs.Places{Dir: filepath.Join(root, "repo", "sub"), Config: filepath.Join(root, "config"), Builtin: builtin}
	for _, row := range []struct {
		name, path string
		builtin    bool
	}{
		{"here", here, false},
		{"above", above, false},
		{"mine", config, false},
		{"shipped", "shipped.yaml", true},
		{"./x.yaml", "./x.yaml", false},
		{"x.yml", "x.yml", false},
		{"/etc/spec", "/etc/spec", false},
	} {
		f, err := places.Find(row.name)
		if err != nil || f.Path != row.path || f.Builtin != row.builtin {
			t.Errorf("%s: %+v, %v", row.name, f, err)
		}
	}
	for name, want := range map[string]string{"shiped": "did you mean shipped?", "folder": "", "No Name": "neither a path nor a name", "": "neither"} {
		if _, err := places.Find(name); !errors.Is(err, specs.ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	var names []string
	for _, f := range places.List() {
		names = append(names, f.Name)
		if s, found := f.Load(); found.HasErrors() || s.Name != f.Name {
			t.Errorf("%s: %v", f.Name, found)
		}
	}
	if got := strings.Join(names, " "); got != "above here mine shipped" {
		t.Errorf("the list is %q", got)
	}
}

// FuzzTheHeadOfASpecGivesItsName: a program that reads only the head of a spec talks to the daemon that the spec
// names, or says that it does not know.
func FuzzTheHeadOfASpecGivesItsName(f *testing.F) {
	for _, src := range []string{base, "version: 1\nname: a\n\n  b\n", "name: a\nname: b\n", "# \xc2\x85name: b\nname: a\nx: y", "name: yes\nx: y\n"} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		places := specfile.Places{Builtin: fstest.MapFS{"s.yaml": {Data: src}}}
		head := places.Head(specfile.Found{Path: "s.yaml", Builtin: true})
		spec, _ := specs.Parse("s.yaml", src)
		if head != "" && spec != nil && spec.Name != "" && spec.Name != head {
			t.Errorf("the head gives %q, and the whole %q", head, spec.Name)
		}
	})
}
