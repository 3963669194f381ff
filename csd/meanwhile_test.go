package csd_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/internal/proc"
)

// leave makes a worker's tool leave a process behind that does not end when it is asked to, so that who ends it is busy
// for seconds. asked reports whether it was asked.
func (r *rig) leave(name string) (asked func() bool) {
	r.Helper()
	if _, err := proc.Environ(os.Getpid()); err != nil {
		r.Skip(err)
	}
	script := filepath.Join(r.dir, name+".sh")
	r.must(os.WriteFile(script, []byte("#!/bin/sh\ntrap ': >"+script+".asked' TERM\ntrap '' HUP\n: >"+script+".runs\nwhile :; do sleep 0.1; done\n"), 0o700))
	r.converse(name, "TOOL "+script+" >/dev/null 2>&1 &\nANSWER done")
	is := func(end string) func() bool {
		return func() bool { _, err := os.Lstat(script + end); return err == nil }
	}
	r.eventually("what "+name+" leaves running", is(".runs"))
	return is(".asked")
}

// TestStop_TakesNothingOfAWorkerLaunchedMeanwhile under the same name: its client would run on, known to no command.
func TestStop_TakesNothingOfAWorkerLaunchedMeanwhile(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "other") // keeps the tmux server
	w := r.launch("claude", "w")
	asked := r.leave("w")
	stopped := make(chan error, 2)
	stop := func(w *csd.Worker) {
		_, err := w.Stop(context.WithoutCancel(t.Context()), csd.StopOptions{})
		stopped <- err
	}
	go stop(w)
	r.eventually("the end of the client", asked)
	r.eventually("a launch", func() bool {
		_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work})
		if err != nil && !errors.Is(err, store.ErrReserved) {
			t.Fatal(err)
		}
		return err == nil
	})
	r.must(<-stopped)
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	// Of two that stop a worker at once, the second finds none.
	w, again := r.worker("w"), r.worker("w")
	go stop(w)
	go stop(again)
	if first, second := <-stopped, <-stopped; (first == nil) == (second == nil) || !strings.Contains(errors.Join(first, second).Error(), "no worker known as 'w'") {
		t.Errorf("%v, %v", first, second)
	}
}

// TestPrune_LeavesAWorkerAdoptedMeanwhile while it ends what another one left running.
func TestPrune_LeavesAWorkerAdoptedMeanwhile(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "other")
	for _, name := range []string{"a", "b"} {
		r.launch("claude", name)
	}
	asked := r.leave("a")
	r.converse("b", "REMEMBER the plan")
	id, err := r.worker("b").SessionID()
	r.must(err)
	for _, name := range []string{"a", "b"} {
		r.must(r.tmux("kill-session", "-t", "="+name).Run())
	}
	pruned := make(chan []string, 1)
	fleet := r.fleet()
	go func() {
		names, _, err := fleet.Prune(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Error(err)
		}
		pruned <- names
	}()
	r.eventually("prune at work", asked)
	r.eventually("an adoption", func() bool {
		_, err := r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "b", Dir: r.work}, SessionID: id})
		if err != nil && !errors.Is(err, store.ErrReserved) {
			t.Fatal(err)
		}
		return err == nil
	})
	<-pruned
	if got := r.converse("b", "RECALL"); got != "Recalled: the plan" {
		t.Errorf("%q", got)
	}
}

// TestStatus_OfAWorkerThatIsBeingLaunched is not gone: a watcher would tell of an end that never was.
func TestStatus_OfAWorkerThatIsBeingLaunched(t *testing.T) {
	r := newRig(t)
	root, err := store.Open(func(name string) string { return r.env[name] })
	r.must(err)
	r.must(root.Make())
	r.must(root.Put(store.Meta{TmuxName: "w", SessionID: "0c5ef6d6-0001", CWD: r.work, Harness: "claude"}))
	r.must(root.Mark("v", "codex"))
	for _, want := range []string{csd.Unknown, csd.Gone} {
		var releases []func()
		for _, name := range []string{"w", "v"} {
			if want == csd.Unknown {
				release, err := root.Reserve(name)
				r.must(err)
				releases = append(releases, release)
			}
		}
		list, err := r.fleet().List(t.Context(), csd.ListOptions{All: true, Detail: true})
		if err != nil || len(list) != 2 || list[0].State != want || list[1].State != want {
			t.Errorf("want %s: %+v, %v", want, list, err)
		}
		for _, release := range releases {
			release()
		}
	}
}

// TestAdopt_OfOneSessionOnce, whatever names the callers want for it: two clients on one session lose what the other
// says, and one of them would be known to no command.
func TestAdopt_OfOneSessionOnce(t *testing.T) {
	for _, kind := range []string{"claude", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t)
			r.launch("claude", "other") // keeps the tmux server
			r.launch(kind, "w")
			r.converse("w", "REMEMBER the plan")
			id, err := r.worker("w").SessionID()
			r.must(err)
			_, err = r.worker("w").Stop(t.Context(), csd.StopOptions{Keep: true})
			r.must(err)
			names := []string{"a", "b", "c", "d"}
			errs := make(chan error, len(names))
			for _, name := range names {
				fleet := r.fleet()
				go func() {
					_, err := fleet.Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: name, Dir: r.work, Harness: kind}, SessionID: id})
					errs <- err
				}()
			}
			won := 0
			for range names {
				switch err := <-errs; {
				case err == nil:
					won++
				case csd.KindOf(err) != csd.Failed || !errors.Is(err, store.ErrReserved) && !strings.Contains(err.Error(), "belongs to the worker"):
					t.Error(err)
				}
			}
			if got := r.sessions(); won != 1 || len(got) != 2 {
				t.Fatalf("%d have the session; tmux has %v", won, got)
			}
			w := r.worker(id)
			if got := r.converse(w.Name(), "RECALL"); got != "Recalled: the plan" {
				t.Errorf("%q", got)
			}
			// Nor of a worker that is being stopped.
			r.must(r.tmux("kill-session", "-t", "="+w.Name()).Run())
			r.eventually("the end", func() bool { return r.state(w.Name()) == csd.Gone })
			root, err := store.Open(func(name string) string { return r.env[name] })
			r.must(err)
			release, err := root.Reserve(w.Name())
			r.must(err)
			again := csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "late", Dir: r.work, Harness: kind}, SessionID: id}
			_, err = r.fleet().Adopt(t.Context(), again)
			r.fails(err, csd.Failed, "adopt the session of worker "+w.Name())
			release()
			again.Name = id // a name that is the session's own
			_, err = r.fleet().Adopt(t.Context(), again)
			if err == nil || errors.Is(err, store.ErrReserved) {
				t.Error(err)
			}
			again.Name = "late"
			_, err = r.fleet().Adopt(t.Context(), again)
			r.must(err)
			if got := r.converse("late", "RECALL"); got != "Recalled: the plan" {
				t.Errorf("%q", got)
			}
		})
	}
}
