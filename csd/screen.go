package csd

import (
	"context"
	"errors"
	"os"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/tmux"
)

// screen is a worker's terminal, as its harness sees it.
type screen struct {
	server *tmux.Server
	target tmux.Target
	// started reports whether the client said that it started, in this life of it.
	started func() (bool, error)
}

func (s *screen) Pane(ctx context.Context) (tmux.Pane, error) {
	return s.server.Pane(ctx, s.target.Session)
}

func (s *screen) Capture(ctx context.Context) (string, error) {
	return s.server.Capture(ctx, s.target, 0)
}

// History is Capture with lines that have scrolled out at the top.
func (s *screen) History(ctx context.Context, lines int) (string, error) {
	return s.server.Capture(ctx, s.target, lines)
}

func (s *screen) Keys(ctx context.Context, keys ...string) error {
	return s.server.Keys(ctx, s.target, keys...)
}

func (s *screen) Literal(ctx context.Context, text string) error {
	return s.server.Literal(ctx, s.target, text)
}

func (s *screen) Started(context.Context) (bool, error) { return s.started() }

// startedSince looks for a session_start behind an offset of an events file: one from before is of an earlier life.
func startedSince(path func() string, offset int64) func() (bool, error) {
	return func() (bool, error) {
		for line, err := range event.Forward(path(), offset) {
			if errors.Is(err, os.ErrNotExist) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if e, err := event.Parse(line.Raw); err == nil && e.Name == event.SessionStart {
				return true, nil
			}
		}
		return false, nil
	}
}

// screenOf is the terminal of a worker that runs.
func (w *Worker) screenOf(p tmux.Pane) *screen {
	return &screen{server: w.server(), target: p.Target(), started: func() (bool, error) { return true, nil }}
}
