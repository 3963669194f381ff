package tmux_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/tmux"
)

// TestNew_TellsOfTheSessionThatItMade, also a caller who gave up at that moment: a client in a session that nobody knows
// of would run on.
func TestNew_TellsOfTheSessionThatItMade(t *testing.T) {
	s := server(t, "")
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	if err := syscall.Mkfifo(made, 0o600); err != nil {
		t.Fatal(err)
	}
	// It tells of the session after it was made, and goes on after the caller has given up.
	slow := fmt.Sprintf("#!/bin/sh\nout=$(%s \"$@\") || exit\nps -o pgid= -p $$ >%[2]s/group\necho made >%[2]s/made\nread gone <%[2]s/made\nprintf '%%s\\n' \"$out\"\n", real, dir)
	s.Bin = filepath.Join(dir, "tmux")
	if err := os.WriteFile(s.Bin, []byte(slow), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"New", "Respawn"} {
		ctx, cancel := context.WithCancel(t.Context())
		type result struct {
			tmux.Pane
			error
		}
		results := make(chan result, 1)
		go func() {
			var r result
			if call == "New" {
				r.Pane, r.error = s.New(ctx, tmux.NewSession{Name: "w", Dir: "/", Argv: []string{"sleep", "1000"}})
			} else {
				r.Pane, r.error = s.Respawn(ctx, tmux.Target{Session: "w"}, "/", []string{"sleep", "1001"})
			}
			results <- r
		}()
		if _, err := os.ReadFile(made); err != nil { // it returns when both have opened it
			t.Fatal(err)
		}
		cancel()
		go func() { // without a reader where the call was broken off
			f, err := os.OpenFile(made, os.O_WRONLY, 0)
			if err == nil {
				_, _ = f.WriteString("gone\n")
				_ = f.Close()
			}
		}()
		if r := <-results; r.error != nil || r.Session != "w" || r.PID == 0 {
			t.Errorf("%s: %+v, %v", call, r.Pane, r.error)
		}
		group, err := os.ReadFile(filepath.Join(dir, "group"))
		if err != nil || strings.TrimSpace(string(group)) == fmt.Sprint(syscall.Getpgrp()) {
			t.Errorf("%s: tmux is in the process group of the caller, whose Ctrl-C is not for it: %s, %v", call, group, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if _, err := s.New(ctx, tmux.NewSession{Name: "v", Dir: "/", Argv: []string{"sleep", "1000"}}); err == nil {
		t.Error("a session for a caller who had given up before")
	}
}
