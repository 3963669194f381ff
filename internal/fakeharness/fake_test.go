package fakeharness_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/internal/fakeharness"
	"github.com/sessevents/sessevents/internal/proc"
)

func TestMain(m *testing.M) {
	if status, is := fakeharness.Ran(); is {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// lab is a tmux server with a home, a working folder, and the clients on its PATH.
type lab struct {
	*testing.T
	tmux       *tmux.Server
	dir        string
	home, work string
	hooks      string // the file that hooks write their input to
	pane       tmux.Pane
}

func newLab(t *testing.T) *lab {
	t.Helper()
	dir, err := os.MkdirTemp("", "fake") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	l := &lab{T: t, dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), hooks: filepath.Join(dir, "hooks")}
	bin := filepath.Join(dir, "bin")
	for _, d := range []string{l.home, l.work, bin} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fakeharness.Install(t, bin)
	l.tmux = &tmux.Server{Socket: filepath.Join(dir, "s"), Env: []string{
		"HOME=" + l.home, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "IS_SANDBOX=1", "GORACE=" + os.Getenv("GORACE"), "FAKE_LOG=" + filepath.Join(dir, "log"),
	}}
	t.Cleanup(func() {
		if l.pane.ID != "" {
			_ = l.tmux.Kill(context.WithoutCancel(t.Context()), "w") // it may have ended
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if l.pane.PID != 0 {
			_ = proc.WaitExit(ctx, l.pane.PID) // it writes its last words still
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if t.Failed() {
			text, err := l.tmux.Capture(context.WithoutCancel(t.Context()), tmux.Target{Session: "w"}, 0)
			t.Logf("the screen at the end: %v\n%s", err, strings.TrimRight(text, "\n"))
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Logf("the log:\n%s", log)
		}
	})
	return l
}

// start starts a client. env are more variables.
func (l *lab) start(env []string, argv ...string) {
	l.Helper()
	full := append([]string{"env", "-u", "TMUX_TMPDIR"}, append(env, argv...)...)
	p, err := l.tmux.New(l.Context(), tmux.NewSession{Name: "w", Dir: l.work, Argv: full})
	if err != nil {
		l.Fatal(err)
	}
	l.pane = p
}

func (l *lab) paste(text string) {
	l.Helper()
	if err := l.tmux.Paste(l.Context(), l.pane.Target(), []byte(text)); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) keys(keys ...string) {
	l.Helper()
	if err := l.tmux.Keys(l.Context(), l.pane.Target(), keys...); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) send(text string) {
	l.Helper()
	l.paste(text)
	l.keys("Enter")
}

func (l *lab) screen() string {
	l.Helper()
	text, err := l.tmux.Capture(l.Context(), l.pane.Target(), 0)
	if err != nil {
		l.Fatal(err)
	}
	return text
}

// until waits for what is in files and on screens: no event tells of both.
func (l *lab) until(what string, ok func() bool) {
	l.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("waited in vain for %s", what)
		}
	}
}

func (l *lab) shows(text string) {
	l.Helper()
	l.until(text+" on the screen", func() bool { return strings.Contains(l.screen(), text) })
}

func (l *lab) ended() tmux.Pane {
	l.Helper()
	var p tmux.Pane
	l.until("the end of the client", func() bool {
		var err error
		if p, err = l.tmux.Pane(l.Context(), "w"); err != nil {
			l.Fatal(err)
		}
		return p.Dead
	})
	return p
}

// record is one JSON object of a file of lines.
type record map[string]any

func (r record) str(path ...string) string {
	var v any = map[string]any(r)
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[name]
	}
	s, _ := v.(string)
	return s
}

func (l *lab) records(path string) []record {
	l.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		l.Fatal(err)
	}
	var all []record
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			l.Fatalf("%s: %v: %s", path, err, line)
		}
		all = append(all, r)
	}
	return all
}

// fired waits for the nth hook of an event, and returns it.
func (l *lab) fired(event string, n int) record {
	l.Helper()
	var found record
	l.until(event+" hook", func() bool {
		seen := 0
		for _, r := range l.records(l.hooks) {
			if r.str("hook_event_name") == event {
				if seen++; seen == n {
					found = r
					return true
				}
			}
		}
		return false
	})
	return found
}

// events are the names of the hooks so far.
func (l *lab) events() string {
	l.Helper()
	var names []string
	for _, r := range l.records(l.hooks) {
		names = append(names, r.str("hook_event_name"))
	}
	return strings.Join(names, " ")
}
