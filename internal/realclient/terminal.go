package realclient

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Terminal is one program in a tmux server of its own. The window stays when the program has ended, so that its last
// words can be read.
type Terminal struct {
	// PID is the program's.
	PID  int
	sock string
	env  []string
}

// tmuxTimeout bounds one tmux command: it answers in milliseconds unless the machine is in trouble.
const tmuxTimeout = 20 * time.Second

// NewTerminal starts a program in h.Work, with env as its whole environment but for what tmux adds. The server and
// what runs in it end with the test; a test that fails shows the screen.
func NewTerminal(t testing.TB, n *Network, h *Home, env []string, argv ...string) *Terminal {
	t.Helper()
	term := &Terminal{sock: filepath.Join(h.Dir, "tmux"), env: env}
	// env(1) makes it more than one word: a single one would go to a shell.
	argv = append([]string{"env"}, argv...)
	args := []string{
		"-S", term.sock, "-f", "/dev/null", "start-server", ";",
		"set-option", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-s", "main", "-x", "160", "-y", "50", "-c", h.Work, "--",
	}
	cmd := exec.Command("tmux", append(args, argv...)...)
	cmd.Env, cmd.Dir = env, h.Work
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := n.Start(cmd); err != nil {
		t.Fatalf("start tmux: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("start %s in tmux: %v: %s", argv[1], err, said.String())
	}
	end, err := term.watch()
	if err != nil {
		_, _ = term.tmux(nil, "kill-server") // the first error says more
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", term.Screen())
		}
		end()
	})
	var pid string
	pid, err = term.tmux(nil, "list-panes", "-t", "main", "-F", "#{pane_pid}")
	if err == nil {
		term.PID, err = strconv.Atoi(strings.TrimSpace(pid))
	}
	if err != nil {
		t.Fatalf("ask tmux for the pid of its program: %v", err)
	}
	return term
}

// watch starts a process that ends the server when end is called, or when this process is gone: a test that runs into
// its timeout is killed without its cleanups.
func (m *Terminal) watch() (end func(), err error) {
	cmd := exec.Command("sh", "-c", `cat >/dev/null; exec tmux -S "$0" kill-server 2>/dev/null`, m.sock)
	cmd.Env, cmd.SysProcAttr = m.env, &syscall.SysProcAttr{Setpgid: true} // no Ctrl-C for it
	hold, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("watch over tmux: %w", err)
	}
	return func() {
		_ = hold.Close() // the pipe ends with us at the latest
		_ = cmd.Wait()   // it fails where the server has ended before
	}, nil
}

// tmux runs one command against the server.
func (m *Terminal) tmux(stdin []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), tmuxTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", m.sock}, args...)...)
	cmd.Env, cmd.Stdin = m.env, bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// Screen is the text that stands in the window, without its empty lines.
func (m *Terminal) Screen() string {
	text, err := m.tmux(nil, "capture-pane", "-p", "-t", "main")
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Paste puts text into the program by a bracketed paste.
func (m *Terminal) Paste(text string) error {
	if _, err := m.tmux([]byte(text), "load-buffer", "-b", "paste", "-"); err != nil {
		return err
	}
	_, err := m.tmux(nil, "paste-buffer", "-p", "-r", "-d", "-b", "paste", "-t", "main")
	return err
}

// Type sends text as typed keys.
func (m *Terminal) Type(text string) error {
	_, err := m.tmux(nil, "send-keys", "-t", "main", "-l", "--", text)
	return err
}

// Keys sends keys by name: Enter, Escape, C-c.
func (m *Terminal) Keys(names ...string) error {
	_, err := m.tmux(nil, append([]string{"send-keys", "-t", "main"}, names...)...)
	return err
}

// submit pastes text and submits it.
func (m *Terminal) submit(text string) error {
	if err := m.Paste(text); err != nil {
		return err
	}
	return m.Keys("Enter")
}

// quit types a command that ends the program, and returns when it has ended. What the program asks on its way out is
// answered with its default.
//
// A client may take fast keys for a paste, and an Enter right behind them for a part of it: so Enter comes when the
// command stands on the screen, and again while the program lives. An Enter too many does nothing.
func (m *Terminal) quit(ctx context.Context, command string) error {
	if err := m.Type(command); err != nil {
		return err
	}
	if err := m.WaitScreen(ctx, command); err != nil {
		return err
	}
	var pressed time.Time
	return eventually(ctx, "the end of the program", func() (bool, error) {
		if dead, err := m.Dead(); dead || err != nil {
			return dead, err
		}
		if time.Since(pressed) < 2*time.Second {
			return false, nil
		}
		pressed = time.Now()
		return false, m.Keys("Enter")
	})
}

// Dead reports whether the program has ended.
func (m *Terminal) Dead() (bool, error) {
	out, err := m.tmux(nil, "list-panes", "-t", "main", "-F", "#{pane_dead}")
	return strings.TrimSpace(out) == "1", err
}

// WaitScreen waits until text stands on the screen.
func (m *Terminal) WaitScreen(ctx context.Context, text string) error {
	return eventually(ctx, fmt.Sprintf("%q on the screen", text), func() (bool, error) {
		return strings.Contains(m.Screen(), text), nil
	})
}
