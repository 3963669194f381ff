package csd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/internal/proc"
)

// Prune removes what workers that are gone left behind, and files of the root that belong to nobody. It returns the
// names of the workers, and what it removed besides; what their tools had left running is ended, and noted. Where a tmux
// server cannot be asked it removes nothing: a worker of which nothing is known may live. For the same reason a worker
// stays whose client runs outside of its session.
func (f *Fleet) Prune(ctx context.Context) (names, files []string, err error) {
	orphans, err := f.orphans(ctx, func(name string) bool { return !f.root.Reserved(name) })
	if err != nil || len(orphans) == 0 {
		return nil, nil, err
	}
	// Each name is ours from here on, and then all is asked once more: a worker that was launched or adopted in the
	// meantime is alive.
	var errs []error
	reserved := map[string]bool{}
	for _, o := range orphans {
		if o.Name == "" {
			continue
		}
		release, err := f.root.Reserve(o.Name)
		switch {
		case err == nil:
			reserved[o.Name] = true
			defer release()
		case !errors.Is(err, store.ErrReserved):
			errs = append(errs, err)
		}
	}
	orphans, err = f.orphans(ctx, func(name string) bool { return reserved[name] })
	if err != nil {
		return nil, nil, errors.Join(append(errs, err)...)
	}
	for _, o := range orphans { // first, since the others take their time
		if o.Name != "" {
			continue
		}
		if err := f.root.Sweep(o); err != nil {
			errs = append(errs, err)
		} else {
			files = append(files, o.Files...)
		}
	}
	before := f.census()
	for _, o := range orphans {
		if o.Name == "" {
			continue
		}
		pruned, err := f.prune(ctx, o, before)
		if err != nil {
			errs = append(errs, err)
		} else if pruned {
			names = append(names, o.Name)
		}
	}
	return names, files, errors.Join(errs...)
}

// orphans are what no live worker needs, of names that may be touched.
func (f *Fleet) orphans(ctx context.Context, may func(name string) bool) ([]store.Orphan, error) {
	sockets, err := f.sockets()
	if err != nil {
		return nil, err
	}
	asked := []string{""} // for files whose server nobody knows
	for _, socket := range sockets {
		asked = append(asked, socket)
	}
	servers, err := f.panes(ctx, asked, f.askEarly(ctx))
	if err != nil {
		return nil, &Error{Text: "nothing is removed, since tmux cannot be asked which workers live", Err: err}
	}
	return f.root.Orphans(func(name string) bool {
		pane, err := tmux.Find(servers[sockets[name]][name], name)
		return (err != nil || pane.Dead) && may(name)
	})
}

// sockets are the tmux servers of all workers by name, also of those whose harness this version does not know.
func (f *Fleet) sockets() (map[string]string, error) {
	metas, _, markers, err := f.root.Matching("")
	if err != nil {
		return nil, err
	}
	sockets := map[string]string{}
	for _, m := range markers {
		if s, err := f.root.State(m.Name); err == nil && s.Pending != nil {
			sockets[m.Name] = s.Pending.TmuxSocket
		}
	}
	for _, m := range metas {
		sockets[m.TmuxName] = m.TmuxSocket
	}
	return sockets, nil
}

// prune removes one worker that is gone, unless its client runs still.
func (f *Fleet) prune(ctx context.Context, o store.Orphan, before census) (pruned bool, err error) {
	for _, p := range before.clients(o.Name) {
		if outlives(ctx, p) {
			f.note("note: worker %s stays: its client runs still, in process %d, though in no tmux session of its name", o.Name, p.PID)
			return false, nil
		}
	}
	ended, survivors, err := endAll(before.of(o.Name, 0))
	if len(ended) > 0 {
		f.note("note: ended what worker %s had left running: %s", o.Name, processWords(ended))
	}
	if len(survivors) > 0 {
		f.note("note: what worker %s had left running does not end: %s", o.Name, processWords(survivors))
	}
	if w, known := f.known(o.Name); known == nil && w != nil && w.name == o.Name {
		w.giveBack(ctx)
	}
	return true, errors.Join(err, f.root.Sweep(o))
}

// processWords are processes as a person reads them.
func processWords(list []proc.Process) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = fmt.Sprintf("%d (%s)", p.PID, p.Name)
	}
	return strings.Join(words, ", ")
}
