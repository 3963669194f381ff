package tmux_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/tmux"
)

// server is a tmux server of the test's own, which ends with it. The path of its socket must be short.
func server(t testing.TB, conf string) *tmux.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "csdtmux")
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".tmux.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &tmux.Server{
		Socket: filepath.Join(dir, "s"),
		Env:    []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMUX=/nowhere/else,1,0", "LC_ALL=C", "SHELL=/bin/sh"},
	}
	t.Cleanup(func() {
		_ = raw(s, "kill-server").Run() // it fails where no server was started
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

// raw is a tmux command as a person would give it.
func raw(s *tmux.Server, args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.Socket}, args...)...)
	cmd.Env = s.Env
	return cmd
}

func person(t testing.TB, s *tmux.Server, args ...string) string {
	t.Helper()
	out, err := raw(s, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// sleeper is a session whose process does nothing.
func sleeper(t testing.TB, s *tmux.Server, name string) tmux.Pane {
	t.Helper()
	p, err := s.New(t.Context(), tmux.NewSession{Name: name, Dir: "/", Argv: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// eventually waits for something that no event tells of: what stands on a screen.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestF12_NoServerIsAFact(t *testing.T) {
	s := server(t, "")
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 0 {
		t.Errorf("Panes without a server: %v, %v", panes, err)
	}
	if _, err := s.Pane(t.Context(), "api"); !errors.Is(err, tmux.ErrNoSession) {
		t.Errorf("Pane without a server: %v", err)
	}
	if err := s.Kill(t.Context(), "api"); !errors.Is(err, tmux.ErrNoSession) {
		t.Errorf("Kill without a server: %v", err)
	}
	sleeper(t, s, "api")
	person(t, s, "kill-server")
	eventually(t, "the end of the server", func() bool {
		panes, err = s.Panes(t.Context())
		return err == nil && len(panes) == 0
	})
}

func TestF12_TmuxThatCannotBeAskedIsNoFact(t *testing.T) {
	dir, err := os.MkdirTemp("", "csdtmux")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	mute, rude := filepath.Join(dir, "mute"), filepath.Join(dir, "rude")
	listen := func(path string, serve func(net.Conn)) {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		t.Cleanup(func() { l.Close(); <-done })
		go func() {
			defer close(done)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close() // a mute one stays open until the test ends
				serve(c)
			}
		}()
	}
	listen(mute, func(net.Conn) {})
	listen(rude, func(c net.Conn) { _, _ = c.Write([]byte("go away\n")); _ = c.Close() })
	notTmux := filepath.Join(dir, "tmux")
	if err := os.WriteFile(notTmux, []byte("#!/bin/sh\nkill -9 $$\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*tmux.Server{
		"no tmux on PATH":         {Bin: filepath.Join(dir, "nowhere"), Socket: filepath.Join(dir, "s")},
		"a tmux that is ended":    {Bin: notTmux, Socket: filepath.Join(dir, "s")},
		"a mute socket":           {Socket: mute},
		"a rude socket":           {Socket: rude},
		"a path too long":         {Socket: filepath.Join(dir, strings.Repeat("x", 200))},
		"a folder that is a file": {Socket: filepath.Join(notTmux, "s")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			panes, err := s.Panes(ctx)
			var unreachable *tmux.UnreachableError
			if !errors.As(err, &unreachable) {
				t.Fatalf("Panes: %v, %v", panes, err)
			}
			if _, err := s.Pane(ctx, "api"); !errors.As(err, &unreachable) || errors.Is(err, tmux.ErrNoSession) {
				t.Errorf("Pane: %v", err)
			}
			if err := s.Kill(ctx, "api"); !errors.As(err, &unreachable) || errors.Is(err, tmux.ErrNoSession) {
				t.Errorf("Kill: %v", err)
			}
		})
	}
}

func TestF12_ForbiddenSocketIsNoFact(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	s := server(t, "")
	sleeper(t, s, "api")
	other := &tmux.Server{Bin: "setpriv", Socket: s.Socket, Env: s.Env}
	// setpriv takes tmux's own options behind its own.
	script := filepath.Join(filepath.Dir(s.Socket), "tmux-as-nobody")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec setpriv --reuid 65534 --clear-groups tmux \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	other.Bin = script
	panes, err := other.Panes(t.Context())
	var unreachable *tmux.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(unreachable.Words, "denied") {
		t.Errorf("Panes of somebody else's server: %v, %v", panes, err)
	}
}

func TestSocketPathIsWhereTheServerIsFoundAgain(t *testing.T) {
	s := server(t, "")
	dir := filepath.Dir(s.Socket)
	byDefault := &tmux.Server{Env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + dir}}
	t.Cleanup(func() {
		cmd := exec.Command("tmux", "kill-server")
		cmd.Env = byDefault.Env
		_ = cmd.Run()
	})
	sleeper(t, byDefault, "api")
	path, err := byDefault.SocketPath(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p, err := (&tmux.Server{Socket: path}).Pane(t.Context(), "api"); err != nil {
		t.Errorf("Pane at %s: %+v, %v", path, p, err)
	}
	inTmux := &tmux.Server{Env: []string{"PATH=" + os.Getenv("PATH"), "TMUX=" + path + ",1,0"}}
	if again, err := inTmux.SocketPath(t.Context()); err != nil || again != path {
		t.Errorf("SocketPath inside tmux: %q, %v; want %q", again, err, path)
	}
	if given, err := s.SocketPath(t.Context()); err != nil || given != s.Socket {
		t.Errorf("SocketPath of a given one: %q, %v", given, err)
	}
}
