package tmux_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessevents/sessevents/csd/tmux"
)

func TestF01_ExactNames(t *testing.T) {
	s := server(t, "")
	ctx := t.Context()
	sleeper(t, s, "api-2")
	api := tmux.Target{Session: "api"}
	_, paneErr := s.Pane(ctx, "api")
	_, captureErr := s.Capture(ctx, api, 0)
	_, respawnErr := s.Respawn(ctx, api, "/", []string{"sleep", "1"})
	for call, err := range map[string]error{
		"Pane": paneErr, "Capture": captureErr, "Respawn": respawnErr, "Kill": s.Kill(ctx, "api"),
		"Paste": s.Paste(ctx, api, []byte("x")), "Keys": s.Keys(ctx, api, "Enter"), "Literal": s.Literal(ctx, api, "x"),
		"RemainOnExit": s.RemainOnExit(ctx, api, true),
	} {
		if !errors.Is(err, tmux.ErrNoSession) {
			t.Errorf("%s of api, where only api-2 lives: %v", call, err)
		}
	}
	p, err := s.Pane(ctx, "api-2")
	if err != nil || p.Dead {
		t.Errorf("api-2 afterwards: %+v, %v", p, err)
	}
	if buffers := person(t, s, "list-buffers"); buffers != "" {
		t.Errorf("left behind: %s", buffers)
	}
}

func TestF01_PaneOfAnotherSession(t *testing.T) {
	s := server(t, "")
	ctx := t.Context()
	api, other := sleeper(t, s, "api"), sleeper(t, s, "other")
	stale := tmux.Target{Session: "api", Pane: other.ID}
	if err := s.Paste(ctx, stale, []byte("x")); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("Paste: %v", err)
	}
	if err := s.Keys(ctx, stale, "Enter"); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("Keys: %v", err)
	}
	if err := s.Keys(ctx, api.Target(), "Enter"); err != nil {
		t.Errorf("Keys for its own pane: %v", err)
	}
}

func TestF02_F03_NamesThatTmuxWouldChange(t *testing.T) {
	s := server(t, "")
	for _, name := range []string{"", "a.b", "a:b", "a/b", "../a", "-a", "a b", "a'b", `a"b`, "$(id)", "#{pid}", "=a", "{last}", "@1", "%1", "$1", "ä", "a\nb", strings.Repeat("a", 129)} {
		_, err := s.New(t.Context(), tmux.NewSession{Name: name, Dir: "/", Argv: []string{"sleep", "1000"}})
		var bad *tmux.NameError
		if !errors.As(err, &bad) {
			t.Errorf("New %q: %v", name, err)
		}
		if err := s.Kill(t.Context(), name); !errors.As(err, &bad) {
			t.Errorf("Kill %q: %v", name, err)
		}
	}
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 0 {
		t.Errorf("made all the same: %v, %v", panes, err)
	}
}

func TestF04_LongArgvIsRefusedInTmuxsWords(t *testing.T) {
	s := server(t, "")
	_, err := s.New(t.Context(), tmux.NewSession{Name: "api", Dir: "/", Argv: []string{"sleep", strings.Repeat("1", 17_000)}})
	if err == nil || !strings.Contains(err.Error(), "command too long") {
		t.Errorf("New with 17,000 bytes of arguments: %v", err)
	}
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 0 {
		t.Errorf("made all the same: %v, %v", panes, err)
	}
}

// TestArgvReachesTheProgram has words that a shell, or tmux's own parser, would take for more than words.
func TestArgvReachesTheProgram(t *testing.T) {
	s := server(t, "set -g default-command 'echo not me'\nset -g default-shell /bin/false\n")
	dir := t.TempDir()
	argv := []string{"a b", "c;", ";", `d\;`, "$HOME", "$(id)", "#{pid}", "'", `"`, "", "{", "}", "-t", "ü漢"}
	script := filepath.Join(dir, "show it;")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$0.args\"\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.New(t.Context(), tmux.NewSession{Name: "many", Dir: dir, Argv: append([]string{script}, argv...)}); err != nil {
		t.Fatal(err)
	}
	want := strings.Join(argv, "\n") + "\n"
	var got []byte
	eventually(t, "the arguments", func() bool {
		got, _ = os.ReadFile(script + ".args")
		return len(got) == len(want)
	})
	if string(got) != want {
		t.Errorf("the arguments came as\n%s", got)
	}
	if err := os.Remove(script + ".args"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.New(t.Context(), tmux.NewSession{Name: "one", Dir: dir, Argv: []string{script}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a program without arguments", func() bool {
		got, err := os.ReadFile(script + ".args")
		return err == nil && string(got) == "\n"
	})
}

