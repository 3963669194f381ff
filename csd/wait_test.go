package csd_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
)

// waits waits for the end of a turn of a worker, from a line on.
func (r *rig) waits(name string, after int64) (csd.Ended, error) {
	r.Helper()
	return r.worker(name).WaitForTurn(r.Context(), csd.WaitOptions{Timeout: patience, AfterLine: after})
}

// began waits until a worker's turn runs.
func (r *rig) began(name string, what event.Name, n int) {
	r.Helper()
	r.eventually(string(what), func() bool { return r.count(name, what) >= n })
}

func TestF37_StopBeforeTheClosingMessage(t *testing.T) {
	r := newRig(t).with("FAKE_EVENTLAG", "700ms")
	r.launch("claude", "w")
	if got := r.converse("w", "SAY I will look\nTOOL echo x\nANSWER the end"); got != "the end" {
		t.Errorf("%q", got)
	}
}

// TestF39_AnAPIErrorEndsTheTurn: at once, with its words; the worker can go on.
func TestF39_AnAPIErrorEndsTheTurn(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	begun := time.Now()
	_, err := r.worker("w").Converse(t.Context(), "ERR 429", csd.ConverseOptions{Timeout: patience})
	r.fails(err, csd.APIError, "rate_limit")
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("it took %s", took)
	}
	if s := r.state("w"); s != csd.Idle {
		t.Errorf("status %s", s)
	}
	s, err := r.worker("w").Status(t.Context(), true)
	r.must(err)
	if s.LastError == nil || s.LastError.Type != event.RateLimit || s.LastError.At.IsZero() || s.Turns != 1 {
		t.Errorf("%+v %+v", s, s.LastError)
	}
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}

// TestF40_AnInterruptedTurnIsNoAnswer: with and without words of the model before the interruption.
func TestF40_AnInterruptedTurnIsNoAnswer(t *testing.T) {
	for name, prompt := range map[string]string{"before a word": "HANG", "while it speaks": "SAY well\nSLOW 50", "in a tool": "TOOL sleep 50"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.launch("claude", "w")
			answer := make(chan error, 1)
			w := r.worker("w")
			go func() {
				_, err := w.Converse(t.Context(), prompt, csd.ConverseOptions{Timeout: patience})
				answer <- err
			}()
			r.began("w", event.UserPromptSubmit, 1)
			r.eventually("the turn to be under way", func() bool { return r.state("w") == csd.Working && r.busy("w") })
			for done := false; !done; { // the client may not take the first key
				_ = r.tmux("send-keys", "-t", "=w:", "Escape").Run()
				select {
				case err := <-answer:
					if err == nil || csd.KindOf(err) != csd.Failed {
						t.Errorf("converse: %v", err)
					}
					done = true
				case <-time.After(6 * time.Second):
				}
			}
			stops := 0
			for _, e := range r.events("w") {
				if e.Name == event.Stop {
					if stops++; !e.Interrupted || e.Source == "" {
						t.Errorf("%+v", e)
					}
				}
			}
			if s := r.state("w"); s != csd.Idle || stops != 1 {
				t.Errorf("status %s, %d stops", s, stops)
			}
			if got := r.converse("w", "hello"); got != "Echo: hello" {
				t.Errorf("%q", got)
			}
		})
	}
}

// busy reports whether the client itself says that a turn runs.
func (r *rig) busy(name string) bool {
	files, _ := filepath.Glob(filepath.Join(r.home, ".claude", "sessions", "*.json"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), `"busy"`) {
			return true
		}
	}
	return false
}

// TestF41_BackgroundWork: the evidence is in the stop, converse returns, and the turn that the client begins by itself
// when the command ends is nobody's answer.
func TestF41_BackgroundWork(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	gate := filepath.Join(r.dir, "gate")
	if got := r.converse("w", "BG while [ ! -e "+gate+" ]; do sleep 0.1; done\nANSWER runs"); got != "runs" {
		t.Errorf("%q", got)
	}
	s, err := r.worker("w").Status(t.Context(), true)
	r.must(err)
	if len(s.Background) != 1 || !strings.Contains(s.Background[0].Command, gate) || s.State != csd.Idle {
		t.Errorf("%+v", s)
	}
	r.must(os.WriteFile(gate, nil, 0o600))
	r.began("w", event.Stop, 2)
	if s, err = r.worker("w").Status(t.Context(), true); err != nil || len(s.Background) != 0 {
		t.Errorf("%+v, %v", s.Background, err)
	}
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}

