package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/engine/state"
)

func TestC28_OneTargetTwiceAndOneNameTwice(t *testing.T) {
	dir := t.TempDir()
	source := always(func(n int) Outcome { return said(fmt.Sprint("alert ", n)) })
	d := start(t, Options{Source: source, Dir: dir, Owner: rundir.Owner{ID: "one"}})
	for range 2 {
		d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	}
	before := source.polled("a")
	if r := d.mustAsk(control.Request{Op: control.Poll}); len(r.Targets) != 1 || r.Events != 1 || source.polled("a") != before+1 {
		t.Errorf("a target that is watched twice is polled twice: %+v", r)
	}
	if got := d.mustAsk(control.Request{Op: control.Status}).Report.Targets; len(got) != 1 {
		t.Errorf("targets %+v", got)
	}

	// The same name for the same owner is refused, for another one it has a state and a log of its own.
	var running *RunningError
	if err := Run(context.Background(), Options{Source: source, Dir: dir, Owner: rundir.Owner{ID: "one"}}); !errors.As(err, &running) {
		t.Errorf("a second source of one name: %v", err)
	}
	other := start(t, Options{Source: always(func(int) Outcome { return Outcome{Saved: json.RawMessage(`2`)} }), Dir: dir, Owner: rundir.Owner{ID: "two"}})
	other.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	must(t, other.stop())
	must(t, d.stop())
	for _, live := range []*live{d, other} {
		s, err := state.Load(live.files.State)
		must(t, err)
		want, events := "1", before+1
		if live == other {
			want, events = "2", 0
		}
		if len(s.Targets) != 1 || string(s.Targets[0].Saved) != want || s.Events != int64(events) {
			t.Errorf("%s: %+v", live.files.State, s)
		}
	}
}