func TestDirIsTakenAsItIs(t *testing.T) {
	s := server(t, "")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a b", "x#y", "#[x", "##[x", "#{pid}", "#(touch ran)", "##", "%H", "a;", "ü漢", "#,#}"} {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		session := string(rune('a' + i))
		argv := []string{"sh", "-c", `pwd >.where; mv .where where; exec sleep 1000`}
		p, err := s.New(t.Context(), tmux.NewSession{Name: session, Dir: dir, Argv: argv})
		if err != nil {
			t.Errorf("New in %q: %v", name, err)
			continue
		}
		check := func() {
			var got []byte
			eventually(t, "the directory of "+name, func() bool {
				got, err = os.ReadFile(filepath.Join(dir, "where"))
				return err == nil
			})
			if strings.TrimSpace(string(got)) != dir {
				t.Errorf("started in %s, want %s", got, dir)
			}
		}
		check()
		if err := os.Remove(filepath.Join(dir, "where")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Respawn(t.Context(), p.Target(), dir, argv); err != nil {
			t.Errorf("Respawn in %q: %v", name, err)
			continue
		}
		check()
	}
}

// TestNewBehindTheLastSession starts one while the server ends with the one before.
func TestNewBehindTheLastSession(t *testing.T) {
	s := server(t, "")
	for range 20 {
		sleeper(t, s, "api")
		if err := s.Kill(t.Context(), "api"); err != nil {
			t.Fatal(err)
		}
	}
}

// hostile is what a user may have set, for his own sessions, that would break a worker's.
const hostile = `set -g base-index 1
setw -g pane-base-index 1
setw -g remain-on-exit on
set -g default-command 'exec sleep 5'
set -g default-shell /bin/false
set -g set-titles on
set -g set-titles-string '#{session_name}:x'
set -g destroy-unattached on
set -g renumber-windows on
setw -g automatic-rename on
setw -g synchronize-panes on
setw -g mode-keys vi
set -g prefix C-a
set -g mouse on
set -g history-limit 10
set -g default-size 10x5
set -g window-size smallest
set -g status 5
set -g detach-on-destroy off
set -g no-such-option on
bind -n Enter kill-server
bind -n C-u kill-server
set-hook -g after-new-session 'split-window -h "sleep 1000" ; rename-window x:y.z'
`

func TestF14_HostileConfig(t *testing.T) {
	s := server(t, hostile)
	ctx := t.Context()
	out := filepath.Join(t.TempDir(), "typed")
	p, err := s.New(ctx, tmux.NewSession{Name: "api", Dir: "/", Argv: []string{"sh", "-c", `stty -echo; echo ready; cat >"$0"`, out}})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := s.Pane(ctx, "api"); err != nil || same.ID != p.ID {
		t.Fatalf("New made %+v, and Pane finds %+v, %v", p, same, err)
	}
	eventually(t, "the program", func() bool {
		text, err := s.Capture(ctx, p.Target(), 0)
		return err == nil && strings.Contains(text, "ready")
	})
	if err := s.Paste(ctx, p.Target(), []byte("pasted ")); err != nil {
		t.Error(err)
	}
	if err := s.Literal(ctx, p.Target(), "typed;"); err != nil {
		t.Error(err)
	}
	if err := s.Keys(ctx, p.Target(), "Enter", "C-d"); err != nil {
		t.Error(err)
	}
	eventually(t, "the end of the program", func() bool {
		p, err := s.Pane(ctx, "api")
		if err != nil {
			t.Fatal(err)
		}
		return p.Dead
	})
	if got, err := os.ReadFile(out); err != nil || string(got) != "pasted typed;\n" {
		t.Errorf("it read %q, %v", got, err)
	}
	if _, err := s.Respawn(ctx, p.Target(), "/", []string{"cat"}); err != nil {
		t.Fatal(err)
	}
	if err := s.RemainOnExit(ctx, p.Target(), false); err != nil {
		t.Fatal(err)
	}
	if err := s.Keys(ctx, p.Target(), "C-d"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the pane, whose neighbour keeps the session", func() bool {
		_, err := s.Pane(ctx, "api")
		return errors.Is(err, tmux.ErrNoPane)
	})
	if err := s.Kill(ctx, "api"); err != nil {
		t.Error(err)
	}
}

