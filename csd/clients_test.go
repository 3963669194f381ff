package csd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
)

// asUser is what the user of a client has before csd comes: a login.
func (r *rig) asUser(kind string) *rig {
	r.Helper()
	switch kind {
	case "codex":
		r.writeJSON(r.home+"/.codex/auth.json", map[string]any{"auth_mode": "apikey", "OPENAI_API_KEY": "fake"})
	case "pi":
		r.writeJSON(r.home+"/.pi/agent/auth.json", map[string]any{"stub": map[string]any{"type": "api_key", "key": "fake"}})
	}
	return r
}

// TestEachHarness: the surface is the same for every client.
func TestEachHarness(t *testing.T) {
	for _, kind := range []string{"claude", "codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			r.launch(kind, "w")
			if got := r.converse("w", "REMEMBER blue"); got == "" {
				t.Error("no answer")
			}
			if got := r.converse("w", "RECALL"); got != "Recalled: blue" {
				t.Errorf("%q", got)
			}
			if got := r.converse("w", "TOOL echo out\nANSWER done"); got != "done" {
				t.Errorf("%q", got)
			}
			var turn strings.Builder
			r.must(r.worker("w").ReadTurn(&turn, false))
			if !strings.Contains(turn.String(), "**Tool: Bash**") || !strings.Contains(turn.String(), "out") {
				t.Errorf("%s", turn.String())
			}
			_, err := r.worker("w").Converse(t.Context(), "ERR 400", csd.ConverseOptions{Timeout: patience})
			r.fails(err, csd.APIError, "400")
			if got := r.converse("w", "/not a command"); !strings.Contains(got, "/not a command") {
				t.Errorf("%q", got)
			}
			id, err := r.worker("w").SessionID()
			r.must(err)
			done, err := r.worker("w").Stop(t.Context(), csd.StopOptions{Keep: true})
			if err != nil || !done.Was || !done.Asked {
				t.Errorf("%+v, %v", done, err)
			}
			_, err = r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w", Dir: r.work, Harness: kind}, SessionID: id})
			r.must(err)
			if got := r.converse("w", "RECALL"); got != "Recalled: blue" {
				t.Errorf("%q", got)
			}
			if now, err := r.worker("w").SessionID(); err != nil || now != id {
				t.Errorf("session %s, was %s; %v", now, id, err)
			}
			_, err = r.worker("w").Stop(t.Context(), csd.StopOptions{})
			r.must(err)
			if files := r.files(); len(files) != 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// TestF40_InterruptedTurnsOfEachHarness: a wait ends, with an event that says so.
func TestF40_InterruptedTurnsOfEachHarness(t *testing.T) {
	for _, kind := range []string{"codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			r.launch(kind, "w")
			_, err := r.worker("w").Send(t.Context(), "HANG")
			r.must(err)
			r.must(r.tmux("send-keys", "-t", "=w:", "Escape").Run())
			ended, err := r.waits("w", 0)
			if err != nil || !ended.Event.Interrupted || ended.Event.Name != event.Stop {
				t.Errorf("%+v, %v", ended.Event, err)
			}
			if got := r.converse("w", "hello"); got != "Echo: hello" {
				t.Errorf("%q", got)
			}
			if n := r.count("w", event.Stop); n != 2 {
				t.Errorf("%d stops", n)
			}
		})
	}
}

// TestF61_AnUnregisteredWorker: it cannot be asked before its first prompt, but handed off, listed and stopped.
func TestF61_AnUnregisteredWorker(t *testing.T) {
	r := newRig(t).asUser("codex")
	r.launch("codex", "w")
	_, err := r.worker("w").Status(t.Context(), false)
	r.fails(err, csd.Failed, "no worker known as 'w'")
	_, err = r.worker("w").SessionID()
	r.fails(err, csd.Failed, "no worker known as 'w'")
	_, err = r.worker("w").WaitForTurn(t.Context(), csd.WaitOptions{Timeout: patience, AfterLine: -1})
	r.fails(err, csd.Failed, "no worker known as 'w'")
	list, err := r.fleet().List(t.Context(), csd.ListOptions{})
	if err != nil || len(list) != 1 || list[0].Registered {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := r.worker("w").Handoff(t.Context()); err != nil {
		t.Error(err)
	}
	if names, _, err := r.fleet().Prune(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("prune took %v, %v", names, err)
	}
	done, err := r.worker("w").Stop(t.Context(), csd.StopOptions{})
	if err != nil || !done.Was {
		t.Errorf("%+v, %v", done, err)
	}
	if files, sessions := r.files(), r.sessions(); len(files)+len(sessions) != 0 {
		t.Errorf("left behind: %v %v", files, sessions)
	}
}

// TestF64_TheFirstPasteIsLost of a client that says nothing of itself before its first prompt.
func TestF64_TheFirstPasteIsLost(t *testing.T) {
	r := newRig(t).asUser("codex").with("FAKE_LOSE_PASTE", "1")
	r.launch("codex", "w")
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	if got := r.prompts("w"); len(got) != 1 {
		t.Errorf("prompts %q", got)
	}
}

// TestSend_APromptThatPiWouldLoseIsRefused: it sleeps before it asks the model again.
func TestSend_APromptThatPiWouldLoseIsRefused(t *testing.T) {
	r := newRig(t).asUser("pi")
	r.launch("pi", "w")
	_, err := r.worker("w").Send(t.Context(), "FLAKY 2")
	r.must(err)
	var lost error
	for end := time.Now().Add(patience); lost == nil && time.Now().Before(end) && r.count("w", event.Stop) == 0; {
		if s, err := r.worker("w").Status(t.Context(), false); err == nil && s.State == csd.Working {
			if _, err := r.worker("w").Send(t.Context(), "hello"); csd.KindOf(err) == csd.Failed && err != nil {
				lost = err
			}
		}
	}
	r.fails(lost, csd.Failed, "would lose the prompt")
	ended, err := r.waits("w", 0)
	if err != nil || ended.Event.Error != nil || ended.Event.LastAssistantMessage == "" {
		t.Errorf("%+v, %v", ended.Event, err)
	}
}

// TestF60_CodexAsksWhetherToTrustHooks, where the switch that forbids the question is not known to it: the launch trusts
// csd's own, and the events come.
func TestF60_CodexAsksWhetherToTrustHooks(t *testing.T) {
	r := newRig(t).asUser("codex")
	program := filepath.Join(r.dir, "codex")
	r.must(os.WriteFile(program, []byte(`#!/bin/sh
for a; do shift; [ "$a" = --dangerously-bypass-hook-trust ] || set -- "$@" "$a"; done
exec "`+filepath.Join(r.dir, "bin", "codex")+`" "$@"
`), 0o700))
	r.with("CSD_CODEX_BIN", program)
	r.launch("codex", "w")
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}
