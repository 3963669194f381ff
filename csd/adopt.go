package csd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/internal/proc"
)

// AdoptOptions say which session to take up again.
type AdoptOptions struct {
	LaunchOptions
	SessionID string
}

// Adopt takes an existing session up again as a worker: the client resumes it, with all that was said in it. A tmux
// session of the worker's name, as a tool that restores tmux after a reboot makes it, is used as it is: the client takes
// over its pane. When the adoption fails, that session and the worker's earlier events are still there.
func (f *Fleet) Adopt(ctx context.Context, o AdoptOptions) (Launched, error) {
	if !store.ValidID(o.SessionID) {
		return Launched{}, usagef("csd list --all shows those of the workers", "%q is no session id", o.SessionID)
	}
	l, err := f.begin(o.LaunchOptions)
	if err != nil {
		return Launched{}, err
	}
	defer func() { l.release() }()
	if o.SessionID != o.Name && store.ValidName(o.SessionID) { // as those of all clients are
		if err := l.reserve(o.SessionID, "session "+o.SessionID); err != nil {
			return Launched{}, err
		}
	}
	l.words = reproduce("adopt", l.kind, o.Name, l.dir, o.SessionID, o.Args)
	if err := f.adoptable(ctx, l, o.SessionID); err != nil {
		return Launched{}, err
	}
	l.worker.SessionID = o.SessionID
	start, err := l.resume(ctx)
	if errors.Is(err, os.ErrNotExist) {
		return Launched{}, f.nothingLeft(l, o.SessionID, err)
	}
	if err != nil {
		return Launched{}, startError(err)
	}
	earlier, _ := f.root.Find(o.Name)
	if err := l.register(ctx, start, o.SessionID); err != nil {
		return Launched{}, f.unadopt(l, earlier, err)
	}
	if err := l.passOver(start.TranscriptPath); err != nil {
		return Launched{}, f.unadopt(l, earlier, err)
	}
	if err := l.run(ctx, start); err != nil {
		return Launched{}, f.unadopt(l, earlier, err)
	}
	if l.former != nil { // it is this one now
		l.former.giveBack(ctx)
		if err := f.root.Remove(l.former.name, nil); err != nil {
			f.note("note: files of worker %s, which had the session, are still there: %v", l.former.name, err)
		}
	}
	return l.launched()
}

// reserve takes one more name for as long as the adoption lasts: that of its session, since two adoptions of one session
// would start two clients on it, or that of the worker that had it.
func (l *launching) reserve(name, what string) error {
	release, err := l.fleet.root.Reserve(name)
	if err != nil {
		return &Error{Text: "adopt " + what, Hint: "wait for that to end; csd list --all shows what has come of it", Err: err}
	}
	before := l.release
	l.release = func() {
		release()
		before()
	}
	return nil
}

// nothingLeft is the error for a session of which the harness finds no transcript.
func (f *Fleet) nothingLeft(l *launching, id string, err error) error {
	hint := "csd list --all shows the sessions of the workers, and ~/.claude/projects has those of Claude Code"
	if l.kind == "claude" && harness.Kept(f.root, id) {
		hint = "stop --keep put it aside, so it is not one of claude: add --harness codex or --harness pi"
	}
	text := fmt.Sprintf("nothing is left of session %s to go on from", id)
	if gone := (*harness.GoneError)(nil); errors.As(err, &gone) { // it says the same
		err = nil
	}
	return &Error{Text: text, Hint: hint, Err: err}
}

// hangupGrace is how long a client may take to end after its terminal has gone, as when tmux was killed.
const hangupGrace = 5 * time.Second

// resume prepares the client. Where the session is open in the very pane that is taken over, as when the workers' folder
// was removed under a worker, the client there is ended first. Any other client that has it gets the time to end that
// one on its way out needs.
func (l *launching) resume(ctx context.Context) (harness.Start, error) {
	start, err := l.harness.Resume(ctx, l.worker, l.worker.SessionID)
	var held *harness.HeldError
	if !errors.As(err, &held) {
		return start, err
	}
	if l.inPane && !l.pane.Dead && held.PID == l.pane.PID {
		if err := l.retire(ctx); err != nil {
			return start, errors.Join(held, err)
		}
	} else {
		waiting, cancel := context.WithTimeout(ctx, hangupGrace)
		_ = proc.WaitExit(waiting, held.PID) // where it goes on, it holds the session still
		cancel()
	}
	return l.harness.Resume(ctx, l.worker, l.worker.SessionID)
}

