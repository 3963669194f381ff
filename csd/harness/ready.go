package harness

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sessevents/sessevents/csd/tmux"
)

// look is how often a screen is read while nothing else tells.
const look = 150 * time.Millisecond

// settled is how long a menu that nobody knows must stand before it ends a start: a client paints some and goes on.
const settled = 4 * time.Second

// starting watches a client that starts.
type starting struct {
	dialogs []dialog
	// asks reports whether the screen may show a question at all. One that shows the input box does not, whatever
	// stands above it: a conversation that is resumed may be about such questions.
	asks func(screen string) bool
	// menu reports whether the screen shows any question, known or not.
	menu func(screen string) bool
	// person names the dialogs that only a person can answer, by a text in them.
	person []person
	// ready reports whether the client takes prompts.
	ready func(ctx context.Context, screen string) (bool, error)
	// hint says what to do when the client died with these words; it may be nil.
	hint func(screen string) string
	// silent says what to do when the input box is there and the client has not said that it started.
	silent string
}

type person struct{ text, what, hint string }

// wait returns when the client takes prompts.
func (w starting) wait(ctx context.Context, s Screen) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	keys := answering{dialogs: w.dialogs}
	unknown := standing[string]{}
	last := ""
	for {
		screen, err := w.alive(ctx, s, last)
		if err != nil {
			return w.late(ctx, err, last)
		}
		last = screen
		if done, err := w.ready(ctx, screen); err != nil {
			return w.late(ctx, err, last)
		} else if done {
			return nil
		}
		known := false
		if w.asks(screen) {
			for _, p := range w.person {
				if strings.Contains(screen, p.text) {
					return &DialogError{What: p.what, Pane: screen, Hint: p.hint}
				}
			}
			if known, err = keys.step(ctx, s, screen, time.Now()); err != nil {
				return w.late(ctx, err, last)
			}
		}
		if unknown.since(screen, !known && w.asks(screen) && w.menu(screen), time.Now()) > settled {
			return &DialogError{What: "dialog", Pane: screen}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return w.late(ctx, nil, last)
		}
	}
}

// alive reads the screen of a client that runs. last is what stood there before.
func (w starting) alive(ctx context.Context, s Screen, last string) (string, error) {
	pane, err := s.Pane(ctx)
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoPane) {
		return "", &DiedError{Gone: true, Pane: last, Hint: w.hintOf(last)}
	}
	if err != nil {
		return "", err
	}
	screen, err := s.Capture(ctx)
	if pane.Dead {
		pane = how(ctx, s, pane)
		if screen, err = lastWords(ctx, s); err != nil {
			screen = last
		}
		return "", &DiedError{Status: pane.Status, Signal: pane.Signal, Pane: screen, Hint: w.hintOf(screen)}
	}
	return screen, err
}

// lastWords is what stands in the pane of a client that has ended.
func lastWords(ctx context.Context, s Screen) (string, error) {
	if h, ok := s.(History); ok {
		return h.History(ctx, shownLines)
	}
	return s.Capture(ctx)
}

// how asks again how a client ended: tmux knows that a pane is dead a moment before it knows why.
func how(ctx context.Context, s Screen, pane tmux.Pane) tmux.Pane {
	_, _ = until(ctx, time.Second, func() (bool, error) { // what is not known by then stays unknown
		if p, err := s.Pane(ctx); err == nil {
			pane = p
		}
		return pane.Status != 0 || pane.Signal != "", nil
	})
	return pane
}

func (w starting) hintOf(screen string) string {
	if w.hint == nil {
		return ""
	}
	return w.hint(screen)
}

// late is err, or after the end of ctx, which may have made it, an error that shows the screen.
func (w starting) late(ctx context.Context, err error, screen string) error {
	if ctx.Err() == nil {
		return err
	}
	late := &NotReadyError{Pane: screen, Err: ctx.Err()}
	if screen != "" && !w.asks(screen) {
		late.Hint = w.silent
	}
	return late
}

// standing measures how long the same thing stands on a screen.
type standing[T comparable] struct {
	what T
	from time.Time
}

func (s *standing[T]) since(what T, there bool, now time.Time) time.Duration {
	if !there || what != s.what {
		s.what, s.from = what, now
		return 0
	}
	return now.Sub(s.from)
}

// ended reports whether the client of a screen has ended.
func ended(ctx context.Context, s Screen) (bool, error) {
	pane, err := s.Pane(ctx)
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoPane) {
		return true, nil
	}
	return pane.Dead, err
}

// until looks until yes, or for at most a time. It is false when the time or ctx ended.
func until(ctx context.Context, most time.Duration, yes func() (bool, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if ok, err := yes(); ok || err != nil {
			return ok, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// pause lets a client read one key before the next: some take keys that come together for a paste.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
