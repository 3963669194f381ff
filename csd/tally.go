package csd

import (
	"context"

	"github.com/sessevents/sessevents/csd/store"
)

// tally counts what came into the worker's events since the last time, and keeps the count.
func (w *Worker) tally(ctx context.Context) (kept store.State, err error) {
	err = w.fleet.root.UpdateState(ctx, w.name, func(s *store.State) error {
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
