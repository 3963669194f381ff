package csd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/internal/shellwords"
)

// free returns nil where no worker that runs, or may run, has the name: a new one of the name would take its files, and
// nobody could end it any more. The caller's tmux server alone does not tell that: the worker may be on another one, its
// session may have another name now, or its files may be gone. spared is the process of a pane that is to be taken over;
// 0 if there is none.
func (f *Fleet) free(ctx context.Context, name string, spared int) error {
	w, err := f.known(name)
	if err != nil {
		return err
	}
	if w != nil {
		if w.name != name {
			return failf("choose another name", "%s is the session id of the worker %s", name, w.name)
		}
		if err := w.mustBeGone(ctx); err != nil {
			return err
		}
	}
	for _, p := range f.census().clients(name) {
		if p.PID == spared || !outlives(ctx, p) {
			continue
		}
		hint := fmt.Sprintf("choose another name, or end it: kill %d", p.PID)
		if w != nil {
			hint = "choose another name, or end it: " + stopWords(name)
		}
		return failf(hint, "the client of a worker %s runs still, in process %d", name, p.PID)
	}
	return nil
}

// known is the worker with a name or session id, nil where there is none.
func (f *Fleet) known(handle string) (*Worker, error) {
	w, err := f.Worker(handle)
	if unknown := (*store.UnknownError)(nil); errors.As(err, &unknown) {
		return nil, nil
	}
	return w, err
}

// mustBeGone returns nil where the worker's tmux server says that its client does not run.
func (w *Worker) mustBeGone(ctx context.Context) error {
	_, err := w.pane(ctx)
	switch {
	case err == nil:
		return failf("choose another name, or end it: "+stopWords(w.name), "the worker %s runs already%s", w.name, w.whereElse(ctx))
	case errors.Is(err, errGone):
		return nil
	}
	return &Error{Text: fmt.Sprintf("the worker %s may run still", w.name), Hint: "choose another name", Err: err}
}

func stopWords(name string) string { return fmt.Sprintf("csd --worker %s stop", name) }

// whereElse names the tmux server of the worker, where it is not the one that tmux itself would talk to.
func (w *Worker) whereElse(ctx context.Context) string {
	if server := w.tmuxWords(ctx); server != "tmux" {
		return ", in the tmux server at " + w.meta.TmuxSocket
	}
	return ""
}

// tmuxWords is how a person calls tmux so that it talks to the server of the worker.
func (w *Worker) tmuxWords(ctx context.Context) string {
	if own, err := w.fleet.server("").SocketPath(ctx); err == nil && own == w.meta.TmuxSocket {
		return "tmux"
	}
	return tmuxAt(w.meta.TmuxSocket)
}

// tmuxAt is how a person calls tmux so that it talks to the server at a socket.
func tmuxAt(socket string) string {
	if socket == "" {
		return "tmux"
	}
	return "tmux -S " + shellwords.Quote(socket)
}

// outlives reports whether a client goes on, after the time that one needs to end when its terminal has gone.
func outlives(ctx context.Context, p found) bool {
	ctx, cancel := context.WithTimeout(ctx, hangupGrace)
	defer cancel()
	return len(awaitEnds(ctx, []found{p})) > 0
}

// taken is the error for a tmux session that has the name of a worker to be launched.
func (f *Fleet) taken(ctx context.Context, name string, pane tmux.Pane) error {
	hint := fmt.Sprintf("choose another name, or end it: tmux kill-session -t =%s", name)
	if w, err := f.known(name); err == nil && w != nil && w.name == name && pane.Owner != "" && w.tmuxWords(ctx) == "tmux" {
		hint = "choose another name, or end it: " + stopWords(name)
	} else if root := f.foreignRoot(pane, name); root != "" {
		hint = "choose another name: a worker of the folder " + root + " runs in it"
	}
	return failf(hint, "a tmux session %s exists already", name)
}

// foreignRoot is the other folder of workers that the client in a pane belongs to; empty if there is none such.
func (f *Fleet) foreignRoot(pane tmux.Pane, name string) string {
	if pane.Dead || pane.PID == 0 {
		return ""
	}
	if of, root := marks(pane.PID); of == name && root != f.root.Path() {
		return root
	}
	return ""
}

// clear removes what a worker of that name, gone now, left behind. What it said is kept where its harness keeps it.
func (f *Fleet) clear(ctx context.Context, name string) error {
	w, err := f.known(name)
	if w == nil || err != nil {
		return err
	}
	w.giveBack(ctx)
	if w.registered {
		if err := w.harness.Keep(ctx, w.forHarness(), w.meta); err != nil {
			return &Error{Text: fmt.Sprintf("keep the session of the worker %s that was here before", name), Hint: "choose another name, or csd prune", Err: err}
		}
	}
	return w.remove()
}

// giveBack copies a login that the worker renewed back to where it came from.
func (w *Worker) giveBack(ctx context.Context) {
	if err := w.harness.Return(ctx, w.forHarness()); err != nil {
		w.fleet.note("note: a renewed login of worker %s is not copied back: %v", w.name, err)
	}
}

// adoptWords are what a person types to take the session of a worker up again, with the arguments that it had.
func (w *Worker) adoptWords() string {
	var args []string
	if i := slices.Index(w.meta.Invocation, "--"); i >= 0 {
		args = w.meta.Invocation[i+1:]
	}
	words := "csd " + shellwords.Join(reproduce("adopt", w.meta.Harness, w.name, w.meta.CWD, w.meta.SessionID, args))
	if root := w.fleet.root.Path(); root != store.DefaultPath { // a shim knows it, and the caller may not
		return "CSD_WORKER_DIR=" + shellwords.Quote(root) + " " + words
	}
	return words
}

// forHarness is the worker as its harness knows it.
func (w *Worker) forHarness() harness.Worker {
	return harness.Worker{
		Name: w.name, CWD: w.meta.CWD, SessionID: w.meta.SessionID, Home: w.fleet.root.Home(w.name), Root: w.fleet.root,
		Getenv: w.fleet.Getenv, Environ: w.fleet.Environ,
	}
}

// attachWords are what a person types to see the worker.
func (w *Worker) attachWords(ctx context.Context) string {
	return fmt.Sprintf("%s attach -t =%s", w.tmuxWords(ctx), w.name)
}
