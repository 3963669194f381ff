package csd_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/transcript"
)

// quits has a person end the client, until done says that it has been noticed.
func quits[T any](r *rig, name, word string, done <-chan T) (got T) {
	r.Helper()
	for end := time.Now().Add(patience); ; {
		_ = r.tmux("send-keys", "-t", "="+name+":", "C-u", word, "Enter").Run() // it may have ended
		select {
		case got = <-done:
			return got
		case <-time.After(time.Second):
			if time.Now().After(end) {
				r.Fatal("nobody noticed")
			}
		}
	}
}

// TestF44_OnlySessionEnd: a client that quits by itself ends the wait with that event, which is no failure of a wait.
func TestF44_OnlySessionEnd(t *testing.T) {
	for kind, word := range map[string]string{"claude": "/exit", "pi": "/quit"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			r.launch(kind, "w")
			w := r.worker("w")
			type result struct {
				csd.Ended
				err error
			}
			done := make(chan result, 1)
			go func() {
				e, err := w.WaitForTurn(t.Context(), csd.WaitOptions{Timeout: patience, AfterLine: -1})
				done <- result{e, err}
			}()
			got := quits(r, "w", word, done)
			if got.err != nil || got.Event.Name != event.SessionEnd {
				t.Errorf("%+v", got)
			}
			if e, err := r.waits("w", 0); err != nil || e.Event.Name != event.SessionEnd { // a later wait finds it too
				t.Errorf("%+v, %v", e, err)
			}
			r.eventually("the end", func() bool { return r.state("w") == csd.Gone })
		})
	}
}

// answer is what a conversation came to.
type answer struct {
	text string
	err  error
}

func (r *rig) conversation(name, prompt string) <-chan answer {
	w, done := r.worker(name), make(chan answer, 1)
	go func() {
		a, err := w.Converse(r.Context(), prompt, csd.ConverseOptions{Timeout: patience})
		done <- answer{a.Text, err}
	}()
	return done
}

// TestF44_ConverseWithAClientThatQuits: the reply if it is there, and else what happened: that the session ended, not
// that somebody interrupted a turn.
func TestF44_ConverseWithAClientThatQuits(t *testing.T) {
	t.Run("a reply is there", func(t *testing.T) {
		r := newRig(t).with("RIG_NO_STOP", "1")
		r.launch("claude", "w")
		done := r.conversation("w", "SAY wait\nTOOL echo x\nANSWER the reply")
		r.eventually("the reply", func() bool {
			turn, err := transcript.Last(transcript.Claude, r.transcript("w"))
			return err == nil && turn.Complete()
		})
		if got := quits(r, "w", "/exit", done); got.err != nil || got.text != "the reply" {
			t.Errorf("%+v", got)
		}
		if n := r.count("w", event.Stop); n != 0 {
			t.Errorf("%d stops: the session_end was not all", n)
		}
	})
	for kind, word := range map[string]string{"claude": "/exit", "pi": "/quit", "codex": "/quit"} {
		t.Run("no reply of "+kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			r.launch(kind, "w")
			done := r.conversation("w", "SAY well\nTOOL sleep 50")
			r.eventually("the tool", func() bool {
				_, err := r.worker("w").SessionID() // one of codex has none at first
				return err == nil && r.count("w", event.PreToolUse) > 0
			})
			got := quits(r, "w", word, done)
			if csd.KindOf(got.err) != csd.Failed || got.err == nil || strings.Contains(got.err.Error(), "interrupted") {
				t.Errorf("%+v", got)
			}
			var ours *csd.Error
			if !errors.As(got.err, &ours) || !strings.Contains(ours.Hint, "csd adopt ") {
				t.Errorf("%v does not say how to go on", got.err)
			}
		})
	}
}
