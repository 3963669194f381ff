package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/engine/state"
)

// always says one thing at each poll, more or less.
func always(outcome func(n int) Outcome) *script {
	return &script{polls: map[string]int{}, answer: func(_ context.Context, _ string, n int) (Outcome, error) { return outcome(n), nil }}
}

// live runs a whole daemon in this process until the test ends.
type live struct {
	t     *testing.T
	files rundir.Files
	end   context.CancelCauseFunc
	over  chan error
}

func start(t *testing.T, o Options) *live {
	t.Helper()
	files, err := rundir.Of(o.Dir, o.Owner, o.Source.Describe().Name)
	must(t, err)
	ctx, end := context.WithCancelCause(context.Background())
	d := &live{t, files, end, make(chan error, 1)}
	go func() { d.over <- Run(ctx, o) }()
	t.Cleanup(func() { d.stop() })
	return d
}

var errEnded = errors.New("the daemon has ended")

// ask waits for the daemon to come up, where it has to.
func (d *live) ask(r control.Request) (control.Response, error) {
	for {
		answer, err := control.Ask(context.Background(), d.files.Socket, r)
		if !errors.Is(err, control.ErrNoDaemon) {
			return answer, err
		}
		select {
		case err := <-d.over:
			d.over <- err
			return answer, errEnded
		default:
		}
	}
}

func (d *live) mustAsk(r control.Request) control.Response {
	d.t.Helper()
	answer, err := d.ask(r)
	if err != nil || answer.Error != "" {
		d.t.Fatalf("%s: %+v, %v", r.Op, answer, err)
	}
	return answer
}

func (d *live) stop() error {
	d.end(errors.New("SIGTERM"))
	err := <-d.over
	d.over <- err
	return err
}

// session is an inbox of this process.
func session(t *testing.T) (owner rundir.Owner, frames <-chan map[string]any) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inbox")
	l, err := net.Listen("unix", path)
	must(t, err)
	ch := make(chan map[string]any, 100)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			data, _ := io.ReadAll(conn)
			conn.Close()
			var frame map[string]any
			if json.Unmarshal(data, &frame) == nil && len(frame) > 0 {
				ch <- frame
			}
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	owner, err = rundir.Session(func(name string) string {
		return map[string]string{"CLAUDE_CODE_MESSAGING_SOCKET": path}[name]
	})
	must(t, err)
	return owner, ch
}

func TestSE6_TheAlertsOfAPollAreOneMessage(t *testing.T) {
	owner, frames := session(t)
	source := always(func(n int) Outcome {
		o := said(fmt.Sprint("first ", n))
		o.Events = append(o.Events, said("second").Events...)
		o.Events[0].URL = "https://example.org/x"
		note := said("a note").Events[0]
		note.Level = "note"
		o.Events = append(o.Events, note)
		return o
	})
	d := start(t, Options{Source: source, Dir: t.TempDir(), Owner: owner, SessionID: "s-1", Mode: inbox.Prompting, Command: "sessevents --spec script"})
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	frame := <-frames
	content := frame["message"].(map[string]any)["content"].(string)
	want := `<cross-session-message from="uds:` + d.files.Socket + `" from-name="script" from-mode="prompting">` +
		"\nfirst 1\nhttps://example.org/x\n\nsecond\nautomated notice from script; no reply needed\n</cross-session-message>"
	if content != want || frame["session_id"] != "s-1" || frame["from_mode"] != "prompting" {
		t.Errorf("frame %v\nwant content:\n%s", frame, want)
	}
	if id := fmt.Sprint(frame["msg_id"]); id != "script-"+owner.Start+"-2" {
		t.Errorf("msg_id %s", id)
	}
	report := d.mustAsk(control.Request{Op: control.Status}).Report
	if report.Events != 3 || report.Delivery == nil || report.Delivery.Mode != string(inbox.Prompting) || report.Delivery.Warning != "" {
		t.Errorf("status %+v, delivery %+v", report, report.Delivery)
	}
}

func TestSE5_5_AlertsOfADaemonThatDiedAreDeliveredByTheNext(t *testing.T) {
	owner, frames := session(t)
	dir := t.TempDir()
	files, err := rundir.Of(dir, owner, "script")
	must(t, err)
	must(t, os.WriteFile(files.Events, []byte(`{"id":1,"at":"2026-10-12T14:03:20Z","kind":"k","text":"taken"}
{"id":2,"at":"2026-10-12T14:03:20Z","kind":"k","text":"left"}
{"id":3,"at":"2026-10-12T14:03:20Z","kind":"k","level":"note","text":"a note"}
{"id":4,"at":"2026-10-12T14:03:20Z","kind":"k","text":"left too"}
`), 0o600))
	must(t, state.Prepare(files.State, state.State{Version: 1, Events: 4, Delivery: state.Delivery{Delivered: 1}}))
	d := start(t, Options{Source: always(func(int) Outcome { return Outcome{} }), Dir: dir, Owner: owner})
	content := (<-frames)["message"].(map[string]any)["content"].(string)
	if !strings.Contains(content, "\nleft\n\nleft too\nautomated") {
		t.Errorf("message:\n%s", content)
	}
	must(t, d.stop())
	s, err := state.Load(files.State)
	if err != nil || s.Delivery.Delivered != 4 || s.Delivery.Sending != nil {
		t.Errorf("state %+v, %v", s, err)
	}
}