// retire ends the client in the pane that is taken over. The pane stays, and with it the layout.
func (l *launching) retire(ctx context.Context) error {
	if err := l.server.RemainOnExit(ctx, l.pane.Target(), true); err != nil {
		return err
	}
	l.took = true
	token, err := proc.StartToken(l.pane.PID)
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	_, survivors, err := endAll([]found{{proc.Process{PID: l.pane.PID, Name: l.kind}, token}})
	if len(survivors) > 0 {
		err = errors.Join(err, fmt.Errorf("process %d does not end", l.pane.PID))
	}
	return err
}

// adoptable checks that nobody has the session or the name, and looks whether there is a pane to take over.
func (f *Fleet) adoptable(ctx context.Context, l *launching, id string) error {
	name := l.worker.Name
	pane, err := l.server.Pane(ctx, name)
	switch {
	case errors.Is(err, tmux.ErrNoSession):
	case errors.Is(err, tmux.ErrNoPane):
		return failf("end it, or choose another name", "the tmux session %s has lost the pane of its worker", name)
	case err != nil:
		return err
	default:
		if root := f.foreignRoot(pane, name); root != "" {
			return failf("choose another name", "a worker of the folder %s runs in the tmux session %s", root, name)
		}
		l.pane, l.inPane = pane, true
	}
	if err := f.unused(ctx, l, id); err != nil {
		return err
	}
	return f.free(ctx, name, l.pane.PID)
}

// unused checks that no worker runs that has the session, and that it is one of the harness that is to take it up. Where
// a worker of another name had it, its files of the session are put where the harness finds them.
func (f *Fleet) unused(ctx context.Context, l *launching, id string) error {
	other, err := f.known(id)
	if err != nil {
		return err
	}
	if other != nil {
		switch _, err := other.pane(ctx); {
		case err == nil:
			return failf("csd --worker "+other.name+" status tells more", "session %s belongs to the worker %s, which runs", id, other.name)
		case !errors.Is(err, errGone):
			return &Error{Text: fmt.Sprintf("session %s belongs to the worker %s, which may run still", id, other.name), Hint: HintOf(err), Err: err}
		case other.meta.Harness != l.kind:
			return failf("take it up so: "+other.adoptWords(), "session %s is one of %s", id, other.meta.Harness)
		}
	}
	named, err := f.known(l.worker.Name)
	if err != nil {
		return err
	}
	if named != nil && named.meta.Harness != l.kind && named.name == l.worker.Name {
		return failf("choose another name", "%s is the name of a worker of %s", named.name, named.meta.Harness)
	}
	if other != nil && other.name != l.worker.Name {
		if err := l.reserve(other.name, "the session of worker "+other.name); err != nil {
			return err
		}
		if err := other.again(); err != nil { // who had the name may have removed all of it
			return err
		}
		if err := other.mustBeGone(ctx); err != nil {
			return err
		}
		l.former = other
		return other.harness.Keep(ctx, other.forHarness(), other.meta)
	}
	return nil
}

// passOver notes that what the transcript holds was told in an earlier life, or never will be: of a large one nothing
// is read but what comes from now on, and commands that ran in the background then run no more.
func (l *launching) passOver(transcript string) error {
	var s store.State
	if info, err := os.Stat(transcript); err == nil {
		s = store.State{Transcript: transcript, Offset: info.Size(), TerminalsOffset: info.Size()}
	}
	return l.fleet.root.PutState(l.worker.Name, s)
}

// unadopt puts back what was there before a failed adoption.
func (f *Fleet) unadopt(l *launching, earlier store.Meta, reason error) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	errs := []error{reason}
	if l.took && l.inPane { // a shell, as a restored pane has it
		shell := f.Getenv("SHELL")
		if shell == "" {
			shell = "/bin/sh"
		}
		if _, err := l.server.Respawn(ctx, l.pane.Target(), l.dir, []string{shell}); err != nil {
			errs = append(errs, err)
		} else if err := errors.Join(l.server.RemainOnExit(ctx, l.pane.Target(), false), l.server.Disown(ctx, l.worker.Name)); err != nil {
			errs = append(errs, err)
		}
	} else if l.took {
		if err := l.server.Kill(ctx, l.worker.Name); err != nil && !errors.Is(err, tmux.ErrNoSession) {
			errs = append(errs, err)
		}
	}
	if earlier.SessionID != "" {
		if err := f.root.Put(earlier); err != nil {
			errs = append(errs, err)
		}
	} else if l.meta.TmuxName != "" {
		if err := f.root.Forget(l.meta); err != nil {
			errs = append(errs, err)
		}
	}
	if l.former != nil {
		if err := f.root.Put(l.former.meta); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 1 {
		return reason
	}
	return errors.Join(errs...)
}
