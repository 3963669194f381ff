package csd_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/transcript"
)

// prompts are what the client's hooks told of so far.
func (r *rig) prompts(name string) (list []string) {
	r.Helper()
	for _, e := range r.events(name) {
		if e.Name == event.UserPromptSubmit {
			list = append(list, e.Prompt)
		}
	}
	return list
}

func TestF04_F05_LongPrompts(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	for _, size := range []int{17_000, 120_000, csd.MaxPrompt} {
		prompt := "ANSWER got it\n" + strings.Repeat("0123456789abcde\n", size/16)
		prompt = strings.TrimSpace(prompt[:size-1])
		if got := r.converse("w", prompt); got != "got it" {
			t.Errorf("%d bytes: %.100q", size, got)
		}
		turn, err := transcript.Last(transcript.Claude, r.transcript("w"))
		r.must(err)
		if turn.Prompt != prompt {
			t.Errorf("%d bytes arrived as %d", len(prompt), len(turn.Prompt))
		}
	}
	_, err := r.worker("w").Send(t.Context(), strings.Repeat("x", csd.MaxPrompt+1))
	r.fails(err, csd.Failed, "are the most")
	_, err = r.worker("w").Send(t.Context(), " \n\t")
	r.fails(err, csd.Usage, "empty")
}

func (r *rig) transcript(name string) string {
	r.Helper()
	s, err := r.worker(name).Status(r.Context(), false)
	r.must(err)
	return s.Transcript
}

func TestF07_EnterThatIsSwallowed(t *testing.T) {
	r := newRig(t).with("FAKE_SWALLOW", "2")
	r.launch("claude", "w")
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	if got := r.prompts("w"); len(got) != 1 {
		t.Errorf("prompts %q", got)
	}
}

