package csd_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/internal/proc"
)

// TestF12_F21_ANameThatLivesOnAnotherServer is nobody else's: neither a launch nor an adoption takes it or touches the
// worker's files, and each says where the worker runs.
func TestF12_F21_ANameThatLivesOnAnotherServer(t *testing.T) {
	for _, kind := range []string{"claude", "codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			donated := r.remembering(kind, "donor", "green")
			_, err := r.worker("donor").Stop(t.Context(), csd.StopOptions{Keep: true})
			r.must(err)

			r.launch(kind, "w") // one of codex has only a marker now
			r.launch(kind, "said")
			r.converse("said", "REMEMBER blue")
			before := r.files()
			back := r.elsewhere("other")
			f := r.fleet()
			for _, name := range []string{"w", "said"} {
				_, err = f.Launch(t.Context(), csd.LaunchOptions{Name: name, Dir: r.work, Harness: kind})
				r.fails(err, csd.Failed, "runs already, in the tmux server at "+r.dir)
				r.hints(err, "csd --worker "+name+" stop")
				_, err = f.Launch(t.Context(), csd.LaunchOptions{Name: name, Dir: r.work, Harness: "claude", Args: []string{"--bad"}})
				r.fails(err, csd.Failed, "runs already")
				_, err = f.Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: name, Dir: r.work, Harness: kind}, SessionID: donated})
				r.fails(err, csd.Failed, "runs already")
			}
			if now := r.files(); strings.Join(now, "\n") != strings.Join(before, "\n") {
				t.Errorf("files\n%v\nwere\n%v", now, before)
			}
			if got := r.sessions(); len(got) != 0 {
				t.Errorf("sessions of the other server: %v", got)
			}
			if got := r.converse("said", "RECALL"); got != "Recalled: blue" { // from there too
				t.Errorf("%q", got)
			}
			back()
			if got := r.converse("w", "hello"); got != "Echo: hello" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestF12_AServerThatCannotBeAsked keeps its workers' names, and their sessions.
func TestF12_AServerThatCannotBeAsked(t *testing.T) {
	r := newRig(t)
	id := r.remembering("claude", "w", "blue")
	before := r.files()
	socket, err := r.tmux("display-message", "-p", "#{socket_path}").Output()
	r.must(err)
	path := strings.TrimSpace(string(socket))
	r.must(os.Rename(path, path+".away"))
	foreign, err := net.Listen("unix", path) // some other program has the name now
	r.must(err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := foreign.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	back := r.elsewhere("other")
	for _, name := range []string{"w", "v"} {
		o := csd.LaunchOptions{Name: name, Dir: r.work}
		if name == "w" {
			_, err = r.fleet().Launch(t.Context(), o)
			r.fails(err, csd.Failed, "may run still")
		}
		_, err = r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: o, SessionID: id})
		r.fails(err, csd.Failed, "may run still")
	}
	if now := r.files(); strings.Join(now, "\n") != strings.Join(before, "\n") {
		t.Errorf("files\n%v\nwere\n%v", now, before)
	}
	back()
	r.must(foreign.Close())
	<-served
	r.must(os.Rename(path+".away", path))
	if got := r.converse("w", "RECALL"); got != "Recalled: blue" {
		t.Errorf("%q", got)
	}
}

// TestF21_AClientOutsideOfItsSession keeps the name too: its session was given another name, or the worker's files were
// removed, while the client goes on.
func TestF21_AClientOutsideOfItsSession(t *testing.T) {
	if _, err := proc.Environ(os.Getpid()); err != nil {
		t.Skip(err)
	}
	r := newRig(t)
	r.launch("claude", "w")
	r.must(r.tmux("rename-session", "-t", "=w", "mine").Run())
	_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work})
	r.fails(err, csd.Failed, "runs still, in process")
	r.hints(err, "csd --worker w stop")
	r.must(r.tmux("rename-session", "-t", "=mine", "w").Run())
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}

	r.must(os.RemoveAll(r.env["CSD_WORKER_DIR"]))
	defer r.elsewhere("other")()
	_, err = r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w", Dir: r.work})
	r.fails(err, csd.Failed, "runs still, in process")
	r.hints(err, "kill ")
}

