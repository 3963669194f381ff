package csd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/internal/proc"
)

// StopOptions say how to stop.
type StopOptions struct {
	// Keep puts the session of a worker that has a private home aside, so that it can be adopted later. Sessions of
	// Claude Code lie elsewhere and always stay.
	Keep bool
}

// Stopped says what a stop ended.
type Stopped struct {
	Name      string
	SessionID string
	Asked     bool           // the client ended when it was asked to
	Was       bool           // the client ran at all
	Killed    []proc.Process // what had to be ended after it
	Survivors []proc.Process // what did not end
}

// The times of a stop.
const (
	quitTime    = 10 * time.Second
	killGrace   = 2 * time.Second
	cleanupTime = 20 * time.Second
)

// Stop ends the worker: it asks the client, then ends what is left of it and of what its tools started, and removes
// the worker's files. Of a worker that is gone, what its tools started and left running is ended.
//
// It has the name to itself until all is removed: a worker that was launched under it meanwhile would lose its session
// and its files. So it waits for a launch or another stop of that name that is running.
func (w *Worker) Stop(ctx context.Context, o StopOptions) (Stopped, error) {
	release, err := w.fleet.root.AwaitReserve(ctx, w.name)
	switch {
	case err == nil:
		defer release()
	case ctx.Err() != nil:
		return Stopped{Name: w.name}, err
	} // else no file can be made there, as on a disk that is full: the client ends all the same
	if err := w.again(); err != nil { // who had the name may have ended it
		return Stopped{Name: w.name}, err
	}
	done := Stopped{Name: w.name, SessionID: w.meta.SessionID}
	pane, err := w.server().Pane(ctx, w.name)
	switch {
	case errors.Is(err, tmux.ErrNoSession), errors.Is(err, tmux.ErrNoPane), err == nil && pane.Owner != pane.ID: // what a person has in the session stays
		if done.Killed, done.Survivors, err = endAll(w.processes(0)); err != nil {
			return done, err
		}
	case err != nil:
		return done, err
	default:
		if done, err = w.end(ctx, pane, done); err != nil {
			return done, err
		}
	}
	if err := w.again(); err != nil { // it may have got an id, or another one, by its last event
		return done, err
	}
	done.SessionID = w.meta.SessionID
	return done, w.takeDown(ctx, o)
}

// end ends the client and its processes.
func (w *Worker) end(ctx context.Context, pane tmux.Pane, done Stopped) (Stopped, error) {
	tools := w.processes(pane.PID)
	if !pane.Dead {
		done.Was = true
		asking, cancel := context.WithTimeout(ctx, quitTime)
		err := w.harness.Quit(asking, w.screenOf(pane))
		cancel()
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		done.Asked = err == nil
	}
	tools = append(tools, w.processes(pane.PID)...)
	if err := w.server().Kill(ctx, w.name); err != nil && !errors.Is(err, tmux.ErrNoSession) {
		return done, err
	}
	var err error
	done.Killed, done.Survivors, err = endAll(tools)
	return done, err
}

// endAll ends those that still run, asking first. It returns what it had to end and what did not end.
func endAll(list []found) (ended, survivors []proc.Process, err error) {
	running := alive(list)
	if len(running) == 0 {
		return nil, nil, nil
	}
	for _, p := range running {
		ended = append(ended, p.Process)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, p := range running {
			if proc.Same(p.PID, p.token) {
				if kill := syscall.Kill(p.PID, sig); kill != nil && !errors.Is(kill, syscall.ESRCH) {
					err = errors.Join(err, fmt.Errorf("end process %d (%s): %w", p.PID, p.Name, kill))
				}
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), killGrace)
		running = awaitEnds(ctx, running)
		cancel()
		if len(running) == 0 {
			return ended, nil, err
		}
	}
	for _, p := range running {
		survivors = append(survivors, p.Process)
	}
	return ended, survivors, err
}

func alive(list []found) []found {
	seen := map[int]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(p found) bool {
		if seen[p.PID] || !proc.Same(p.PID, p.token) {
			return true
		}
		seen[p.PID] = true
		return false
	})
}

// awaitEnds returns those that still run when ctx is done.
func awaitEnds(ctx context.Context, list []found) []found {
	for _, p := range list {
		if proc.Same(p.PID, p.token) {
			_ = proc.WaitExit(ctx, p.PID)
		}
	}
	return alive(list)
}

// takeDown removes what the worker has on disk.
func (w *Worker) takeDown(ctx context.Context, o StopOptions) error {
	var errs []error
	w.giveBack(ctx)
	switch {
	case o.Keep && w.registered:
		if err := w.harness.Keep(ctx, w.forHarness(), w.meta); err != nil {
			return fmt.Errorf("keep the session of worker %s: %w", w.name, err)
		}
	case w.registered: // what an earlier stop put aside goes with it
		if err := harness.Forget(w.fleet.root, w.meta.SessionID); err != nil {
			errs = append(errs, err)
		}
	}
	if err := w.remove(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
