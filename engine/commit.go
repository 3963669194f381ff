package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/state"
)

// committer brings a poll onto disk: its events once into the log, its cursors into the state, both or neither.
//
// The state is prepared beside the old one, with the log lines that belong to it; from there on the poll is decided,
// and everything that follows can be done again: the log takes only lines above its last id, and the prepared state
// takes the place of the old. So a daemon that is killed anywhere in between, or finds the disk full, goes on where
// it stopped. Before the state is prepared nothing has happened.
type committer struct {
	path string // of the state
	log  *eventlog.Log
	// open is the prepared state that has not become the state yet.
	open *state.State
	// fault is called at each step; tests kill the process there, or let the step fail.
	fault func(step string) error
}

// errUndecided says that nothing of a commit has happened.
var errUndecided = errors.New("nothing was saved")

// commit makes next the state and its lines part of the log. On errUndecided next is to be forgotten; on every other
// error it is decided, and finish brings it to its end.
func (c *committer) commit(next state.State) error {
	if err := c.finish(); err != nil {
		return fmt.Errorf("%w: %w", errUndecided, err)
	}
	if err := c.step("prepare"); err != nil {
		return fmt.Errorf("%w: %w", errUndecided, err)
	}
	if err := state.Prepare(c.path, next); err != nil {
		return fmt.Errorf("%w: %w", errUndecided, err)
	}
	c.open = &next
	return c.finish()
}

// finish completes the commit that was decided and not completed, if there is one.
func (c *committer) finish() error {
	if c.open == nil {
		return nil
	}
	if err := c.step("append"); err != nil {
		return err
	}
	if err := c.log.Append(c.open.Commit); err != nil {
		return err
	}
	if err := c.step("promote"); err != nil {
		return err
	}
	if err := state.Promote(c.path); err != nil {
		return err
	}
	c.open = nil
	return c.step("promoted")
}

func (c *committer) step(name string) error {
	if c.fault == nil {
		return nil
	}
	return c.fault(name)
}

// recover returns the state that a start goes on from: the prepared one if there is one, since it was decided, else
// the saved one, else an empty one. The log then holds all its events.
func (c *committer) recover() (state.State, error) {
	s, err := state.Prepared(c.path)
	switch {
	case err == nil:
		c.open = &s
		if err := c.finish(); err != nil {
			return state.State{}, err
		}
	case errors.Is(err, os.ErrNotExist):
		s, err = state.Load(c.path)
		if errors.Is(err, os.ErrNotExist) {
			// A log without a state: somebody removed the state. Ids go on, and nothing old is delivered.
			return state.State{Version: state.Version, Events: c.log.LastID(), Delivery: state.Delivery{Delivered: c.log.LastID()}}, nil
		}
		if err != nil {
			return state.State{}, err
		}
		// After a power cut the log may have lost what the state still has.
		if err := c.log.Append(s.Commit); err != nil {
			return state.State{}, err
		}
	default:
		return state.State{}, err
	}
	s.Events = max(s.Events, c.log.LastID())
	return s, nil
}

// encode writes numbered events as lines of the log.
func encode(events []eventlog.Event) ([]json.RawMessage, error) {
	lines := make([]json.RawMessage, len(events))
	for i, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		lines[i] = line
	}
	return lines, nil
}
