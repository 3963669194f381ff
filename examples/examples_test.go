package examples_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/examples"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

func names(t *testing.T) []string {
	t.Helper()
	paths, err := fs.Glob(examples.Files, "*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	return paths
}

// TestSE9_ExamplesAreCleanAndTested: each lints without a word, doubts included, has tests, and passes them.
func TestSE9_ExamplesAreCleanAndTested(t *testing.T) {
	for _, path := range names(t) {
		t.Run(path, func(t *testing.T) {
			spec, source, found := specs.CheckFile(path, specs.Options{Fetchers: fetchers.All})
			if len(found) > 0 {
				t.Fatal(written(found))
			}
			if !spec.HasTests() {
				t.Fatal("has no tests")
			}
			for _, r := range specs.RunTests(t.Context(), spec, source) {
				if !r.Pass {
					t.Errorf("%s %s\n%s", r.Place, r.Name, r.Diff)
				}
			}
		})
	}
}

// TestExamplesAreExecutable: the first line makes a spec a program.
func TestExamplesAreExecutable(t *testing.T) {
	for _, path := range names(t) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o755 || !strings.HasPrefix(string(src), "#!/usr/bin/env -S sessevents --spec\n") {
			t.Errorf("%s: mode %v, first line %q", path, info.Mode(), strings.SplitN(string(src), "\n", 2)[0])
		}
		if spec, _ := specs.Parse(path, src); spec.Name+".yaml" != path {
			t.Errorf("%s is called %s", path, spec.Name)
		}
	}
}

// TestExamplesAreShort: an example reads like a sentence.
func TestExamplesAreShort(t *testing.T) {
	for _, path := range names(t) {
		src, err := fs.ReadFile(examples.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		most := 45
		if path == "watch-github.yaml" {
			most = 90
		}
		before, _, _ := strings.Cut(string(src), "\ntests:\n")
		if n := strings.Count(before, "\n") + 1; n > most {
			t.Errorf("%s has %d lines without its tests, more than %d", path, n, most)
		}
	}
}
