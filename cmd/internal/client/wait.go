package client

import (
	"fmt"
	"time"

	"github.com/sessevents/sessevents/cmd/internal/reader"
	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
)

// Wait waits for events.
type Wait struct {
	Serving
	Since   int64    `placeholder:"ID" help:"Events after this id; default 0: all."`
	Timeout *float64 `placeholder:"SECONDS" help:"Give up after so long, with exit code 4; default: never."`
}

var errNegative = Usagef("", "--since and --timeout are not negative")

// Run prints what is newer than Since, as soon as there is something. Events that the log holds are shown even if
// their daemon is gone. It ends without a word when nobody reads it any more.
func (w *Wait) Run(c *Call) error {
	return c.whileRead(w.run)
}

func (w *Wait) run(c *Call) error {
	timeout := int64(0) // none
	if t := w.Timeout; t != nil {
		if !(*t >= 0) { // NaN too
			return errNegative
		}
		timeout = int64(min(max(1, *t*1000), 1e15)) // a wait of no time still asks once
	}
	if w.Since < 0 {
		return errNegative
	}
	p, err := w.Find(c)
	if err != nil {
		return err
	}
	last, err := c.printSince(p.Files.Events, w.Since)
	if err != nil {
		return err
	}
	if last == w.Since {
		r, err := w.askPeer(c, p, control.Request{Op: control.Wait, Since: w.Since, TimeoutMS: timeout})
		if err != nil {
			return err
		}
		if r.TimedOut {
			return ExitCode(ExitTimeout)
		}
		if last, err = c.printSince(p.Files.Events, w.Since); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.Out, "cursor: %d\n", last)
	return nil
}

// Follow prints events as they come.
type Follow struct {
	Serving
	Since *int64 `placeholder:"ID" help:"Events after this id first; default: only what comes from now on."`
}

// Run prints events as they come, until it is interrupted, the daemon is gone, or nobody reads them any more.
func (f *Follow) Run(c *Call) error {
	return c.whileRead(f.run)
}

func (f *Follow) run(c *Call) error {
	p, r, err := f.ask(c, control.Request{Op: control.Status})
	if err != nil {
		return err
	}
	last := r.Report.Events
	if f.Since != nil {
		last = *f.Since
	}
	for {
		if last, err = c.printSince(p.Files.Events, last); err != nil {
			return err
		}
		if _, err = f.askPeer(c, p, control.Request{Op: control.Wait, Since: last}); err != nil {
			// What the daemon logged on its way out is there too.
			if _, printErr := c.printSince(p.Files.Events, last); printErr != nil {
				return printErr
			}
			return err
		}
	}
}

// whileRead calls run, and ends it when the reader of what it prints has gone: where no event comes, no write would
// tell it so.
func (c *Call) whileRead(run func(*Call) error) error {
	ctx, stop := reader.Watch(c.Ctx, c.Out)
	defer stop()
	watched := *c
	watched.Ctx = ctx
	err := run(&watched)
	if ctx.Err() != nil && c.Ctx.Err() == nil {
		return nil
	}
	return err
}

// printSince prints the events after id as JSON lines and returns the id of the last one.
func (c *Call) printSince(path string, id int64) (int64, error) {
	log, err := eventlog.OpenReader(path)
	if err != nil {
		return id, err
	}
	defer log.Close()
	for line, err := range log.Since(id) {
		if err != nil {
			return id, fmt.Errorf("read event log %s: %w", path, err)
		}
		if _, err := fmt.Fprintf(c.Out, "%s\n", line); err != nil {
			return id, err
		}
		id = max(id, eventlog.ID(line))
	}
	return id, nil
}

// ago is a time in the past as a person says it.
func ago(now time.Time, t *time.Time) string {
	if t == nil {
		return "never"
	}
	return now.Sub(*t).Round(time.Second).String() + " ago"
}
