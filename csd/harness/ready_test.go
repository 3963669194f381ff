package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/tmux"
)

// terminal is a tmux session in which a shell script stands for a client.
type terminal struct {
	server  *tmux.Server
	pane    tmux.Pane
	dir     string
	started bool
}

// newTerminal runs a script in a tmux server of its own. The script can wait for the test by `read -r x <gate`.
func newTerminal(t *testing.T, script string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux")
	}
	dir, err := os.MkdirTemp("", "csd") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	m := &terminal{server: &tmux.Server{Socket: filepath.Join(dir, "tmux")}, dir: dir}
	end := watchServer(t, m.server.Socket)
	t.Cleanup(func() {
		end()
		_ = os.RemoveAll(dir)
	})
	if out, err := exec.Command("mkfifo", filepath.Join(dir, "gate")).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v %s", err, out)
	}
	m.pane, err = m.server.New(t.Context(), tmux.NewSession{Name: "w", Dir: dir, Argv: []string{"sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// open lets the script go on.
func (m *terminal) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, "gate"), []byte("go\n"), 0o600); err != nil {
		t.Error(err)
	}
}

func (m *terminal) Pane(ctx context.Context) (tmux.Pane, error) { return m.server.Pane(ctx, "w") }
func (m *terminal) Capture(ctx context.Context) (string, error) {
	return m.server.Capture(ctx, m.pane.Target(), 0)
}

func (m *terminal) History(ctx context.Context, lines int) (string, error) {
	return m.server.Capture(ctx, m.pane.Target(), lines)
}

func (m *terminal) Keys(ctx context.Context, keys ...string) error {
	return m.server.Keys(ctx, m.pane.Target(), keys...)
}

func (m *terminal) Literal(ctx context.Context, text string) error {
	return m.server.Literal(ctx, m.pane.Target(), text)
}
func (m *terminal) Started(context.Context) (bool, error) { return m.started, nil }

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestF18_AClientThatEndsFailsTheStartAtOnce, with how it ended and all that it said.
func TestF18_AClientThatEndsFailsTheStartAtOnce(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	m := newTerminal(t, "echo no such thing; exit 7")
	err := claude{}.Ready(soon(t), Worker{}, m)
	var died *DiedError
	if !errors.As(err, &died) || died.Status != 7 || !strings.Contains(died.Error(), "status 7") || !strings.Contains(died.Error(), "no such thing") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	m = newTerminal(t, "kill -9 $$")
	if err := (pi{}).Ready(soon(t), Worker{}, m); !errors.As(err, &died) || died.Signal != "9" {
		t.Errorf("%v", err)
	}
	m = newTerminal(t, "read -r x <gate")
	if err := m.server.Kill(soon(t), "w"); err != nil {
		t.Fatal(err)
	}
	if err := (codex{}).Ready(soon(t), Worker{}, m); !errors.As(err, &died) || !died.Gone {
		t.Errorf("%v", err)
	}
}

// TestF17_AnUnknownQuestionEndsTheStart, without a key, and shows itself in the error.
func TestF17_AnUnknownQuestionEndsTheStart(t *testing.T) {
	t.Parallel()
	m := newTerminal(t, `printf ' Something new?\n\n ❯ Yes\n   No\n\n Enter to confirm\n'; read -r key; echo "pressed [$key]"; read -r x <gate`)
	m.started = true
	err := claude{}.Ready(soon(t), Worker{}, m)
	var dialog *DialogError
	if !errors.As(err, &dialog) || !strings.Contains(err.Error(), "Something new?") {
		t.Errorf("%v", err)
	}
	if screen, err := m.Capture(soon(t)); err != nil || strings.Contains(screen, "pressed") {
		t.Errorf("a key was pressed: %q, %v", screen, err)
	}
}

const claudeBox = `printf '────────\n❯ \n────────\n  bypass permissions on\n'; read -r x <gate`

// TestF16_ADialogMayShowLate: it is looked for as long as the start takes, and a second one is answered like the first.
func TestF16_ADialogMayShowLate(t *testing.T) {
	t.Parallel()
	menu := func(text, other, want string) string {
		// Down moves the cursor, Enter ends it: as a program reads them, byte by byte.
		return `printf '\033[H\033[2J %s\n ❯ ` + other + `\n   ` + want + `\n' '` + text + `'; stty raw -echo; ` +
			`k=$(dd bs=3 count=1 2>/dev/null | od -An -c | tr -d ' \n'); ` +
			`printf '\033[H\033[2J %s\r\n   ` + other + `\r\n ❯ ` + want + `\r\n' '` + text + `'; ` +
			`l=$(dd bs=1 count=1 2>/dev/null | od -An -c | tr -d ' \n'); stty sane; printf '\033[H\033[2J'; echo "$k $l" >>keys; `
	}
	m := newTerminal(t, "read -r x <gate; "+
		menu("Accessing workspace:", "No, exit", "Yes, I trust this folder")+
		menu("WARNING: Claude Code running in Bypass Permissions mode", "No, exit", "Yes, I accept")+claudeBox)
	m.started = true
	done := make(chan error, 1)
	ctx := soon(t)
	go func() { done <- claude{}.Ready(ctx, Worker{}, m) }()
	m.open(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	keys, err := os.ReadFile(filepath.Join(m.dir, "keys"))
	if err != nil || string(keys) != "033[B \r\n033[B \r\n" {
		t.Errorf("keys %q, %v", keys, err)
	}
}

// TestF33_ABoxWithoutItsEventIsNotReady, nor an event without the box (F64).
func TestF33_ABoxWithoutItsEventIsNotReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script  string
		started bool
	}{{claudeBox, false}, {"echo nothing yet; read -r x <gate", true}} {
		m := newTerminal(t, c.script)
		m.started = c.started
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		var late *NotReadyError
		err := claude{}.Ready(ctx, Worker{}, m)
		if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) || (late.Hint != "") == c.started {
			t.Errorf("%v", err)
		}
		cancel()
	}
}

// TestAConversationAboutDialogsIsNone: a session that is resumed shows what was said in it.
func TestAConversationAboutDialogsIsNone(t *testing.T) {
	t.Parallel()
	m := newTerminal(t, `printf '● Accessing workspace:\n ❯ No, exit\n   Yes, I trust this folder\n Select login method\n ❯ 1. Enter to confirm\n'; `+claudeBox)
	ctx, cancel := context.WithTimeout(t.Context(), settled+3*time.Second)
	defer cancel()
	var late *NotReadyError
	if err := (claude{}).Ready(ctx, Worker{}, m); !errors.As(err, &late) {
		t.Errorf("%v", err)
	}
	m.started = true
	if err := (claude{}).Ready(soon(t), Worker{}, m); err != nil {
		t.Error(err)
	}
}
