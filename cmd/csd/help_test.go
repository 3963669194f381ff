package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	helpLine = regexp.MustCompile(`(?m)^  (csd|<shim>) ([a-z-]+)([^#\n]*)`)
	helpFlag = regexp.MustCompile(`--([a-z-]+)`)
	helpArg  = regexp.MustCompile(`<([a-z-]+)>|\b([a-z]+)=\d+`)
	variable = regexp.MustCompile(`"(CSD_[A-Z_]+)=?"`)
)

// TestHelp_AndGrammarSayTheSame: every command, flag and argument of the grammar is in the help, where it belongs, and
// nothing else is.
func TestHelp_AndGrammarSayTheSame(t *testing.T) {
	described := map[string]string{}
	for _, m := range helpLine.FindAllStringSubmatch(usageText("csd"), -1) {
		if described[m[2]] != "" {
			t.Errorf("%s is there twice", m[2])
		}
		described[m[2]] = m[1] + m[3]
	}
	model := kong.Must(&grammar{}, kong.Vars{"version": ""}).Model
	for _, n := range model.Leaves(true) {
		line, ok := described[n.Name]
		if !ok {
			t.Errorf("the help lacks %s", n.Name)
			continue
		}
		delete(described, n.Name)
		if caller := strings.HasPrefix(line, "<shim>"); caller != (n.Tag.Get("worker") != "") {
			t.Errorf("%s has the wrong caller in the help: %s", n.Name, line)
		}
		var flags, args, wantArgs []string
		wantFlags := map[string]bool{}
		for _, m := range helpFlag.FindAllStringSubmatch(line, -1) {
			flags = append(flags, m[1])
		}
		for _, f := range n.Flags {
			wantFlags[f.Name] = true
		}
		if slices.Sort(flags); !slices.Equal(flags, slices.Sorted(maps.Keys(wantFlags))) {
			t.Errorf("%s has the flags %v, and in the help %v", n.Name, slices.Sorted(maps.Keys(wantFlags)), flags)
		}
		for _, m := range helpArg.FindAllStringSubmatch(regexp.MustCompile(`\[--[^\]]*\]`).ReplaceAllString(strings.TrimPrefix(line, "<shim>"), ""), -1) {
			args = append(args, m[1]+m[2])
		}
		for _, p := range n.Positional {
			wantArgs = append(wantArgs, p.Name)
		}
		if n.Name == "completion" {
			wantArgs = []string{} // the help names the shells
		}
		if !slices.Equal(args, wantArgs) {
			t.Errorf("%s takes %v, and in the help %v", n.Name, wantArgs, args)
		}
	}
	for name := range described {
		t.Errorf("the help has %s, which is no command", name)
	}
}

// TestHelp_NamesEveryExitCodeAndVariable looks for the variables where they are read.
func TestHelp_NamesEveryExitCodeAndVariable(t *testing.T) {
	for _, code := range []int{exitOK, exitFailed, exitUsage, exitAPIError, exitNeedsPerson, exitTimeout, exitInterrupted} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^  (.*   )?%d [a-z]`, code)).MatchString(details) {
			t.Errorf("exit code %d is not told", code)
		}
	}
	own := []string{"CSD_TMUX_NAME", "CSD_EXE"} // what csd itself sets for a worker
	read := map[string]bool{}
	for _, pattern := range []string{"../../csd/*.go", "../../csd/*/*.go", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range variable.FindAllStringSubmatch(string(text), -1) {
				read[m[1]] = true
				if !slices.Contains(own, m[1]) && !strings.Contains(details, m[1]) {
					t.Errorf("%s reads %s, which the help does not name", f, m[1])
				}
			}
		}
	}
	for _, name := range regexp.MustCompile(`CSD_[A-Z_]+`).FindAllString(details, -1) {
		if !read[name] {
			t.Errorf("the help names %s, which nobody reads", name)
		}
	}
}

func TestOrder_OnlyOwnFlagsAreFlagsBeforeAPrompt(t *testing.T) {
	for in, want := range map[string]string{
		"launch w d -- --harness x --":        "launch w d | --harness x --",
		"launch --harness pi w d --":          "launch --harness pi w d |",
		"--worker launch launch w d -- x":     "--worker launch launch w d | x",
		"--worker send send -x":               "--worker send send -- -x",
		"--worker=w converse --with-turn - 9": "--worker=w converse --with-turn -- - 9",
		"converse - --with-turn":              "converse --with-turn -- -",
		"converse -- --with-turn 9":           "converse -- --with-turn 9",
		"send --help":                         "send --help",
		"send":                                "send",
		"--worker":                            "--worker",
		"":                                    "",
		"status --json":                       "status --json",
		"list -- x":                           "list -- x",
	} {
		own, extra := order(strings.Fields(in))
		got := strings.Join(own, " ")
		if extra != nil {
			got = strings.TrimSpace(got + " | " + strings.Join(extra, " "))
		}
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
