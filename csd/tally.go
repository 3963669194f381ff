package csd

import (
	"context"
	"errors"

	"github.com/sessevents/sessevents/csd/store"
)

// updateState is UpdateState of the store where it can be kept. Where it cannot, as on a full disk, this Worker goes on
// from what it made of it itself: what it tells does not depend on that.
func (w *Worker) updateState(ctx context.Context, change func(*store.State) error) error {
	var now store.State
	err := w.fleet.root.UpdateState(ctx, w.name, func(s *store.State) error {
		if w.unkept != nil {
			*s = *w.unkept
		}
		if err := change(s); err != nil {
			return err
		}
		now = *s
		return nil
	})
	if lost := (*store.NotKeptError)(nil); errors.As(err, &lost) {
		w.unkept = &now
		return nil
	}
	if err == nil {
		w.unkept = nil
	}
	return err
}

// tally counts what came into the worker's events since the last time, and keeps the count.
func (w *Worker) tally(ctx context.Context) (kept store.State, err error) {
	err = w.updateState(ctx, func(s *store.State) error {
		t, err := s.Tally.On(w.events())
		if err != nil {
			return err
		}
		s.Tally = t
		kept = *s
		return nil
	})
	return kept, err
}
