package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/internal/atomicfile"
)

// State is how far csd has looked at a worker, so that the next look costs only what came since. It can be lost: then
// all is read once more.
type State struct {
	// Transcript is the file that Offset and TerminalsOffset are of.
	Transcript string `json:"transcript,omitempty"`
	// Offset is how far the transcript's turn ends were reconciled with the events.
	Offset int64 `json:"offset,omitempty"`
	// Terminals are the background terminals of codex that ran at TerminalsOffset, as csd/transcript knows them.
	Terminals       json.RawMessage `json:"terminals,omitempty"`
	TerminalsOffset int64           `json:"terminals_offset,omitempty"`
	// Pending is what the launch knows of a worker that has no session id yet: who registers it begins with this.
	Pending *Meta `json:"pending,omitempty"`
	// Dead is when the client was first seen to run no more.
	Dead time.Time `json:"dead,omitzero"`
	// Tally is what was counted of the events file.
	Tally event.Tally `json:"tally"`
}

// State returns the state of a worker, an empty one where there is none that can be read.
func (r *Root) State(name string) (State, error) {
	if !ValidName(name) {
		return State{}, fmt.Errorf("read state: %q is no name of a worker", name)
	}
	var s State
	data, err := readFile(r.file(name+stateEnd), maxFile)
	if err != nil || json.Unmarshal(data, &s) != nil {
		return State{}, nil // there is none, or it is lost; see State
	}
	return s, nil
}

// PutState replaces the state of a worker that is registered or marked, else the error is an *UnknownError. Where others may change it at the same time, use UpdateState.
func (r *Root) PutState(name string, s State) error {
	return r.with(context.Background(), name, lockState, func() error { return r.putState(name, s) })
}

// putState is PutState under the lock of the worker's state. A worker that was stopped gets no state again.
func (r *Root) putState(name string, s State) error {
	if _, marked := r.MarkerOf(name); !marked {
		if m, err := r.Find(name); err != nil {
			return err
		} else if m.TmuxName != name {
			return &UnknownError{name}
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return atomicfile.WriteSoft(r.file(name+stateEnd), append(data, '\n'))
}

// UpdateState gives change the state of a worker, and keeps what it made of it. No other process does so meanwhile, so
// that what change does besides, as appending a turn's missing end, is done once. On an error of change nothing is
// kept. A *NotKeptError comes after change went well.
func (r *Root) UpdateState(ctx context.Context, name string, change func(*State) error) error {
	ran := false
	update := func() (s State, err error) {
		if s, err = r.State(name); err != nil {
			return s, err
		}
		ran = true
		return s, change(&s)
	}
	err := r.with(ctx, name, lockState, func() error {
		s, err := update()
		if err != nil {
			return err
		}
		err = r.putState(name, s)
		if unknown := (*UnknownError)(nil); err == nil || errors.As(err, &unknown) {
			return err
		}
		return &NotKeptError{err}
	})
	if !ran && NoRoom(err) { // for the lock's file; then nobody else has one
		if _, err := update(); err != nil {
			return err
		}
		return &NotKeptError{err}
	}
	return err
}

// NotKeptError says that what was made of a state could not be written. What is known of the worker is not less for
// that; the next look costs more.
type NotKeptError struct{ Err error }

func (e *NotKeptError) Error() string { return "keep state: " + e.Err.Error() }

func (e *NotKeptError) Unwrap() error { return e.Err }

// NoRoom reports whether an error says that nothing can be written at some place, for now: the disk is full, or is not
// to be written.
func NoRoom(err error) bool {
	for _, reason := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, os.ErrPermission} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
