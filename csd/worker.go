package csd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/csd/transcript"
)

// Worker is one worker of a Fleet, as it was known when it was looked up.
type Worker struct {
	fleet   *Fleet
	name    string
	harness harness.Harness
	// registered says that the worker has a session id. One of Codex has none before its first prompt.
	registered bool
	meta       store.Meta   // without a session id while it is not registered
	unkept     *store.State // see updateState; nil where it was kept
}

// Worker finds a worker by its name or its session id.
func (f *Fleet) Worker(handle string) (*Worker, error) {
	m, err := f.root.Find(handle)
	if err == nil {
		return f.workerOf(m)
	}
	var unknown *store.UnknownError
	if !errors.As(err, &unknown) {
		return nil, err
	}
	if !store.ValidName(handle) {
		return nil, unknownWorker(err)
	}
	kind, ok := f.root.MarkerOf(handle)
	if !ok {
		return nil, unknownWorker(err)
	}
	return f.unregistered(handle, kind)
}

// unregistered is a worker that was launched and has no session id yet.
func (f *Fleet) unregistered(name, kind string) (*Worker, error) {
	h, err := harness.For(kind)
	if err != nil {
		return nil, fmt.Errorf("worker %q: %w", name, err)
	}
	w := &Worker{fleet: f, name: name, harness: h, meta: store.Meta{TmuxName: name, Harness: kind}}
	if s, err := f.root.State(name); err == nil && s.Pending != nil {
		w.meta = *s.Pending
		w.meta.TmuxName, w.meta.SessionID, w.meta.Harness = name, "", kind
	}
	return w, nil
}

func unknownWorker(err error) error {
	return &Error{Hint: "csd list --all shows every worker", Err: err}
}

func (f *Fleet) workerOf(m store.Meta) (*Worker, error) {
	h, err := harness.For(m.Harness)
	if err != nil {
		return nil, fmt.Errorf("worker %q: %w", m.TmuxName, err)
	}
	return &Worker{fleet: f, name: m.TmuxName, harness: h, registered: true, meta: m}, nil
}

// again looks the worker up again: it may have been registered since, or have another session.
func (w *Worker) again() error {
	now, err := w.fleet.Worker(w.name)
	if err != nil {
		return err
	}
	now.unkept = w.unkept
	*w = *now
	return nil
}

// Name is the worker's name, which is that of its tmux session.
func (w *Worker) Name() string { return w.name }

// SessionID is the id of the client's session now; an error for a worker that has none yet.
func (w *Worker) SessionID() (string, error) {
	if err := w.needsID(); err != nil {
		return "", err
	}
	return w.meta.SessionID, nil
}

// EventsFile is the absolute path of the worker's events, which need not be there yet.
func (w *Worker) EventsFile() (string, error) {
	if err := w.needsID(); err != nil {
		return "", err
	}
	return w.events(), nil
}

// needsID is an error for a worker without a session id. To its callers such a worker is not known yet.
func (w *Worker) needsID() error {
	if w.registered {
		return nil
	}
	return failf(fmt.Sprintf("it runs (%s), and gets its session id with its first prompt", w.meta.Harness), "no worker known as '%s'", w.name)
}

func (w *Worker) events() string { return w.fleet.root.EventsFile(w.meta) }

func (w *Worker) server() *tmux.Server { return w.fleet.server(w.meta.TmuxSocket) }

// pane is the pane in which the client runs. errGone says that it runs no more, whatever of it still stands there.
func (w *Worker) pane(ctx context.Context) (tmux.Pane, error) {
	p, err := w.server().Pane(ctx, w.name)
	switch {
	case errors.Is(err, tmux.ErrNoSession), errors.Is(err, tmux.ErrNoPane):
		return p, errGone
	case err != nil:
		return p, err
	case !runs(p):
		return p, errGone
	}
	return p, nil
}

// runs reports whether a client runs in a pane: one that others made, as a tool that restores tmux does, holds a shell.
func runs(p tmux.Pane) bool { return !p.Dead && p.Owner == p.ID }

var errGone = errors.New("its client does not run")

// gone is what to say to a user who wants something of a worker that is gone.
func (w *Worker) gone() error {
	hint := "csd prune removes what it left"
	if w.registered {
		hint = "take its session up again: " + w.adoptWords()
	}
	return failf(hint, "worker %s is gone: its client does not run any more", w.name)
}

// kind is the form of the worker's transcript.
func (w *Worker) kind() transcript.Kind { return w.harness.Kind() }

// transcript is the path of the client's transcript, which may not be there before the first prompt.
func (w *Worker) transcript() string {
	if w.meta.TranscriptPath != "" || w.kind() != transcript.Claude {
		return w.meta.TranscriptPath
	}
	path, err := transcript.FindClaude(w.configDir(), w.meta.CWD, w.meta.SessionID)
	if err != nil {
		return ""
	}
	return path
}

// configDir is where a Claude Code worker has its files.
func (w *Worker) configDir() string {
	if w.meta.ConfigDir != "" {
		return w.meta.ConfigDir
	}
	return filepath.Join(w.fleet.Getenv("HOME"), ".claude")
}

// state is what the worker's events say.
func (w *Worker) state() (event.State, error) { return event.Of(w.events()) }

// end of the worker's events, and 0 where there are none.
func (w *Worker) eventsEnd() (int64, error) {
	n, err := event.Size(w.events())
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return n, err
}
