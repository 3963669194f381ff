package main

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/sessevents/sessevents/cmd/internal/build"
)

// hookName is the hook as a program of its own, which starts faster than this one.
const hookName = "csd-hook"

// hookExe is the program that hooks are to call: csd-hook where that is installed with this csd and built from the same
// version, else csd itself, which can do all that it can.
func hookExe(csd string) string {
	for _, path := range build.Companions(csd, hookName) {
		if versionOf(path) == build.Version() {
			return path
		}
	}
	return csd
}

// versionOf is what a program says to --version; empty where there is none, or it says nothing.
func versionOf(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