func TestSE6_7_ReportsOfTheReceiverAreShown(t *testing.T) {
	owner, _ := session(t)
	d := start(t, Options{Source: always(func(int) Outcome { return Outcome{} }), Dir: t.TempDir(), Owner: owner})
	d.mustAsk(control.Request{Op: control.Status})
	for n := range 7 {
		conn, err := net.Dial("unix", d.files.Socket)
		must(t, err)
		_, err = fmt.Fprintf(conn, `{"type":"control","action":"peer_message_status","status":"held","reason":"mode-mismatch","orig_msg_id":"script-%d"}`+"\n", n)
		must(t, err)
		must(t, conn.(*net.UnixConn).CloseWrite())
		_, err = io.ReadAll(conn) // it closes when it has read all
		must(t, err)
	}
	got := d.mustAsk(control.Request{Op: control.Status}).Report.Delivery.Reports
	if len(got) != keptReports || got[len(got)-1].MsgID != "script-6" || got[0].Status != "held" || got[0].Reason != "mode-mismatch" {
		t.Errorf("reports %+v", got)
	}
	if log := readFile(t, d.files.Log); !strings.Contains(log, "the session reports message script-6 held: mode-mismatch") {
		t.Errorf("the daemon log has no such line:\n%s", log)
	}
}

func TestSE5_3_TheDaemonEndsWithItsOwner(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	owner, err := rundir.FileSink("sink", cmd.Process.Pid)
	must(t, err)
	d := start(t, Options{Source: always(func(int) Outcome { return Outcome{} }), Dir: t.TempDir(), Owner: owner})
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	must(t, in.Close())
	// Not reaped: a zombie is no owner any more.
	err = <-d.over
	d.over <- err
	must(t, err)
	if _, err := os.Lstat(d.files.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if log := readFile(t, d.files.Log); !strings.HasSuffix(log, fmt.Sprintf("stopped: file sink sink of process %d is gone\n", cmd.Process.Pid)) {
		t.Errorf("log:\n%s", log)
	}
	must(t, cmd.Wait())
}

func TestSE5_2_ASecondStartFindsTheFirst(t *testing.T) {
	o := Options{Source: always(func(int) Outcome { return Outcome{} }), Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"}}
	d := start(t, o)
	d.mustAsk(control.Request{Op: control.Status})
	var running *RunningError
	if err := Run(context.Background(), o); !errors.As(err, &running) || running.PID != os.Getpid() {
		t.Errorf("error %v", err)
	}
	other := o
	other.Owner.ID = "other"
	start(t, other).mustAsk(control.Request{Op: control.Status}) // two daemons
}

func TestADaemonWhoseSocketIsRemovedEnds(t *testing.T) {
	owner, err := rundir.FileSink("sink", os.Getppid())
	must(t, err)
	o := Options{Source: always(func(int) Outcome { return Outcome{} }), Dir: t.TempDir(), Owner: owner}
	d := start(t, o)
	d.mustAsk(control.Request{Op: control.Status})
	must(t, os.Remove(d.files.Socket))
	// Until it has noticed, another one cannot take its files.
	if err := Run(context.Background(), o); !errors.Is(err, eventlog.ErrInUse) {
		t.Errorf("a second daemon on the same files: %v", err)
	}
	err = <-d.over
	d.over <- err
	must(t, err)
	if log := readFile(t, d.files.Log); !strings.HasSuffix(log, "stopped: its socket was removed\n") {
		t.Errorf("log:\n%s", log)
	}
}

func TestSE5_4_ASecondLifeGoesOnWhereTheFirstStopped(t *testing.T) {
	o := Options{Source: always(func(n int) Outcome { return said(fmt.Sprint("alert ", n)) }), Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"}}
	d := start(t, o)
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	must(t, d.stop())
	if log := readFile(t, d.files.Log); !strings.HasSuffix(log, fmt.Sprintf("daemon %d stopped: SIGTERM\n", os.Getpid())) {
		t.Errorf("log:\n%s", log)
	}
	d = start(t, o)
	if r := d.mustAsk(control.Request{Op: control.Wait, Since: 1}); r.Last != 2 {
		t.Errorf("%+v", r)
	}
	report := d.mustAsk(control.Request{Op: control.Status}).Report
	if len(report.Targets) != 1 || report.Recent[1].Text != "alert 2" {
		t.Errorf("%+v", report)
	}
}

func TestSE7_3_ABadStateStopsTheStartAndIsKept(t *testing.T) {
	for _, name := range []string{".state.json", ".state.json.next"} {
		o := Options{Source: always(func(int) Outcome { return Outcome{} }), Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"}}
		path := filepath.Join(o.Dir, "sink.script"+name)
		must(t, os.WriteFile(path, []byte("not json"), 0o600))
		var damaged *state.DamagedError
		if err := Run(context.Background(), o); !errors.As(err, &damaged) || damaged.Path != path {
			t.Errorf("%s: error %v", name, err)
		}
		if readFile(t, path) != "not json" {
			t.Errorf("%s was changed", name)
		}
		if _, err := os.Lstat(filepath.Join(o.Dir, "sink.script.sock")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	}
}

func TestALostStateRepeatsNoId(t *testing.T) {
	o := Options{Source: always(func(n int) Outcome { return said(fmt.Sprint("alert ", n)) }), Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"}}
	d := start(t, o)
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	must(t, d.stop())
	must(t, os.Remove(d.files.State))
	d = start(t, o)
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	if got := d.mustAsk(control.Request{Op: control.Status}).Report; got.Events != 2 {
		t.Errorf("%+v", got)
	}
}

func TestSE1_2_IntervalsOutOfRangeAreRefused(t *testing.T) {
	for _, d := range []time.Duration{time.Millisecond, 86401 * time.Second} {
		o := Options{Source: always(func(int) Outcome { return Outcome{} }), Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"}, Interval: d}
		var usage *UsageError
		if err := Run(context.Background(), o); !errors.As(err, &usage) {
			t.Errorf("%s: error %v", d, err)
		}
	}
}
