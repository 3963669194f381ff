package csd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/transcript"
)

// EventsOptions say which events to read.
type EventsOptions struct {
	Type   string // only events of this name; empty means all
	Last   int    // only so many of them, the last; negative means all
	Follow bool   // then go on with those that come
}

// ReadEvents writes the worker's events as they stand in the file, a line each. With Follow it returns only when ctx is
// done, which is no error, or when the worker's events are removed.
func (w *Worker) ReadEvents(ctx context.Context, out io.Writer, o EventsOptions) error {
	if o.Type != "" && !event.Name(o.Type).Known() {
		names := make([]string, len(event.Names))
		for i, n := range event.Names {
			names[i] = string(n)
		}
		return usagef("one of "+strings.Join(names, ", "), "there is no event %q", o.Type)
	}
	if err := w.needsID(); err != nil {
		return err
	}
	if err := w.catchUp(ctx); err != nil {
		w.fleet.note("note: %v", err)
	}
	var from int64
	var err error
	if o.Last < 0 && !o.Follow {
		return w.printAll(ctx, out, o, math.MaxInt64)
	}
	if from, err = event.Size(w.events()); errors.Is(err, os.ErrNotExist) {
		if !o.Follow {
			return w.noEvents()
		}
		from, err = 0, nil
	}
	if err != nil {
		return err
	}
	if err := w.printLast(ctx, out, o, from); err != nil {
		return err
	}
	if !o.Follow {
		return nil
	}
	return w.follow(ctx, out, o, from)
}

// catchUp tells what no hook told of a turn that seems to run.
func (w *Worker) catchUp(ctx context.Context) error {
	s, err := w.state()
	if err != nil || s.State != Working {
		return err
	}
	pane, err := w.pane(ctx)
	if err != nil && !errors.Is(err, errGone) {
		return err
	}
	alive := err == nil
	var live harness.Live
	if alive {
		live, _ = w.live(ctx, pane.PID)
	}
	_, err = w.reconcile(ctx, alive, live)
	return err
}

func (w *Worker) noEvents() error {
	return failf("send it a prompt; read-events --follow waits for the first one", "worker %s has no events yet", w.name)
}

// printAll writes every event that ends at or before an offset.
func (w *Worker) printAll(ctx context.Context, out io.Writer, o EventsOptions, upTo int64) error {
	buffered := &lineWriter{out: out}
	for line, err := range event.Forward(w.events(), 0) {
		if errors.Is(err, os.ErrNotExist) && o.Follow {
			return nil
		}
		if errors.Is(err, os.ErrNotExist) {
			return w.noEvents()
		}
		if err != nil {
			return err
		}
		if line.End > upTo { // it came meanwhile, and is for who follows
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if o.wants(line.Raw) {
			if err := buffered.write(line.Raw); err != nil {
				return err
			}
		}
	}
	return buffered.flush()
}

// printLast writes the last events that end at or before an offset.
func (w *Worker) printLast(ctx context.Context, out io.Writer, o EventsOptions, upTo int64) error {
	if o.Last < 0 {
		return w.printAll(ctx, out, o, upTo)
	}
	var lines [][]byte
	if o.Last > 0 {
		for line, err := range event.Backward(w.events()) {
			if errors.Is(err, os.ErrNotExist) {
				break
			}
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if line.End > upTo || !o.wants(line.Raw) {
				continue
			}
			if lines = append(lines, line.Raw); len(lines) == o.Last {
				break
			}
		}
	}
	slices.Reverse(lines)
	buffered := &lineWriter{out: out}
	for _, l := range lines {
		if err := buffered.write(l); err != nil {
			return err
		}
	}
	return buffered.flush()
}

// follow writes the events that come. It sleeps until the worker's files change.
func (w *Worker) follow(ctx context.Context, out io.Writer, o EventsOptions, from int64) error {
	watched := []string{w.events()}
	if path := w.transcript(); path != "" {
		watched = append(watched, path)
	}
	changes := watchFiles(watched...)
	defer changes.close()
	again := time.NewTimer(0)
	defer again.Stop()
	seen := false
	buffered := &lineWriter{out: out}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes.C:
		case <-again.C:
		}
		if later, err := w.reconcile(ctx, true, harness.Live{}); err == nil && later {
			again.Reset(hookGrace)
		}
		for line, err := range event.Forward(w.events(), from) {
			if errors.Is(err, os.ErrNotExist) {
				if seen {
					return nil // the worker was stopped
				}
				break
			}
			if err != nil {
				return err
			}
			seen, from = true, line.End
			if o.wants(line.Raw) {
				if err := buffered.write(line.Raw); err != nil {
					return err
				}
			}
		}
		if err := buffered.flush(); err != nil {
			return err
		}
	}
}

// wants reports whether a line is to be shown.
func (o EventsOptions) wants(raw []byte) bool {
	if o.Type == "" {
		return true
	}
	if name, ours := bytes.CutPrefix(raw, []byte(`{"event":"`)); ours { // csd's own lines begin so: no need to decode
		end := bytes.IndexByte(name, '"')
		return end >= 0 && string(name[:end]) == o.Type
	}
	e, err := event.Parse(raw)
	return err == nil && string(e.Name) == o.Type
}

// lineWriter writes lines in large pieces.
type lineWriter struct {
	out io.Writer
	buf []byte
}

func (l *lineWriter) write(line []byte) error {
	l.buf = append(append(l.buf, line...), '\n')
	if len(l.buf) >= 64<<10 {
		return l.flush()
	}
	return nil
}

func (l *lineWriter) flush() error {
	_, err := l.out.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// ReadTurn writes the last turn as Markdown.
func (w *Worker) ReadTurn(out io.Writer, full bool) error {
	if err := w.needsID(); err != nil {
		return err
	}
	path := w.transcript()
	if path == "" {
		return failf("there is none before the first prompt", "worker %s has no transcript", w.name)
	}
	turn, err := w.lastTurn(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return failf("there is none before the first prompt", "worker %s has no transcript at %s", w.name, path)
	case errors.Is(err, transcript.ErrNoTurn):
		return failf("send or converse gives it one", "worker %s was given no prompt yet", w.name)
	case err != nil:
		return err
	}
	return transcript.Render(out, turn, full)
}

// lastTurn reads the last turn. Where the events say that it is over, its last words may be a moment behind them.
func (w *Worker) lastTurn(path string) (transcript.Turn, error) {
	for try := 1; ; try++ {
		turn, err := transcript.Last(w.kind(), path)
		if err != nil || turn.Complete() || try == answerTries {
			return turn, err
		}
		s, err := w.state()
		if err != nil || s.State != Idle || s.Last.Name != event.Stop || s.Last.LastAssistantMessage == "" || w.fleet.Now().Sub(s.Last.At) > hookGrace {
			return turn, err
		}
		time.Sleep(answerPause)
	}
}

// Handoff says how a person takes the worker over.
func (w *Worker) Handoff(ctx context.Context) (string, error) {
	if _, err := w.pane(ctx); errors.Is(err, errGone) {
		return "", w.gone()
	} else if err != nil {
		return "", err
	}
	attach := w.attachWords(ctx)
	return fmt.Sprintf(`Worker %s (%s) runs in the tmux session %s.

Take over:   %s
Give back:   Ctrl-b d detaches; the worker goes on
Meanwhile:   send nothing to it from here, and do not stop it
`, w.name, w.meta.Harness, w.name, attach), nil
}
