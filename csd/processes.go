package csd

import (
	"os"
	"strings"

	"github.com/sessevents/sessevents/internal/proc"
)

// found is a process that was seen at a moment; its token tells it from a later one of the same number.
type found struct {
	proc.Process
	token string
}

// census is every process of the machine at a moment, and which of them bear the mark of a worker of this fleet: the
// variables by which everything that a worker started is known, even what has left its process tree. Where a system
// does not show the environment of processes, as macOS does not, none bears one.
type census struct {
	table []proc.Process
	mark  map[int]string // the name of the worker
}

func (f *Fleet) census() census {
	table, err := proc.Table()
	if err != nil {
		return census{}
	}
	c := census{table: table, mark: map[int]string{}}
	for _, p := range table {
		if name := f.markOf(p.PID); name != "" {
			c.mark[p.PID] = name
		}
	}
	return c
}

// markOf is the worker of this fleet that started a process; empty where none did.
func (f *Fleet) markOf(pid int) string {
	name, root := marks(pid)
	if root != f.root.Path() {
		return ""
	}
	return name
}

// marks are the name and the workers' folder of the worker that started a process, both empty where none did.
func marks(pid int) (name, root string) {
	env, err := proc.Environ(pid)
	if err != nil {
		return "", ""
	}
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "CSD_TMUX_NAME="); ok {
			name = v
		} else if v, ok := strings.CutPrefix(e, "CSD_WORKER_DIR="); ok {
			root = v
		}
	}
	if name == "" || root == "" {
		return "", ""
	}
	return name, root
}

// of are the processes of a worker: its client, what descends from it, and what bears its mark. The client's pid is 0
// where it is gone. A tmux server that the worker happened to start, with whatever else lives in it, is no part of it.
func (c census) of(name string, client int) (list []found) {
	ours := map[int]bool{}
	if client > 0 { // what has the parent 0 is the system's
		ours[client] = true
		for _, p := range proc.Tree(c.table, client) {
			ours[p.PID] = true
		}
	}
	for _, p := range c.table {
		if ours[p.PID] || c.mark[p.PID] != name || p.PID == os.Getpid() { // a worker may stop itself
			continue
		}
		ours[p.PID] = true
		for _, child := range proc.Tree(c.table, p.PID) {
			ours[child.PID] = true
		}
	}
	for _, p := range c.table {
		if isTmux(p) && ours[p.PID] {
			delete(ours, p.PID)
			for _, child := range proc.Tree(c.table, p.PID) {
				delete(ours, child.PID)
			}
		}
	}
	return c.found(func(p proc.Process) bool { return ours[p.PID] })
}

// clients are the clients of a worker, in whichever session of whichever tmux server: what bears its mark and is the
// process of a pane. A server that itself bears the mark was started by a tool of the worker, and runs no client.
func (c census) clients(name string) []found {
	servers := map[int]bool{}
	for _, p := range c.table {
		servers[p.PID] = isTmux(p) && c.mark[p.PID] != name
	}
	return c.found(func(p proc.Process) bool { return c.mark[p.PID] == name && servers[p.Parent] })
}

func (c census) found(which func(proc.Process) bool) (list []found) {
	for _, p := range c.table {
		if !which(p) {
			continue
		}
		if token, err := proc.StartToken(p.PID); err == nil {
			list = append(list, found{p, token})
		}
	}
	return list
}

func isTmux(p proc.Process) bool { return strings.HasPrefix(p.Name, "tmux") }

// processes are those of the worker now; see census.
func (w *Worker) processes(client int) []found { return w.fleet.census().of(w.name, client) }