// TestF21_TheSessionIDOfAWorkerIsNoName: a launch under it would remove that worker's files.
func TestF21_TheSessionIDOfAWorkerIsNoName(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	id, err := r.worker("w").SessionID()
	r.must(err)
	_, err = r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: id, Dir: r.work})
	r.fails(err, csd.Failed, "is the session id of the worker w")
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}

// TestF21_AWorkerOfAnotherFolder is not taken over by an adoption into its tmux session.
func TestF21_AWorkerOfAnotherFolder(t *testing.T) {
	if _, err := proc.Environ(os.Getpid()); err != nil {
		t.Skip(err)
	}
	r := newRig(t)
	donated := r.remembering("claude", "donor", "green")
	_, err := r.worker("donor").Stop(t.Context(), csd.StopOptions{})
	r.must(err)
	r.launch("claude", "w")
	here := r.env["CSD_WORKER_DIR"]
	r.with("CSD_WORKER_DIR", filepath.Join(r.dir, "workers2"))
	o := csd.LaunchOptions{Name: "w", Dir: r.work}
	_, err = r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: o, SessionID: donated})
	r.fails(err, csd.Failed, "a worker of the folder "+here)
	_, err = r.fleet().Launch(t.Context(), o)
	r.fails(err, csd.Failed, "exists already")
	r.hints(err, here)
	r.with("CSD_WORKER_DIR", here)
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}

// TestF11_ARestoredShellIsNoClient: a tool brought the tmux session back after a reboot, with a shell in it. It is given
// no prompt and no /exit, and adopt takes its pane.
func TestF11_ARestoredShellIsNoClient(t *testing.T) {
	r := newRig(t)
	id := r.remembering("claude", "w", "blue")
	restore := func() {
		r.endServer()
		r.must(r.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-c", r.work, "/bin/sh").Run())
	}
	restore()
	if s := r.state("w"); s != csd.Gone {
		t.Errorf("status %s", s)
	}
	if list, err := r.fleet().List(t.Context(), csd.ListOptions{All: true}); err != nil || len(list) != 1 || list[0].State != csd.Gone {
		t.Errorf("%+v, %v", list, err)
	}
	_, err := r.worker("w").Send(t.Context(), "touch made-by-a-shell")
	r.fails(err, csd.Failed, "is gone")
	o := csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w", Dir: r.work}, SessionID: id}
	r.with("FAKE_EXIT", "3")
	_, err = r.fleet().Adopt(t.Context(), o)
	r.fails(err, csd.Failed, "3")
	if s := r.state("w"); s != csd.Gone { // a shell stands there again
		t.Errorf("status %s", s)
	}
	delete(r.env, "FAKE_EXIT")
	l, err := r.fleet().Adopt(t.Context(), o)
	if err != nil || !l.InPlace || r.converse("w", "RECALL") != "Recalled: blue" {
		t.Errorf("%+v, %v", l, err)
	}
	restore()
	done, err := r.worker("w").Stop(t.Context(), csd.StopOptions{})
	if err != nil || done.Was || len(r.sessions()) != 1 {
		t.Errorf("%+v, %v, sessions %v", done, err, r.sessions())
	}
}

// TestAdopt_UnderAnotherName: the session of a worker that is gone goes on as a worker of that name; where it cannot,
// the old one is as it was.
func TestAdopt_UnderAnotherName(t *testing.T) {
	for _, kind := range []string{"claude", "codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			id := r.remembering(kind, "w", "blue")
			r.must(r.tmux("kill-session", "-t", "=w").Run())
			r.eventually("the end", func() bool { return r.state("w") == csd.Gone })
			o := csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "v", Dir: r.work, Harness: kind}, SessionID: id}
			r.with("FAKE_EXIT", "3")
			_, err := r.fleet().Adopt(t.Context(), o)
			r.fails(err, csd.Failed, "3")
			if now, err := r.worker("w").SessionID(); err != nil || now != id {
				t.Errorf("session %s, was %s; %v", now, id, err)
			}
			_, err = r.fleet().Worker("v")
			r.fails(err, csd.Failed, "no worker known")
			delete(r.env, "FAKE_EXIT")
			_, err = r.fleet().Adopt(t.Context(), o)
			r.must(err)
			if got := r.converse("v", "RECALL"); got != "Recalled: blue" {
				t.Errorf("%q", got)
			}
			_, err = r.fleet().Worker("w")
			r.fails(err, csd.Failed, "no worker known")
		})
	}
}
