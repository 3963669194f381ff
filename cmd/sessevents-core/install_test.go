package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/cmd/internal/client"
)

// TestInstall runs scripts/install as a user does and uses what it installed.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	prefix := filepath.Join(t.TempDir(), "a b") // a folder that a careless script takes apart
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "SHELL=/bin/zsh")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", program, err, out, &stderr)
		}
		return string(out)
	}
	said := run("../../scripts/install", prefix)
	installed := filepath.Join(prefix, "bin", "sessevents")
	if v := strings.TrimSpace(run(installed, "--version")); v == "" || v == "unknown" || !strings.Contains(said, "installed "+installed+" ("+v+")\n") {
		t.Errorf("version %q; the script said:\n%s", v, said)
	}
	for path, shell := range map[string]string{
		"share/bash-completion/completions/sessevents":    "bash",
		"share/zsh/site-functions/_sessevents":            "zsh",
		"share/fish/vendor_completions.d/sessevents.fish": "fish",
	} {
		file := filepath.Join(prefix, path)
		text, err := os.ReadFile(file)
		if err != nil || string(text) != run(installed, "completion", shell) {
			t.Errorf("%s is not the completion of %s: %v", path, shell, err)
		}
		if !strings.Contains(said, "installed "+file+"\n") {
			t.Errorf("nothing was said of %s:\n%s", file, said)
		}
	}
	for _, note := range []string{"/bin is not on PATH", "share/zsh/site-functions) before compinit"} {
		if !strings.Contains(said, note) {
			t.Errorf("no note with %q in:\n%s", note, said)
		}
	}
	left, err := filepath.Glob(filepath.Join(prefix, "*", "*.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	out, err := exec.Command("../../scripts/install").CombinedOutput()
	if code := exitCodeOf(err); code != client.ExitUsage || !strings.HasPrefix(string(out), "usage: ") {
		t.Errorf("without a folder: exit %d, %s", code, out)
	}
}

func exitCodeOf(err error) int {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode()
	}
	return -1
}
