package csd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/internal/parallel"
)

// ListOptions say what to list.
type ListOptions struct {
	All     bool   // also workers that are gone
	Pattern string // only names that hold this
	Detail  bool   // see Worker.Status
}

// List returns the workers by name, and those that have no session id yet among them. It asks each tmux server once,
// however many workers there are.
func (f *Fleet) List(ctx context.Context, o ListOptions) ([]Status, error) {
	early := f.askEarly(ctx) // tmux answers while files are read
	workers, err := f.workers(o.Pattern)
	if err != nil {
		return nil, err
	}
	sockets := make([]string, len(workers))
	for i, w := range workers {
		sockets[i] = w.meta.TmuxSocket
	}
	servers, err := f.panes(ctx, sockets, early)
	if err != nil {
		return nil, err
	}
	list := make([]Status, len(workers))
	errs := make([]error, len(workers))
	parallel.Each(len(workers), func(i int) {
		w := workers[i]
		pane, err := tmux.Find(servers[w.meta.TmuxSocket][w.name], w.name)
		list[i], errs[i] = w.status(ctx, pane, err == nil && runs(pane))
		if errs[i] == nil && o.Detail && (o.All || list[i].State != Gone) {
			errs[i] = w.detail(ctx, &list[i])
		}
	})
	for i, err := range errs { // one worker's files are no reason not to show the others
		if err == nil {
			continue
		}
		if _, find := f.root.Find(workers[i].name); find != nil {
			list[i].Name = "" // stopped just now
			continue
		}
		list[i].Error = err.Error()
		f.note("note: worker %s: %v", workers[i].name, err)
	}
	list = slices.DeleteFunc(list, func(s Status) bool { return s.Name == "" })
	if !o.All {
		list = slices.DeleteFunc(list, func(s Status) bool { return s.State == Gone })
	}
	if o.Detail {
		f.worktrees(ctx, list)
	}
	return list, nil
}

// workers returns all workers whose name holds pattern, by name.
func (f *Fleet) workers(pattern string) (list []*Worker, err error) {
	metas, broken, markers, err := f.root.Matching(pattern)
	if err != nil {
		return nil, err
	}
	for _, b := range broken {
		f.note("note: %s is passed over: %v", b.File, b.Err)
	}
	seen := map[string]bool{}
	for _, m := range metas {
		seen[m.TmuxName] = true
		w, err := f.workerOf(m)
		if err != nil {
			f.note("note: %v", err)
			continue
		}
		list = append(list, w)
	}
	for _, m := range markers {
		if seen[m.Name] {
			continue
		}
		if w, err := f.unregistered(m.Name, m.Harness); err == nil {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b *Worker) int { return cmp.Compare(a.name, b.name) })
	return list, nil
}

// sessions are the panes of a tmux server by the names of their sessions.
type sessions map[string][]tmux.Pane

func (f *Fleet) ask(ctx context.Context, socket string) (sessions, error) {
	panes, err := f.server(socket).Panes(ctx)
	byName := sessions{}
	for _, p := range panes {
		byName[p.Session] = append(byName[p.Session], p)
	}
	return byName, err
}

// early is a question to the tmux server that most workers, or all, are in, which was asked before their files told so.
type early struct {
	socket string
	answer func() (sessions, error)
}

// askEarly asks the server that a launch would use now.
func (f *Fleet) askEarly(ctx context.Context) early {
	socket, _, _ := strings.Cut(f.Getenv("TMUX"), ",")
	if socket == "" {
		dir := f.Getenv("TMUX_TMPDIR")
		if dir == "" {
			dir = "/tmp"
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		socket = filepath.Join(dir, fmt.Sprintf("tmux-%d", os.Getuid()), "default")
	}
	type answer struct {
		sessions
		err error
	}
	answered := make(chan answer, 1)
	go func() { // ends by itself: each question has its time
		s, err := f.ask(ctx, socket)
		answered <- answer{s, err}
	}()
	return early{socket, func() (sessions, error) { a := <-answered; return a.sessions, a.err }}
}

// panes asks every tmux server among those at sockets once.
func (f *Fleet) panes(ctx context.Context, sockets []string, asked early) (map[string]sessions, error) {
	first, firstErr := asked.answer()
	servers := map[string]sessions{}
	for _, socket := range sockets {
		if _, known := servers[socket]; known {
			continue
		}
		panes, err := first, firstErr
		if socket != asked.socket {
			panes, err = f.ask(ctx, socket)
		}
		if err != nil {
			return nil, err
		}
		servers[socket] = panes
	}
	return servers, nil
}

// worktrees asks git once for each folder.
func (f *Fleet) worktrees(ctx context.Context, list []Status) {
	folders := map[string]*Worktree{}
	var dirs []string
	for _, s := range list {
		if _, known := folders[s.CWD]; !known && s.CWD != "" {
			folders[s.CWD] = nil
			dirs = append(dirs, s.CWD)
		}
	}
	var mu sync.Mutex
	parallel.Each(len(dirs), func(i int) {
		t := worktreeOf(ctx, dirs[i], f.Environ)
		mu.Lock()
		defer mu.Unlock()
		folders[dirs[i]] = t
	})
	for i := range list {
		list[i].Worktree = folders[list[i].CWD]
	}
}

// Name is a worker's name and harness.
type Name struct{ Name, Harness string }

// Names are all workers, as far as their files can be read; tmux is not asked.
func (f *Fleet) Names() (names []Name) {
	workers, err := f.workers("")
	if err != nil {
		return nil
	}
	for _, w := range workers {
		names = append(names, Name{w.name, w.meta.Harness})
	}
	return names
}
