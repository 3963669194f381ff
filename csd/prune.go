package csd

import (
	"context"
	"errors"

	"github.com/sessevents/sessevents/csd/tmux"
)

// Prune removes what workers that are gone left behind, and files of the root that belong to nobody. It returns the
// names of the workers, and what it removed besides. Where a tmux server cannot be asked it removes nothing: a worker
// of which nothing is known may live.
func (f *Fleet) Prune(ctx context.Context) (names, files []string, err error) {
	workers, err := f.workers("")
	if err != nil {
		return nil, nil, err
	}
	servers, err := f.panes(ctx, workers, f.askEarly(ctx))
	if err != nil {
		return nil, nil, &Error{Text: "nothing is removed, since tmux cannot be asked which workers live", Err: err}
	}
	if _, asked := servers[""]; !asked { // for files whose server nobody knows
		if servers[""], err = f.ask(ctx, ""); err != nil {
			return nil, nil, &Error{Text: "nothing is removed, since tmux cannot be asked which workers live", Err: err}
		}
	}
	sockets := map[string]string{}
	for _, w := range workers {
		sockets[w.name] = w.meta.TmuxSocket
	}
	orphans, err := f.root.Orphans(func(name string) bool {
		pane, err := tmux.Find(servers[sockets[name]][name], name)
		return err == nil && !pane.Dead
	})
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, o := range orphans {
		if err := f.root.Sweep(o); err != nil {
			errs = append(errs, err)
			continue
		}
		if o.Name != "" {
			names = append(names, o.Name)
		} else {
			files = append(files, o.Files...)
		}
	}
	return names, files, errors.Join(errs...)
}
