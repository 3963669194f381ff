// Package fakeharness is a stand-in for the clients that csd drives: a program that behaves as Claude Code, Codex or
// Pi do, as far as csd can see it, with no model behind it. It fires the hooks it is given, takes bracketed pastes,
// draws an input box, asks the clients' questions, queues prompts in each client's way, and writes transcripts in
// their forms. What was observed of the real clients it does by itself; what goes wrong with them, on demand.
//
// A test binary becomes a client when it is called by its name:
//
//	func TestMain(m *testing.M) {
//		if status, is := fakeharness.Ran(); is {
//			os.Exit(status)
//		}
//		os.Exit(m.Run())
//	}
//
// and a test calls [Install] for a folder with claude, codex and pi in it, to be put on the PATH.
//
// A prompt is answered with "Echo: " and its text, unless its lines give orders; see [parseScript]. The knobs of the
// environment are those of [knobs].
package fakeharness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// names are the clients, as they are called.
var names = []string{"claude", "codex", "pi"}

// Ran runs a client if this process was called by the name of one. status is its exit status then, and the process
// must end with it.
func Ran() (status int, is bool) {
	if len(os.Args) == 0 || !slices.Contains(names, filepath.Base(os.Args[0])) {
		return 0, false
	}
	return Main(os.Args, os.Environ()), true
}

// Main is a client in this terminal: the base name of args[0] says which. It returns when the client has ended.
func Main(args, environ []string) int {
	env := environment(environ)
	c, status, ok := newClient(args, env)
	if !ok {
		return status
	}
	defer c.close()
	var p program
	switch c.name {
	case "claude":
		p = newClaude(c)
	case "pi":
		p = newPi(c)
	default:
		p = newCodex(c)
	}
	return c.run(p)
}

// Install puts claude, codex and pi into dir: this test binary under their names. The binary's TestMain must call
// [Ran].
func Install(t testing.TB, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		to := filepath.Join(dir, name)
		// A link of the file itself keeps its name when somebody resolves it.
		if os.Link(self, to) == nil {
			continue
		}
		if err := os.Symlink(self, to); err != nil {
			t.Fatal(err)
		}
	}
}

// SeedClaude writes into home what a person's first start of Claude Code leaves there, so that only the questions of a
// new folder are asked. trusted are the folders that need none.
func SeedClaude(t testing.TB, home string, trusted ...string) {
	t.Helper()
	projects := map[string]any{}
	for _, dir := range trusted {
		projects[dir] = map[string]any{"hasTrustDialogAccepted": true}
	}
	text := encode(map[string]any{"hasCompletedOnboarding": true, "projects": projects})
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// environment is a process's.
type environment []string

func (e environment) get(name string) string {
	for _, pair := range slices.Backward(e) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// with is the environment with more variables.
func (e environment) with(pairs ...string) environment {
	return append(slices.Clone(e), pairs...)
}
