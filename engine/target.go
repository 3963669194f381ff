package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/rundir"
)

// target is a watched target while the daemon runs. The loop owns it.
type target struct {
	Target
	// generation grows when the target is watched anew or unwatched: what an older poll says does not count then.
	generation int
	polling    bool
	started    time.Time       // when the last poll began
	asked      time.Time       // and when it had a place
	slow       bool            // the poll under way has given it away
	inFull     bool            // the poll under way is part of one of all targets
	due        time.Time       // a poll of this target alone; zero: none
	arrived    *result         // a poll that is over and not committed yet
	queued     []chan<- polled // wait for a poll that has not started
	waiters    []chan<- polled // wait for the poll under way

	putOff    time.Time // since when the polled system asks for patience; zero: it does not
	notBefore time.Time // so long the schedule passes the target over

	failures    int  // failed polls in a row
	reported    bool // as a trouble event
	more        bool // the last poll left something to read
	lastPoll    time.Time
	lastFailure *control.Failure
}

// result is what a poll of one target came to.
type result struct {
	target     *target
	generation int
	outcome    Outcome
	err        error
}

// polled tells whoever waits for a poll what came of it, after it was committed.
type polled struct {
	events  int
	failure *control.Failure
}

// poll asks the source about one target and checks its answer. A source that panics has failed, no more.
func poll(ctx context.Context, source Source, t Target, now time.Time) (outcome Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the source panicked: %v", p)
		}
	}()
	outcome, err = source.Poll(ctx, t, now)
	if err != nil {
		return Outcome{Log: outcome.Log}, err // why a command failed is what it wrote to stderr
	}
	if len(outcome.Saved) > 0 && !json.Valid(outcome.Saved) {
		return Outcome{}, fmt.Errorf("the source's next state is not JSON")
	}
	for i := range outcome.Events {
		if err := check(&outcome.Events[i]); err != nil {
			return Outcome{}, err
		}
	}
	return outcome, nil
}

// maxText is how long a text may be, in characters; maxURL bounds a URL, in bytes.
const (
	maxText = 300
	maxURL  = 2000
)

// check brings an event into the form that log and message promise, whatever its source did: one line, bounded.
func check(e *eventlog.Event) error {
	if !rundir.ValidName(e.Kind) {
		return fmt.Errorf("event kind %q: small letters, digits and -, at most 40", e.Kind)
	}
	switch e.Level {
	case "":
		e.Level = eventlog.Alert
	case eventlog.Alert, eventlog.Note:
	default:
		return fmt.Errorf("event level %q: alert or note", e.Level)
	}
	e.Text = cut(strings.TrimSpace(oneLine(strings.ToValidUTF8(e.Text, "\uFFFD"), len(e.Text)*3+1)), maxText)
	if len(e.URL) > maxURL || strings.ContainsFunc(e.URL, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}) {
		e.URL = ""
	}
	e.ID, e.At = 1, time.Unix(0, 0)
	if _, err := e.MarshalJSON(); err != nil {
		return err
	}
	return nil
}

// cut shortens s to at most n characters.
func cut(s string, n int) string {
	count := 0
	for i := range s {
		if count++; count > n {
			end := strings.LastIndexFunc(s[:i], func(r rune) bool { return true }) // room for the mark
			return s[:end] + "…"
		}
	}
	return s
}
