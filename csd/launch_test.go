package csd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/internal/shellwords"
)

func TestLaunch_PrintsAShimOfThreeLines(t *testing.T) {
	r := newRig(t)
	l, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work, Args: []string{"--model", "sonnet 4"}})
	r.must(err)
	if l.Shim != filepath.Join(r.env["CSD_WORKER_DIR"], "bin", "w") || l.CWD != r.work || len(l.SessionID) != 36 || l.Events == "" {
		t.Errorf("%+v", l)
	}
	if got := shellwords.Join(l.Reproduce[1:]); got != "launch w "+r.work+" -- --model 'sonnet 4'" {
		t.Errorf("reproduce: %s", got)
	}
	shim, err := os.ReadFile(l.Shim)
	r.must(err)
	if strings.Count(string(shim), "\n") != 3 || !strings.HasPrefix(string(shim), "#!/bin/sh\n") || !strings.Contains(string(shim), r.env["CSD_WORKER_DIR"]) {
		t.Errorf("shim:\n%s", shim)
	}
	if s := r.state("w"); s != csd.Idle {
		t.Errorf("status %s", s)
	}
}

func TestLaunch_WithoutConsent(t *testing.T) {
	r := newRig(t)
	r.must(os.Remove(filepath.Join(r.home, ".claude", ".claude-session-driver-consent")))
	_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work})
	r.fails(err, csd.Failed, "have not agreed")
	var out strings.Builder
	if _, _, err := r.fleet().GrantConsent(strings.NewReader("y\n"), &out); err == nil || !strings.Contains(out.String(), "without permission checks") {
		t.Errorf("a y is taken for a yes: %v\n%s", err, out.String())
	}
	if _, before, err := r.fleet().GrantConsent(strings.NewReader("  yes \n"), &out); before || err != nil {
		t.Errorf("%v, %v", before, err)
	}
	if _, before, err := r.fleet().GrantConsent(strings.NewReader(""), &out); !before || err != nil {
		t.Errorf("%v, %v", before, err)
	}
}

func TestF02_F03_NamesThatCannotBe(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"", "a.b", "a:b", "a/b", "..", "-a", "a b", "$(id)", "a'b", "_a", "ä", strings.Repeat("a", 65)} {
		_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: name, Dir: r.work})
		r.fails(err, csd.Usage, "cannot be the name of a worker")
	}
	if files, sessions := r.files(), r.sessions(); len(files)+len(sessions) != 0 {
		t.Errorf("left behind: %v %v", files, sessions)
	}
}

func TestLaunch_NoFolder(t *testing.T) {
	r := newRig(t)
	_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: filepath.Join(r.dir, "none")})
	r.fails(err, csd.Failed, "there is no folder")
	_, err = r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: filepath.Join(r.dir, "bin", "claude")})
	r.fails(err, csd.Failed, "is no folder")
}

// TestF18_AClientThatEndsAtOnce: the reason at once, and nothing left.
func TestF18_AClientThatEndsAtOnce(t *testing.T) {
	r := newRig(t).with("FAKE_EXIT", "7")
	begun := time.Now()
	_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work})
	r.fails(err, csd.Failed, "7")
	if took := time.Since(begun); took > 30*time.Second { // the time for a start is a minute
		t.Errorf("it took %s", took)
	}
	if files, sessions := r.files(), r.sessions(); len(files)+len(sessions) != 0 {
		t.Errorf("left behind: %v %v", files, sessions)
	}
	r.with("CSD_CLAUDE_BIN", filepath.Join(r.dir, "no-such-client"))
	_, err = r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work})
	r.fails(err, csd.Failed, "no-such-client")
}

// TestF17_AnUnknownDialogIsNotAnswered: what stands on the screen is in the error, and nothing is left.
func TestF17_AnUnknownDialogIsNotAnswered(t *testing.T) {
	r := newRig(t).with("FAKE_UNKNOWN_DIALOG", "1", "CSD_START_TIMEOUT_MS", "6000")
	_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work})
	if err == nil || !strings.Contains(err.Error(), "favourite colour") {
		t.Errorf("%v", err)
	}
	if files, sessions := r.files(), r.sessions(); len(files)+len(sessions) != 0 {
		t.Errorf("left behind: %v %v", files, sessions)
	}
}

func TestF15_F16_TrustDialogs(t *testing.T) {
	for _, kind := range []string{"no-first", "yes-first", "twice"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).with("FAKE_TRUST", kind, "FAKE_LATE_DIALOG", "6s")
			r.launch("claude", "w")
			if got := r.converse("w", "hello"); got != "Echo: hello" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestF21_TwoLaunchesOfOneName: one wins, and the other does it no harm.
func TestF21_TwoLaunchesOfOneName(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		f := r.fleet()
		wg.Go(func() { _, errs[i] = f.Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work}) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		}
	}
	if won != 1 {
		t.Fatalf("%d of 4 won: %v", won, errs)
	}
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}

// TestF22_F23_WhatAWorkerIsGiven: nothing of a surrounding session, no tool that would block for ever, and no secret in
// an argument.
func TestF22_F23_WhatAWorkerIsGiven(t *testing.T) {
	r := newRig(t)
	dump := filepath.Join(r.dir, "dump.json")
	r.with("FAKE_DUMP_ENV", dump, "CLAUDE_CODE_SESSION_ID", "controller", "CLAUDE_CODE_CHILD_SESSION", "1", "CLAUDECODE", "1",
		"CLAUDE_CODE_SSE_PORT", "9", "CLAUDE_CODE_USE_BEDROCK", "", "MY_TOKEN", "secret-1234")
	r.launch("claude", "w")
	var got struct {
		Args []string `json:"argv"`
		Dir  string   `json:"dir"`
		Env  []string `json:"env"`
	}
	b, err := os.ReadFile(dump)
	r.must(err)
	r.must(json.Unmarshal(b, &got))
	for _, e := range got.Env {
		for _, foreign := range []string{"CLAUDE_CODE_SESSION_ID=", "CLAUDE_CODE_CHILD_SESSION=", "CLAUDECODE=", "CLAUDE_CODE_SSE_PORT=", "CLAUDE_CODE_USE_BEDROCK="} {
			if strings.HasPrefix(e, foreign) {
				t.Errorf("the worker was given %s", e)
			}
		}
	}
	if !slices.Contains(got.Env, "MY_TOKEN=secret-1234") || !slices.ContainsFunc(got.Env, func(e string) bool { return strings.HasPrefix(e, "TMUX_PANE=%") }) {
		t.Errorf("the worker's environment is %v", got.Env)
	}
	if i := slices.Index(got.Args, "--disallowed-tools"); i < 0 || got.Args[i+1] != "AskUserQuestion" || strings.Contains(strings.Join(got.Args, " "), "secret-1234") {
		t.Errorf("the worker's arguments are %q", got.Args)
	}
}