// TestF42_AWorkerThatDiesInATurn: every wait ends at once, whatever the way.
func TestF42_AWorkerThatDiesInATurn(t *testing.T) {
	for name, kill := range map[string]func(r *rig){
		"SIGKILL": func(r *rig) { r.must(syscall.Kill(r.client("w"), syscall.SIGKILL)) },
		"session": func(r *rig) { r.must(r.tmux("kill-session", "-t", "=w").Run()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.launch("claude", "w")
			w := r.worker("w")
			answer := make(chan error, 1)
			go func() {
				_, err := w.Converse(t.Context(), "HANG", csd.ConverseOptions{Timeout: 10 * patience})
				answer <- err
			}()
			r.began("w", event.UserPromptSubmit, 1)
			kill(r)
			if err := <-answer; csd.KindOf(err) != csd.Failed || err == nil {
				t.Errorf("%v", err)
			}
			if s := r.state("w"); s != csd.Gone {
				t.Errorf("status %s", s)
			}
			// The hook of a client that is killed may write later than the client wrote that its turn was broken off.
			r.eventually("the end of the session", func() bool { return r.count("w", event.SessionEnd) == 1 })
			if n := r.count("w", event.Stop); n > 1 {
				t.Errorf("%d stops of one turn", n)
			}
		})
	}
}

// TestF43_AStopThatLandedInTheGap: the error of a wait that ran out says from which line nothing is missed.
func TestF43_AStopThatLandedInTheGap(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	_, err := r.worker("w").Converse(t.Context(), "SLOW 2\nANSWER late", csd.ConverseOptions{Timeout: 50 * time.Millisecond})
	r.fails(err, csd.TimedOut, "retry_after_line: 1")
	r.began("w", event.Stop, 1)
	if _, err := r.worker("w").WaitForTurn(t.Context(), csd.WaitOptions{Timeout: 50 * time.Millisecond, AfterLine: -1}); csd.KindOf(err) != csd.TimedOut {
		t.Errorf("a bare wait finds what was before it: %v", err)
	}
	ended, err := r.waits("w", 1)
	if err != nil || ended.Event.LastAssistantMessage != "late" {
		t.Errorf("%+v, %v", ended, err)
	}
}

func TestWait_ADialogNeedsAPerson(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	w := r.worker("w")
	_, err := w.Converse(t.Context(), "PERMIT ls", csd.ConverseOptions{Timeout: patience})
	r.fails(err, csd.NeedsPerson, "permission")
	s, err := w.Status(t.Context(), false)
	if err != nil || s.WaitingFor != "permission" {
		t.Errorf("%+v, %v", s, err)
	}
	_, err = w.Send(t.Context(), "hello")
	r.fails(err, csd.NeedsPerson, "permission")
	r.hints(err, ": tmux attach -t =w")
	defer r.elsewhere("other")() // there tmux has to be told where the worker is
	_, err = r.worker("w").Send(t.Context(), "hello")
	r.hints(err, ": tmux -S "+r.dir)
}

func TestWait_EndsWithItsContext(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.worker("w").WaitForTurn(ctx, csd.WaitOptions{Timeout: patience, AfterLine: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestConverse_WritesADiagnosisWhenTheTimeRunsOut(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	diag := filepath.Join(r.dir, "made", "for", "it.txt")
	r.with("CSD_CONVERSE_DIAG_FILE", diag)
	_, err := r.worker("w").Converse(t.Context(), "HANG", csd.ConverseOptions{Timeout: 100 * time.Millisecond})
	r.fails(err, csd.TimedOut, "csd-diagnostic: "+diag)
	b, err := os.ReadFile(diag)
	r.must(err)
	for _, want := range []string{"worker: w", "## processes", "(the client)", "## terminal", "HANG", "## transcript", "## events", `"event":"user_prompt_submit"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
}

// TestF62_WhatStandsOnTheScreenIsNoState: a worker may say what its client says while it works, or asks.
func TestF62_WhatStandsOnTheScreenIsNoState(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	const words = `· esc to interrupt · Do you want to proceed? ❯ 1. Yes 2. No · Working (2s • esc to interrupt) · [Pasted text #1]`
	if got := r.converse("w", "ANSWER "+words); got != words {
		t.Errorf("%q", got)
	}
	if s, err := r.worker("w").Status(t.Context(), true); err != nil || s.State != csd.Idle || s.WaitingFor != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}