func TestF14_PersonSplitsAndScrolls(t *testing.T) {
	s := server(t, "")
	ctx := t.Context()
	out := filepath.Join(t.TempDir(), "typed")
	p, err := s.New(ctx, tmux.NewSession{Name: "api", Dir: "/", Argv: []string{"sh", "-c", `cat >"$0"`, out}})
	if err != nil {
		t.Fatal(err)
	}
	person(t, s, "split-window", "-t", "=api:", "sleep 1000")
	person(t, s, "new-window", "-t", "=api:", "sleep 1000")
	person(t, s, "copy-mode", "-t", p.ID)
	found, err := s.Pane(ctx, "api")
	if err != nil || found.ID != p.ID || found.Active {
		t.Fatalf("New made %+v, and Pane finds %+v, %v", p, found, err)
	}
	if err := s.Literal(ctx, found.Target(), "hello"); err != nil {
		t.Fatal(err)
	}
	if err := s.Keys(ctx, found.Target(), "Enter"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the line", func() bool {
		got, err := os.ReadFile(out)
		return err == nil && string(got) == "hello\n"
	})
	person(t, s, "kill-pane", "-t", p.ID)
	if other, err := s.Pane(ctx, "api"); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("with our pane gone, Pane finds %+v, %v", other, err)
	}
	if err := s.Paste(ctx, p.Target(), []byte("x")); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("Paste into a pane that is gone: %v", err)
	}
	if err := s.Kill(ctx, "api"); err != nil {
		t.Error(err)
	}
}

func TestF19_NewSessionFails(t *testing.T) {
	s := server(t, "")
	if _, err := s.New(t.Context(), tmux.NewSession{Name: "api", Dir: "/", Argv: []string{"sleep", "1000"}, Env: []string{"A=b", "C=d;"}}); err != nil {
		t.Fatal(err)
	}
	_, err := s.New(t.Context(), tmux.NewSession{Name: "api", Dir: "/", Argv: []string{"sleep", "1000"}})
	if !errors.Is(err, tmux.ErrExists) || !strings.Contains(err.Error(), "duplicate session: api") {
		t.Errorf("New of a name that is taken: %v", err)
	}
	if env := person(t, s, "show-environment", "-t", "=api:"); !strings.Contains(env, "A=b\n") || !strings.Contains(env, "C=d;") {
		t.Errorf("its environment: %s", env)
	}
}

func TestF21_TwoNewAtOnce(t *testing.T) {
	s := server(t, "")
	const n = 8
	panes, errs := make([]tmux.Pane, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			panes[i], errs[i] = s.New(t.Context(), tmux.NewSession{Name: "api", Dir: "/", Argv: []string{"sleep", "1000"}})
		})
	}
	wg.Wait()
	var won []tmux.Pane
	for i, err := range errs {
		switch {
		case err == nil:
			won = append(won, panes[i])
		case !errors.Is(err, tmux.ErrExists):
			t.Errorf("a loser: %v", err)
		}
	}
	if len(won) != 1 {
		t.Fatalf("%d of %d made the session", len(won), n)
	}
	if p, err := s.Pane(t.Context(), "api"); err != nil || p.ID != won[0].ID || p.PID != won[0].PID || p.Dead {
		t.Errorf("the winner has %+v, and there is %+v, %v", won[0], p, err)
	}
}

// TestAServerWithoutSessionsHasNoSuchSession: tmux says "no current target" then, whatever was asked for.
func TestAServerWithoutSessionsHasNoSuchSession(t *testing.T) {
	s := server(t, "set -g exit-empty off")
	sleeper(t, s, "only")
	if err := s.Kill(t.Context(), "only"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pane(t.Context(), "w"); !errors.Is(err, tmux.ErrNoSession) {
		t.Errorf("%v", err)
	}
	if panes, err := s.Panes(t.Context()); len(panes) > 0 || err != nil {
		t.Errorf("%v, %v", panes, err)
	}
}
