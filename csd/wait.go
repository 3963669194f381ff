package csd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/internal/proc"
)

// Ended is the end of a turn, or of the worker.
type Ended struct {
	Line  []byte // the event as it stands in the file
	Event event.Event
}

// WaitOptions say what to wait for.
type WaitOptions struct {
	Timeout time.Duration
	// AfterLine counts events from the beginning of the file: what is behind that many counts. Negative means: from now.
	AfterLine int64
}

// WaitForTurn waits until a turn ends, or the worker does, and returns the event that says so. Errors, besides those of
// the files: a TimedOut one that says where to go on; with the event, an APIError one for a turn that the model's API
// failed, and a Failed one for a client that died; a NeedsPerson one when the worker waits for a person.
func (w *Worker) WaitForTurn(ctx context.Context, o WaitOptions) (Ended, error) {
	if err := w.needsID(); err != nil {
		return Ended{}, err
	}
	from, err := w.eventsEnd()
	if err == nil && o.AfterLine >= 0 {
		from, err = event.After(w.events(), o.AfterLine)
		if errors.Is(err, os.ErrNotExist) {
			from, err = 0, nil
		}
	}
	if err != nil {
		return Ended{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	ended, err := w.waitEnd(ctx, from, func(event.Event) (whose, error) { return own, nil })
	if errors.Is(err, context.DeadlineExceeded) {
		return Ended{}, w.timedOut(from, fmt.Sprintf("no turn of worker %s ended within %s", w.name, o.Timeout))
	}
	return ended, err
}

// timedOut is an error that says from which line a later wait misses nothing.
func (w *Worker) timedOut(from int64, text string) error {
	n := w.linesBefore(from)
	return &Error{Kind: TimedOut, Text: fmt.Sprintf("%s\nretry_after_line: %d", text, n), Hint: fmt.Sprintf("wait-for-turn --after-line %d goes on without a gap", n)}
}

// linesBefore counts the events that end at an offset or before. What was counted once is not read again.
func (w *Worker) linesBefore(offset int64) int64 {
	kept, err := w.tally(context.Background()) // the caller's time has run out
	if err != nil {
		return 0
	}
	n := kept.Tally.Lines
	for line, err := range event.Forward(w.events(), offset) {
		if err != nil || line.Offset >= kept.Tally.Offset {
			break
		}
		n--
	}
	return n
}

// liveLook is how often the client's own state is looked at beside its events: hooks are silent about a dialog and
// about a turn that a person breaks off. A look reads one small file.
const liveLook = 2 * time.Second

// whose says whether a stop is the one that is waited for.
type whose int

const (
	undecided whose = iota // more has to be written first
	another
	likely // own, unless a later one is that for sure
	own
)

// waitEnd waits for an end behind an offset of the events: a stop that match calls our own, or any session_end.
func (w *Worker) waitEnd(ctx context.Context, from int64, match func(event.Event) (whose, error)) (Ended, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := []string{w.events()}
	if path := w.transcript(); path != "" {
		watched = append(watched, path)
	}
	changes := watchFiles(watched...)
	defer changes.close()

	pane, err := w.pane(ctx)
	alive := err == nil
	if err != nil && !errors.Is(err, errGone) {
		return Ended{}, err
	}
	died := make(chan struct{})
	if alive {
		go func() { // ends with ctx
			if proc.WaitExit(ctx, pane.PID) == nil {
				close(died)
			}
		}()
	}
	looks := time.NewTicker(liveLook)
	defer looks.Stop()
	for changed := true; ; {
		var live harness.Live
		if alive {
			live, _ = w.live(ctx, pane.PID)
		}
		if !changed && live.State != "" {
			if s, err := w.state(); err == nil && w.overdue(s, live) {
				changed = true
			}
		}
		if changed {
			if changed, err = w.reconcile(ctx, alive, live); err != nil && ctx.Err() == nil {
				return Ended{}, err
			}
		}
		ended, next, err := w.nextEnd(from, match)
		if err != nil || ended.Line != nil {
			return ended, err
		}
		from = next
		if !alive && !changed {
			return Ended{}, w.gone()
		}
		if live.State == harness.Waiting {
			return Ended{}, w.needsPerson(ctx, live)
		}
		select {
		case <-changes.C:
			changed = true
			if err := w.again(); err != nil { // it may have another session, or be stopped
				return Ended{}, err
			}
		case <-looks.C:
		case <-died:
			died, alive, changed = nil, false, true
		case <-ctx.Done():
			return Ended{}, ctx.Err()
		}
	}
}

// nextEnd looks for an end among the events behind from, and says where to go on: a stop of which match cannot tell yet
// is looked at again.
func (w *Worker) nextEnd(from int64, match func(event.Event) (whose, error)) (Ended, int64, error) {
	next, open := from, false
	var guess Ended
	for line, err := range event.Forward(w.events(), from) {
		if errors.Is(err, os.ErrNotExist) {
			return Ended{}, next, nil
		}
		if err != nil {
			return Ended{}, next, err
		}
		e, err := event.Parse(line.Raw)
		is := another
		switch {
		case err != nil:
		case e.Name == event.SessionEnd && guess.Line == nil:
			is = own
		case e.Name == event.Stop:
			if is, err = match(e); err != nil {
				return Ended{}, next, err
			}
		}
		ended := Ended{Line: line.Raw, Event: e}
		switch is {
		case own:
			return ended, line.End, w.verdict(e)
		case likely:
			guess = ended
		}
		if open = open || is == undecided; !open {
			next = line.End
		}
	}
	if guess.Line != nil {
		return guess, next, w.verdict(guess.Event)
	}
	return Ended{}, next, nil
}

// verdict is the error, if any, that goes with the end of a turn.
func (w *Worker) verdict(e event.Event) error {
	switch {
	case e.Error != nil:
		return &Error{Kind: APIError, Text: fmt.Sprintf("the turn ended with an API error, %s: %s", e.Error.Type, e.Error.Message), Hint: "the worker goes on with the next prompt; read-turn shows what was done"}
	case e.Name == event.SessionEnd && e.Reason == reasonDied:
		return w.gone()
	}
	return nil
}
