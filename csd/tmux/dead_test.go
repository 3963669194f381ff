package tmux_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd/tmux"
)

func TestF11_DeadPaneIsSeen(t *testing.T) {
	s := server(t, "")
	ctx := t.Context()
	dead := func(name, script string) tmux.Pane {
		if _, err := s.New(ctx, tmux.NewSession{Name: name, Dir: "/", Argv: []string{"sh", "-c", script}}); err != nil {
			t.Fatal(err)
		}
		var p tmux.Pane
		eventually(t, "the end of "+script, func() (ok bool) {
			var err error
			if p, err = s.Pane(ctx, name); err != nil {
				t.Fatal(err)
			}
			return p.Dead
		})
		return p
	}
	if p := dead("failed", "exit 3"); p.Status != 3 || p.Signal != "" || p.PID == 0 {
		t.Errorf("after exit 3: %+v", p)
	}
	if p := dead("killed", "kill -9 $$"); p.Signal != "9" || p.Status != -1 {
		t.Errorf("after kill -9: %+v", p)
	}
	p := dead("fine", "exit 0")
	if p.Status != 0 || p.Signal != "" {
		t.Errorf("after exit 0: %+v", p)
	}
	if err := s.Paste(ctx, p.Target(), []byte("touch /nowhere")); !errors.Is(err, tmux.ErrDead) {
		t.Errorf("Paste into a dead pane: %v", err)
	}
	if err := s.Keys(ctx, p.Target(), "Enter"); !errors.Is(err, tmux.ErrDead) {
		t.Errorf("Keys for a dead pane: %v", err)
	}
	if buffers := person(t, s, "list-buffers"); buffers != "" {
		t.Errorf("left behind: %s", buffers)
	}
	again, err := s.Respawn(ctx, p.Target(), "/", []string{"sleep", "1000"})
	if err != nil || again.ID != p.ID || again.PID == p.PID || again.Dead {
		t.Errorf("Respawn: %+v, %v", again, err)
	}
	if err := s.RemainOnExit(ctx, p.Target(), false); err != nil {
		t.Fatal(err)
	}
	person(t, s, "respawn-pane", "-k", "-t", p.ID, "true")
	eventually(t, "the end of a session that does not remain", func() bool {
		_, err := s.Pane(ctx, "fine")
		return errors.Is(err, tmux.ErrNoSession)
	})
}

// TestF11_LastWords reads a line that tmux scrolls out of the screen of a dead pane.
func TestF11_LastWords(t *testing.T) {
	s := server(t, "")
	p, err := s.New(t.Context(), tmux.NewSession{Name: "api", Dir: "/", Argv: []string{"sh", "-c", "echo last words; read x; exit 3"}})
	if err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		text, err := s.Capture(t.Context(), p.Target(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(text, "last words")
	}
	eventually(t, "the words", has) // tmux may not read those of a program that ends at once
	if err := s.Keys(t.Context(), p.Target(), "Enter"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end", func() bool {
		p, err = s.Pane(t.Context(), "api")
		if err != nil {
			t.Fatal(err)
		}
		return p.Dead
	})
	if !has() {
		t.Error("its last words are lost")
	}
}

// TestF11_StatusThatTmuxMissed ends programs that close their terminal some moments before they end, when a tmux with
// libutempter does not hear of it.
func TestF11_StatusThatTmuxMissed(t *testing.T) {
	s := server(t, "set -g default-shell /bin/false\n")
	ctx := t.Context()
	for i := range 10 {
		name := fmt.Sprintf("w%d", i)
		script := fmt.Sprintf("trap '' HUP; exec </dev/null >/dev/null 2>&1; sleep 0.00%d; exit 7", i)
		if _, err := s.New(ctx, tmux.NewSession{Name: name, Dir: "/", Argv: []string{"sh", "-c", script}}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the end of "+script, func() bool {
			p, err := s.Pane(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			return p.Dead && p.Status == 7
		})
	}
}
