package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/rundir"
)

// worded is a source that can be exchanged: it tells of each change of a file in words of its own.
type worded struct {
	name, word string
	interval   time.Duration
}

func (w worded) Describe() Info { return Info{Name: w.name, Interval: w.interval} }

func (worded) ParseTarget(words []string) (Target, error) { return Target{Text: words[0]}, nil }

func (worded) Summary(Target) []string { return nil }

func (w worded) Poll(_ context.Context, t Target, _ time.Time) (Outcome, error) {
	data, err := os.ReadFile(t.Text)
	if err != nil {
		return Outcome{}, err
	}
	saved, err := json.Marshal(string(data))
	o := Outcome{Saved: saved}
	if t.Saved != nil && string(t.Saved) != string(saved) {
		o.Events = []eventlog.Event{{Kind: "changed", Text: w.word + " " + string(data)}}
	}
	return o, err
}

func TestC27_AChangedSpecIsTakenUpAndKeepsTheCursor(t *testing.T) {
	dir := t.TempDir()
	spec, input := filepath.Join(dir, "spec"), filepath.Join(dir, "input")
	must(t, os.WriteFile(input, []byte("1"), 0o600))
	builds := make(chan func() (Source, error), 10)
	hangup := make(chan os.Signal, 1)
	d := start(t, Options{
		Source: worded{"worded", "old", time.Hour}, Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"},
		Reload: func() (Source, error) { return (<-builds)() }, SourceFile: spec, Hangup: hangup,
	})
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{input}})
	last := int64(0)
	expect := func(want string) {
		t.Helper()
		r := d.mustAsk(control.Request{Op: control.Wait, Since: last, TimeoutMS: 10_000})
		if r.TimedOut || r.Last != last+1 {
			t.Fatalf("waiting for %q: %+v", want, r)
		}
		last = r.Last
		recent := d.mustAsk(control.Request{Op: control.Status}).Report.Recent
		if got := recent[len(recent)-1].Text; got != want {
			t.Errorf("event %q, want %q", got, want)
		}
	}
	give := func(s Source, err error) { builds <- func() (Source, error) { return s, err } }

	// A change between the polls is told by the new words: nothing is lost on the way.
	must(t, os.WriteFile(input, []byte("2"), 0o600))
	give(worded{"worded", "new", 2 * time.Hour}, nil)
	must(t, os.WriteFile(spec, []byte("changed"), 0o600))
	expect("new 2")
	if r := d.mustAsk(control.Request{Op: control.Status}).Report; r.IntervalSeconds != 7200 {
		t.Errorf("interval %gs", r.IntervalSeconds)
	}

	// A bad one is said once, and the old one goes on.
	for i := range 2 {
		give(nil, errors.New("spec:3:7: no such name"))
		hangup <- os.Interrupt
		if i == 0 {
			expect("worded: the changed spec is not taken up, the old one goes on; read the daemon log for the reason")
		}
	}
	give(worded{"another", "new", time.Hour}, nil)
	hangup <- os.Interrupt
	must(t, os.WriteFile(input, []byte("3"), 0o600))
	for len(builds) > 0 { // until the last of them was looked at
		d.mustAsk(control.Request{Op: control.Status})
	}
	d.mustAsk(control.Request{Op: control.Poll})
	expect("new 3")
	report := d.mustAsk(control.Request{Op: control.Status}).Report
	if !strings.Contains(report.ReloadError, "its name is now another") {
		t.Errorf("status says %q", report.ReloadError)
	}
	if log := readFile(t, d.files.Log); strings.Count(log, "spec:3:7: no such name") != 2 {
		t.Errorf("log:\n%s", log)
	}

	give(worded{"worded", "newest", time.Hour}, nil)
	must(t, os.WriteFile(input, []byte("4"), 0o600))
	hangup <- os.Interrupt
	expect("newest 4")
	if report = d.mustAsk(control.Request{Op: control.Status}).Report; report.ReloadError != "" {
		t.Errorf("status still says %q", report.ReloadError)
	}
}