func TestF09_F10_WhatIsInAPrompt(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	for prompt, want := range map[string]string{
		"a\nb\n":                            "a\nb",
		"a\x1b[201~b":                       "ab",
		"a\x1b[20\x1b[201~1~b\x1b[200~":     "ab",
		"tab\there":                         "tab    here",
		"bell\x07 and \x1b[31mred":          "bell and [31mred",
		"'quotes' \"and\" $dollars `x` \\n": "'quotes' \"and\" $dollars `x` \\n",
		"/help is a path to nowhere":        "/help is a path to nowhere",
		"!ls":                               "!ls",
		`a backslash at the end\`:           `a backslash at the end\`,
		"漢字 and ümläut 🙂":                   "漢字 and ümläut 🙂",
	} {
		if got := r.converse("w", prompt); got != "Echo: "+want {
			t.Errorf("%q was answered by %q", prompt, got)
		}
	}
}

// TestF11_SessionUpClientDead: nothing is pasted into a shell, or into a pane that only stands there.
func TestF11_SessionUpClientDead(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	r.must(r.tmux("set-option", "-w", "-t", "=w:", "remain-on-exit", "on").Run())
	r.must(r.tmux("send-keys", "-t", "=w:", "-l", "/exit").Run())
	r.eventually("the end of the client", func() bool {
		_ = r.tmux("send-keys", "-t", "=w:", "Enter").Run() // it may have ended
		return r.state("w") == csd.Gone
	})
	_, err := r.worker("w").Send(t.Context(), "touch made-by-a-shell")
	r.fails(err, csd.Failed, "is gone")

	// A person's shell in the session, and the worker's pane gone.
	r.launch("claude", "v")
	r.must(r.tmux("split-window", "-t", "=v:", "-c", r.work, "/bin/sh").Run())
	r.must(r.tmux("kill-pane", "-a", "-t", "=v:").Run())
	r.eventually("the end of the client", func() bool { return r.state("v") == csd.Gone })
	_, err = r.worker("v").Send(t.Context(), "touch made-by-a-shell")
	r.fails(err, csd.Failed, "is gone")
	if _, err := os.Stat(filepath.Join(r.work, "made-by-a-shell")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a prompt was run as a shell command")
	}
}

// TestF35_QueuedPrompts: a prompt to a busy worker is taken, once, and answered.
func TestF35_F36_QueuedPrompts(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	_, err := r.worker("w").Send(t.Context(), "SLOW 3\nANSWER first")
	r.must(err)
	sent, err := r.worker("w").Send(t.Context(), "ANSWER second")
	r.must(err)
	if !sent.Queued {
		t.Error("a prompt to a busy worker is not called queued")
	}
	if got := r.converse("w", "ANSWER third"); got != "third" {
		t.Errorf("converse with a busy worker gave %q", got)
	}
	if got := r.prompts("w"); len(got) != 3 {
		t.Errorf("prompts %q", got)
	}
}

// TestF36_TheTranscriptIsBehindTheEvents: of a prompt that was sent while a turn ran, the client tells the end before it
// has written that there is such a prompt. That happens also where it only seemed to be busy.
func TestF36_TheTranscriptIsBehindTheEvents(t *testing.T) {
	for what, prompt := range map[string]string{"answer": "ANSWER second", "error": "ERR 429"} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t).with("FAKE_RECORDLAG", "2.5s")
			r.launch("claude", "w")
			sent, err := r.worker("w").Send(t.Context(), "SLOW 1\nANSWER first")
			r.must(err)
			answer, err := r.worker("w").Converse(t.Context(), prompt, csd.ConverseOptions{Timeout: patience})
			if what == "error" {
				r.fails(err, csd.APIError, "rate_limit")
			} else if err != nil || answer.Text != "second" {
				t.Errorf("%q, %v", answer.Text, err)
			}
			if sent.Queued {
				t.Error("the first prompt is called queued")
			}
		})
	}
}

// TestF63_NoSuccessWithoutProof: a client that never takes the prompt is an error, with its screen.
func TestF63_NoSuccessWithoutProof(t *testing.T) {
	for _, kind := range []string{"claude", "codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind).with("FAKE_SWALLOW", "1000", "CSD_SUBMIT_TIMEOUT", "3", "CSD_REGISTER_TIMEOUT", "3")
			r.launch(kind, "w")
			_, err := r.worker("w").Send(t.Context(), "hello there")
			words := "did not take the prompt"
			if kind == "codex" { // which has no session before its first prompt
				words = "told no session id"
			}
			r.fails(err, csd.Failed, words)
			if !strings.Contains(err.Error(), "hello there") {
				t.Errorf("the screen is not in %v", err)
			}
		})
	}
}

// TestF63_SpawnedInQuickSuccession: workers that are started at the same time, slowly, and given a prompt the moment
// they are there. What is called taken has an event by then, and is answered, once.
func TestF63_SpawnedInQuickSuccession(t *testing.T) {
	r := newRig(t).asUser("codex").asUser("pi").with("FAKE_BOOT", "1s", "FAKE_LOSE_PASTE", "1")
	kinds := []string{"claude", "codex", "pi", "claude", "codex"}
	var wg sync.WaitGroup
	errs := make([]error, len(kinds))
	for i, kind := range kinds {
		f, name := r.fleet(), fmt.Sprintf("w%d", i)
		wg.Go(func() {
			if _, errs[i] = f.Launch(t.Context(), csd.LaunchOptions{Name: name, Dir: r.work, Harness: kind}); errs[i] != nil {
				return
			}
			w, err := f.Worker(name)
			if err == nil {
				_, err = w.Send(t.Context(), "hello "+name)
			}
			if errs[i] = err; err != nil {
				return
			}
			if got := r.prompts(name); len(got) != 1 || got[0] != "hello "+name {
				errs[i] = fmt.Errorf("%s %s has taken %q", kind, name, got)
			}
		})
	}
	wg.Wait()
	r.must(errors.Join(errs...))
	for i := range kinds {
		name := fmt.Sprintf("w%d", i)
		if e, err := r.waits(name, 0); err != nil || e.Event.LastAssistantMessage != "Echo: hello "+name {
			t.Errorf("%+v, %v", e.Event, err)
		}
		if got := r.prompts(name); len(got) != 1 {
			t.Errorf("prompts %q", got)
		}
	}
}

// TestF64_APasteThatIsLost: it is given again, once.
func TestF64_APasteThatIsLost(t *testing.T) {
	r := newRig(t).with("FAKE_LOSE_PASTE", "1")
	r.launch("claude", "w")
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	if got := r.prompts("w"); len(got) != 1 {
		t.Errorf("prompts %q", got)
	}
}

// TestSend_LeftoversOfAPersonAreNotMixedIn: what stands half typed in the input box is thrown away, and said.
func TestSend_LeftoversOfAPersonAreNotMixedIn(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	r.must(r.tmux("send-keys", "-t", "=w:", "-l", "half typed ").Run())
	r.eventually("the text in the box", func() bool {
		out, _ := r.tmux("capture-pane", "-p", "-t", "=w:").Output()
		return strings.Contains(string(out), "half typed")
	})
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(r.notes.String(), "thrown away") {
		t.Errorf("notes: %s", r.notes)
	}
}

// TestSend_TwoControllersDoNotMixTheirTexts: prompts that are sent at the same time arrive whole, each once.
func TestSend_TwoControllersDoNotMixTheirTexts(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		w := r.worker("w")
		wg.Go(func() {
			_, errs[i] = w.Send(t.Context(), fmt.Sprintf("ANSWER %d\n%s", i, strings.Repeat(fmt.Sprint(i), 500)))
		})
	}
	wg.Wait()
	r.must(errors.Join(errs...))
	seen := map[string]bool{}
	for _, p := range r.prompts("w") {
		seen[p] = true
	}
	for i := range errs {
		if want := fmt.Sprintf("ANSWER %d\n%s", i, strings.Repeat(fmt.Sprint(i), 500)); !seen[want] {
			t.Errorf("prompt %d is not among %v", i, seen)
		}
	}
	if len(seen) != len(errs) {
		t.Errorf("%d prompts arrived as %d", len(errs), len(seen))
	}
}
