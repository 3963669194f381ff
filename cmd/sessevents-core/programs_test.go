package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/build"
	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/cmd/internal/front"
)

// readByKong reads a command line with the whole grammar.
func readByKong(t *testing.T, line []string) (command any, spec string, err error) {
	t.Helper()
	var g grammar
	parser := kong.Must(&g, vars(), kong.Exit(func(int) { panic(exited{}) }))
	parser.Stdout, parser.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	defer func() {
		if p := recover(); p == any(exited{}) {
			err = errors.New("it prints its help")
		} else if p != nil {
			panic(p)
		}
	}()
	parsed, err := parser.Parse(client.Hoist(line))
	if err != nil {
		return nil, "", err
	}
	return parsed.Selected().Target.Addr().Interface(), g.Spec, nil
}

// same holds the two readings of a line against each other, and reports whether the first program reads it at all.
func same(t *testing.T, line []string) bool {
	t.Helper()
	short, spec, ok := client.Read(line)
	if !ok {
		return false
	}
	whole, wholeSpec, err := readByKong(t, line)
	if err != nil {
		t.Errorf("%q is taken, and by the grammar it is wrong: %v", line, err)
	} else if !reflect.DeepEqual(any(short), whole) || spec != wholeSpec {
		t.Errorf("%q is read as %+v of %q, and by the grammar as %+v of %q", line, short, spec, whole, wholeSpec)
	}
	return true
}

func TestBothProgramsReadALineAlike(t *testing.T) {
	for line, read := range map[string]bool{
		"--spec log-events status --id ci":             true,
		"--spec=log-events status --id=ci --json":      true,
		"status --spec ./a.yaml":                       true,
		"status":                                       true, // whose spec is missing, and that is said later
		"list --json":                                  true,
		"--spec x list":                                true,
		"--spec x wait --since 0 --timeout 0.5 --id a": true,
		"--spec x wait --since=12 --timeout=90":        true,
		"--spec x follow --since 3":                    true,
		"--spec x poll":                                true,
		"--spec x stop --id a":                         true,
		"--spec x watch /a b --host h -v --id ci":      true,
		"--spec x watch --id ci /a -- --id b":          true,
		"watch /a --spec x":                            true,
		"--spec x unwatch --all":                       true,
		"--spec x unwatch /a --all":                    true,
		"--spec x unwatch":                             true,
		"--spec x watch":                               false,
		"--spec x watch --than 3":                      false,
		"--spec x watch -- /a":                         false,
		"--spec x watch /a --help":                     false,
		"--spec x status --id":                         false,
		"--spec x status --id -a":                      false,
		"--spec x status --id=":                        false,
		"--spec x status --id a --id b":                false,
		"--spec x status --json --json":                false,
		"--spec x status --json=false":                 false,
		"--spec x status a":                            false,
		"--spec x --spec y status":                     false,
		"--spec x wait --since -1":                     false,
		"--spec x wait --since 007":                    false,
		"--spec x wait --since 0x10":                   false,
		"--spec x wait --since 1e3":                    false,
		"--spec x wait --since 99999999999999999999":   false,
		"--spec x wait --timeout NaN":                  false,
		"--spec x wait --timeout .5":                   false,
		"--spec x wait --timeout 5.":                   false,
		"--spec x list --id a":                         false,
		"--help":                                       false,
		"--version":                                    false,
		"-h status":                                    false,
		"status -h":                                    false,
		"":                                             false,
		"lint x.yaml":                                  false,
		"--spec x daemon":                              false,
		"--spec x try /a":                              false,
		"--spec":                                       false,
		"stat":                                         false,
	} {
		if got := same(t, strings.Fields(line)); got != read {
			t.Errorf("%q: the first program reads it: %t", line, got)
		}
	}
}

// sameLint does it for the lint that is read without the grammar.
func sameLint(t *testing.T, line []string) bool {
	t.Helper()
	short := plainLint(client.Hoist(line))
	if short == nil {
		return false
	}
	whole, spec, err := readByKong(t, line)
	if err != nil {
		t.Errorf("%q is taken, and by the grammar it is wrong: %v", line, err)
	} else if !reflect.DeepEqual(any(short), whole) || spec != "" {
		t.Errorf("%q is read as %+v, and by the grammar as %+v of %q", line, short, whole, spec)
	}
	return true
}

func TestAPlainLintIsReadAsByTheGrammar(t *testing.T) {
	for line, read := range map[string]bool{
		"lint a.yaml":               true,
		"lint a.yaml b,c lint":      true,
		"lint @a ${b} =c":           true,
		"lint":                      false,
		"lint --no-warnings a.yaml": false,
		"lint a.yaml --format=json": false,
		"lint a.yaml -h":            false,
		"lint - a.yaml":             false,
		"lint -- a.yaml":            false,
		"lint a \xff":               false,
		"--spec x lint a.yaml":      false,
		"linter a.yaml":             false,
		"test a.yaml":               false,
	} {
		if got := sameLint(t, strings.Fields(line)); got != read {
			t.Errorf("%q: it is read without the grammar: %t", line, got)
		}
	}
}

// FuzzBothProgramsReadALineAlike takes lines apart at line breaks, so that a word may hold anything else.
func FuzzBothProgramsReadALineAlike(f *testing.F) {
	for _, line := range []string{"--spec=x\nstatus\n--id\na b", "watch\n/a\n--\n--spec\nx", "wait\n--since\n1\n--timeout=2", "--id\nx\nlist", "unwatch\n--all\nx\n-h", "lint\na b\n@c,d"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		same(t, strings.Split(line, "\n"))
		sameLint(t, strings.Split(line, "\n"))
	})
}

// TestOneProgramOfTwo: what is missing, or of another version, is said with the command that mends it.
func TestOneProgramOfTwo(t *testing.T) {
	self, err := os.Executable() // it is both programs, by the name that it is called by
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	put := func(path ...string) string {
		file := filepath.Join(append([]string{dir}, path...)...)
		data, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	run := func(env, program string) string {
		cmd := exec.Command(program, "init", "a", "--out", "-")
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		if (err == nil) != strings.Contains(string(out), "\nname: a\n") {
			t.Errorf("%s: %v, %s", program, err, out)
		}
		return string(out)
	}
	mends := "go install github.com/sessevents/sessevents/cmd/...@latest\n"
	alone := put("bin", "sessevents")
	for _, place := range []string{"bin", "libexec"} {
		if out := run("", alone); !strings.Contains(out, filepath.Join(dir, place, front.Core)) || !strings.HasSuffix(out, mends) {
			t.Errorf("without the second program: %s", out)
		}
	}
	second := put("libexec", front.Core)
	link := filepath.Join(dir, "sessevents")
	if err := os.Symlink(alone, link); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{alone, link, second} {
		if out := run("", program); strings.Contains(out, "error") {
			t.Errorf("%s: %s", program, out)
		}
	}
	if out := run(client.CalledBy+"=v9.9.9", second); !strings.HasPrefix(out, "error: sessevents is v9.9.9, and "+second+" is ") || !strings.HasSuffix(out, mends) {
		t.Errorf("called by another version: %s", out)
	}
	if out := run(client.CalledBy+"="+build.Version(), alone); !strings.HasPrefix(out, "error: what is installed as "+front.Core) {
		t.Errorf("a second program that is the first: %s", out)
	}
}
