package realclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/modelstub"
)

// watched is a session whose daemon watches a file.
type watched struct {
	*session
	spec   string
	file   string // empty at first
	socket string // the daemon's control socket
	dir    string // the daemon's runtime directory
}

// newWatched lets a session start the daemon as a background task of its own and watch a file by a second call, and
// returns when its turn is over. dir, where it is not nil, names the runtime directory.
func newWatched(t *testing.T, bypass bool, mode string, dir func(*Home) string) *watched {
	t.Helper()
	Find(t, "claude")
	if err := build(); err != nil {
		t.Fatal(err)
	}
	spec, err := filepath.Abs(filepath.Join("..", "..", "examples", "log-events.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{spec: spec}
	w.session = newSessionIn(t, func(h *Home) ClaudeOptions {
		o := ClaudeOptions{Bypass: bypass, Path: programs}
		w.dir = filepath.Join(h.Run, "session-events")
		if dir != nil {
			w.dir = dir(h)
			o.Env = map[string]string{"SESSION_EVENTS_DIR": w.dir}
		}
		return o
	})
	w.file = filepath.Join(w.home.Work, "build.log")
	w.socket = filepath.Join(w.dir, fmt.Sprintf("%d.log-events.sock", w.PID))
	w.home.WriteFile(t, w.file, "")

	answers := make(chan struct{})
	w.model.Add(
		modelstub.Reply{Text: "I start the daemon.", Tools: []modelstub.Tool{
			bash(fmt.Sprintf("sessevents daemon --spec %s --interval 1 --mode %s", spec, mode), true),
		}},
		modelstub.Reply{Text: "I watch the file.", Until: answers, Tools: []modelstub.Tool{
			bash(fmt.Sprintf("sessevents watch --spec %s %s", spec, w.file), false),
		}},
		modelstub.Reply{Text: "I have set it up."},
	)
	if err := w.Prompt("Tell me when build.log grows."); err != nil {
		t.Fatal(err)
	}
	w.result(t, "running in background")
	w.waitDaemon(t)
	close(answers)
	if r := w.result(t, w.file); r.IsError {
		t.Fatalf("watch failed: %s", r.Text)
	}
	w.idle(t)
	return w
}

// result waits for a tool result with text in it.
func (w *watched) result(t *testing.T, text string) modelstub.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	var found modelstub.Result
	_, err := w.model.Wait(ctx, func(r modelstub.Request) bool {
		for _, found = range r.Results() {
			if strings.Contains(found.Text, text) {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("wait for a tool result with %q: %v", text, err)
	}
	return found
}

// waitDaemon waits until the daemon's socket takes connections.
func (w *watched) waitDaemon(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	if err := eventually(ctx, "the daemon's socket", func() (bool, error) {
		c, err := net.Dial("unix", w.socket)
		if err != nil {
			return false, err
		}
		return true, c.Close()
	}); err != nil {
		t.Fatalf("%v\n%s", err, w.taskOutput())
	}
}

// taskOutput is what the session's background tasks printed.
func (w *watched) taskOutput() string {
	var b strings.Builder
	_ = filepath.WalkDir(w.home.Tmp, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".output") {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s:\n%s\n", path, text)
		}
		return nil
	})
	return b.String()
}

// grow puts n more bytes into the file.
func (w *watched) grow(t *testing.T, n int) {
	t.Helper()
	f, err := os.OpenFile(w.file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(bytes.Repeat([]byte{'x'}, n))
	if err = firstError(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// message is the whole message on the file's growth from a to b bytes.
func (w *watched) message(mode string, a, b int) string {
	if mode != "" {
		mode = fmt.Sprintf(" from-mode=%q", mode)
	}
	return fmt.Sprintf("<cross-session-message from=\"uds:%s\" from-name=\"log-events\"%s>\n"+
		"%s: %d to %d bytes\nfile://%s\nautomated notice from log-events; no reply needed\n</cross-session-message>",
		w.socket, mode, w.file, a, b, w.file)
}

// log is the daemon's own log.
func (w *watched) log(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, fmt.Sprintf("%d-*.log-events.log", w.PID)))
	if err != nil || len(files) != 1 {
		t.Fatalf("daemon logs %q, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSE6_AnIdleSessionWakes is the main job, on the real client: its own background task tells an idle session that
// a file grew, in each permission mode and with each way to say so.
func TestSE6_AnIdleSessionWakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		bypass         bool
		mode, envelope string
	}{
		{true, "bypass", "bypass"},
		{false, "prompting", "prompting"},
		{true, "auto", ""},
		{false, "auto", ""},
	} {
		t.Run(fmt.Sprintf("bypass=%v,mode=%s", row.bypass, row.mode), func(t *testing.T) {
			t.Parallel()
			w := newWatched(t, row.bypass, row.mode, nil)
			w.grow(t, 1097)
			r := w.request(t, "0 to 1097 bytes")
			if !r.Says(w.message(row.envelope, 0, 1097)) {
				t.Errorf("the model was told %+v, want\n%s", r.News(), w.message(row.envelope, 0, 1097))
			}
			o := w.peer(t, "0 to 1097 bytes")
			if o.Kind != "peer" || o.Name != "log-events" || o.FromMode != row.envelope || o.From != "uds:"+w.socket {
				t.Errorf("origin in the transcript: %+v", o)
			}
			if last := r.News()[len(r.News())-1]; last.Role != "user" { // system: the session was not idle
				t.Errorf("the message came in a message of role %s", last.Role)
			}
			w.idle(t)

			// And once more, after the first: the daemon goes on.
			w.grow(t, 3)
			if r := w.request(t, "1097 to 1100 bytes"); !r.Says(w.message(row.envelope, 1097, 1100)) {
				t.Errorf("the second time the model was told %+v", r.News())
			}
			w.idle(t)
			w.exit(t)
			w.gone(t)
		})
	}
}

// gone looks that the daemon ended with its session.
func (w *watched) gone(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	if err := eventually(ctx, "the end of the daemon", func() (bool, error) {
		left := w.home.Processes()
		for _, p := range left {
			if strings.Contains(p.Command, "sessevents daemon") {
				return false, fmt.Errorf("it runs: %+v", p)
			}
		}
		return true, nil
	}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(w.socket); !os.IsNotExist(err) {
		t.Errorf("the daemon's socket after the session's end: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(w.log(t)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "stopped") {
		t.Errorf("the daemon log ends with %q", last)
	}
}

// TestSE5_3_AKilledSessionEndsItsDaemon: nobody tells the daemon, which is not the session's child any more.
func TestSE5_3_AKilledSessionEndsItsDaemon(t *testing.T) {
	t.Parallel()
	w := newWatched(t, true, "bypass", nil)
	p, err := os.FindProcess(w.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	w.gone(t)
	w.net.RequireNone(t)
}

// TestSE6_7_AHeldMessageIsReported: the daemon names a mode that is not the session's, and lives in the folder to
// which the client reports.
func TestSE6_7_AHeldMessageIsReported(t *testing.T) {
	t.Parallel()
	w := newWatched(t, false, "bypass", func(h *Home) string { return filepath.Join(h.Run, "cc-socks") })
	w.grow(t, 1097)
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	if err := w.WaitScreen(ctx, "Held message from another session"); err != nil {
		t.Fatal(err)
	}
	var status struct {
		Delivery struct {
			Reports []struct{ Status, Reason string }
		}
	}
	if err := eventually(ctx, "the report in the status", func() (bool, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(programs, "sessevents"), "--spec", w.spec, "status", "--json")
		cmd.Env = w.home.Env(map[string]string{
			"SESSION_EVENTS_DIR": w.dir, "CLAUDE_CODE_MESSAGING_SOCKET": w.Inbox, "CLAUDE_CODE_SESSION_ID": w.SessionID,
		})
		out, err := cmd.Output()
		if err != nil {
			return false, err
		}
		return len(status.Delivery.Reports) > 0, json.Unmarshal(out, &status)
	}); err != nil {
		t.Fatal(err)
	}
	if r := status.Delivery.Reports[0]; r.Status != "held" {
		t.Errorf("status shows %+v, want held", r)
	}
	if log := w.log(t); !strings.Contains(log, "held") {
		t.Errorf("the daemon log does not say that the message was held:\n%s", log)
	}
	for _, r := range w.model.Requests() {
		if r.Says("1097 bytes") {
			t.Errorf("the model was told of a held message: %+v", r.News())
		}
	}
	w.net.RequireNone(t)
}
