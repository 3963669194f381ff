package csd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
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
func (w *Worker) Stop(ctx context.Context, o StopOptions) (Stopped, error) {
	done := Stopped{Name: w.name, SessionID: w.meta.SessionID}
	pane, err := w.server().Pane(ctx, w.name)
	switch {
	case errors.Is(err, tmux.ErrNoSession), errors.Is(err, tmux.ErrNoPane): // a person's pane may keep the session: that stays
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

// mark is the variable by which everything that a worker started is known, even what has left its process tree.
func (w *Worker) mark() []string {
	return []string{"CSD_TMUX_NAME=" + w.name, "CSD_WORKER_DIR=" + w.fleet.root.Path()}
}

// found is a process that was seen at a moment; its token tells it from a later one of the same number.
type found struct {
	proc.Process
	token string
}

// processes are those of the worker: its client, what descends from it, and what bears its mark. The client's pid is 0
// where it is gone. A tmux server that the worker happened to start, with whatever else lives in it, is no part of it.
func (w *Worker) processes(client int) (list []found) {
	table, err := proc.Table()
	if err != nil {
		return nil
	}
	ours := map[int]bool{}
	if client > 0 { // what has the parent 0 is the system's
		ours[client] = true
		for _, p := range proc.Tree(table, client) {
			ours[p.PID] = true
		}
	}
	mark := w.mark()
	for _, p := range table {
		if ours[p.PID] || p.PID == os.Getpid() { // a worker may stop itself
			continue
		}
		env, err := proc.Environ(p.PID)
		if err != nil || !slices.Contains(env, mark[0]) || !slices.Contains(env, mark[1]) {
			continue
		}
		ours[p.PID] = true
		for _, child := range proc.Tree(table, p.PID) {
			ours[child.PID] = true
		}
	}
	for _, p := range table {
		if strings.HasPrefix(p.Name, "tmux") && ours[p.PID] {
			delete(ours, p.PID)
			for _, child := range proc.Tree(table, p.PID) {
				delete(ours, child.PID)
			}
		}
	}
	for _, p := range table {
		if !ours[p.PID] {
			continue
		}
		if token, err := proc.StartToken(p.PID); err == nil {
			list = append(list, found{p, token})
		}
	}
	return list
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
		running = awaitEnds(running, killGrace)
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

// awaitEnds returns those that still run when the time is over.
func awaitEnds(list []found, grace time.Duration) []found {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
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
	if err := w.harness.Return(ctx, w.forHarness()); err != nil {
		w.fleet.note("note: a renewed login of worker %s is not copied back: %v", w.name, err)
	}
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
