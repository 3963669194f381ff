package specfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

func TestTheNameIsReadOffAHead(t *testing.T) {
	for head, want := range map[string]string{
		"version: 1\nname: build-log\ninterval: 5s\n":                              "build-log",
		"#!/usr/bin/env -S sessevents --spec\n\n# a: b\nname: a2  \n\n# c\nx: y\n": "a2",
		"version: 1\nname: a\n\n# c\n":                                             "a",

		"": "", "\n": "", "name: a": "", "name: a\n": "", // it may go on behind the head
		"name: a\n  b\nx: y\n":                            "", // to YAML the name is "a b"
		"name: a\n\n  b\nx: y\n":                          "",
		"name: a\n\tb\n":                                  "",
		"name: a b\nx: y\n":                               "",
		"name: a # b\nx: y\n":                             "", // it is a, and the whole program finds it
		"name: \"a\"\nx: y\n":                             "",
		"name: &x a\nx: y\n":                              "",
		"name: true\nx: y\n":                              "",
		"name: 12\nx: y\n":                                "",
		"name: -\nx: y\n":                                 "",
		"name:  a\nx: y\n":                                "",
		"name: A\nx: y\n":                                 "",
		"version: 2\nname: a\nx: y\n":                     "", // a language of which it knows nothing
		"usage: \"\nname: a\nx: \"\n":                     "", // inside a text
		"{\nname: a\n,x: y}\n":                            "",
		"---\nname: a\nx: y\n":                            "",
		" name: a\nx: y\n":                                "",
		"# c\rname: b\nname: a\nx: y\n":                   "", // line breaks of YAML
		"# c\u2028name: b\nname: a\nx:\n":                 "",
		"# c\u0085name: b\nname: a\nx:\n":                 "",
		"\ufeffname: a\nx: y\n":                           "",
		"\x00\nname: a\nx: y\n":                           "",
		"name: " + strings.Repeat("a", 41) + "\nx: y\n":   "",
		strings.Repeat("# c\n", 1024) + "name: a\nx: y\n": "",
	} {
		places := Places{Builtin: fstest.MapFS{"s.yaml": {Data: []byte(head)}}}
		if got := places.Head(Found{Path: "s.yaml", Builtin: true}); got != want {
			t.Errorf("%.60q gives %q, want %q", head, got, want)
		}
	}
}

// TestC10_NothingBlocksOnAPipe: only a file is read.
func TestC10_NothingBlocksOnAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "s.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("name: a\nx: y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "", dir: "", filepath.Join(dir, "none"): "", file: "a"} {
		if got := (Places{}).Head(Found{Path: path}); got != want {
			t.Errorf("%s gives %q, want %q", path, got, want)
		}
	}
}
