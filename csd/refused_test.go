package csd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
)

// refusing puts a tmux on the PATH that refuses one of its commands, with words of its own.
func (r *rig) refusing(command string) {
	r.Helper()
	real, err := exec.LookPath("tmux")
	r.must(err)
	dir := filepath.Join(r.dir, "refusing")
	r.must(os.Mkdir(dir, 0o700))
	r.must(os.WriteFile(filepath.Join(dir, "tmux"), []byte(`#!/bin/sh
for a; do [ "$a" = `+command+` ] && { echo "server refused: boom" >&2; exit 1; }; done
exec `+real+` "$@"
`), 0o700))
	r.with("PATH", dir+":"+r.env["PATH"])
	r.Setenv("PATH", r.env["PATH"]) // by which a program is found
}

// TestF19_TmuxRefuses a session, or a pane: its own words are told, nothing is left, and what was there stays.
func TestF19_TmuxRefuses(t *testing.T) {
	for _, kind := range []string{"claude", "codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newQuietRig(t).asUser(kind)
			id := r.remembering(kind, "said", "blue")
			_, err := r.worker("said").Stop(t.Context(), csd.StopOptions{Keep: true})
			r.must(err)
			before := r.files()

			path := r.env["PATH"]
			r.refusing("new-session")
			o := csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w", Dir: r.work, Harness: kind}, SessionID: id}
			_, err = r.fleet().Launch(t.Context(), o.LaunchOptions)
			r.fails(err, csd.Failed, "server refused: boom")
			_, err = r.fleet().Adopt(t.Context(), o)
			r.fails(err, csd.Failed, "server refused: boom")
			if _, err := r.fleet().Worker("w"); err == nil {
				t.Error("a worker is left")
			}
			if got := r.sessions(); len(got) != 0 {
				t.Errorf("sessions %v", got)
			}
			if _, _, err := r.fleet().Prune(t.Context()); err != nil { // what an adoption prepared is of nobody
				t.Error(err)
			}
			if now := r.files(); strings.Join(now, "\n") != strings.Join(before, "\n") {
				t.Errorf("files\n%v\nwere\n%v", now, before)
			}

			r.with("PATH", path)
			r.Setenv("PATH", path)
			r.must(r.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-c", r.work, "/bin/sh").Run())
			shell := r.client("w")
			r.must(os.RemoveAll(filepath.Join(r.dir, "refusing")))
			r.refusing("respawn-pane")
			_, err = r.fleet().Adopt(t.Context(), o)
			r.fails(err, csd.Failed, "server refused: boom")
			if strings.Count(err.Error(), "\n") != 0 {
				t.Errorf("more than the reason: %v", err)
			}
			if r.client("w") != shell {
				t.Error("the shell in the pane was ended")
			}
			r.with("PATH", path)
			r.Setenv("PATH", path)
			l, err := r.fleet().Adopt(t.Context(), o)
			r.must(err)
			if !l.InPlace || r.converse("w", "RECALL") != "Recalled: blue" {
				t.Errorf("%+v", l)
			}
		})
	}
}

// TestF19_NoTmux: every command that needs it says so and what to do, and leaves nothing.
func TestF19_NoTmux(t *testing.T) {
	r := newQuietRig(t).asUser("codex")
	r.launch("claude", "w")
	r.converse("w", "hello")
	before := r.files()
	path := r.env["PATH"]
	r.with("PATH", filepath.Join(r.dir, "bin"))
	r.Setenv("PATH", r.env["PATH"])
	f, w := r.fleet(), r.worker("w")
	var errs []error
	for _, kind := range []string{"claude", "codex"} {
		_, err := f.Launch(t.Context(), csd.LaunchOptions{Name: "v", Dir: r.work, Harness: kind})
		errs = append(errs, err)
	}
	_, err := f.Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "v", Dir: r.work}, SessionID: "11111111-2222-4333-8444-555555555555"})
	errs = append(errs, err)
	_, err = f.List(t.Context(), csd.ListOptions{})
	errs = append(errs, err)
	_, _, err = f.Prune(t.Context())
	errs = append(errs, err)
	_, err = w.Status(t.Context(), false)
	errs = append(errs, err)
	_, err = w.Send(t.Context(), "hello")
	errs = append(errs, err)
	_, err = w.Handoff(t.Context())
	errs = append(errs, err)
	_, err = w.Stop(t.Context(), csd.StopOptions{})
	errs = append(errs, err)
	for i, err := range errs {
		r.fails(err, csd.Failed, `"tmux": executable file not found`)
		if got := csd.HintOf(err); got != "install tmux, or put it on the PATH" {
			t.Errorf("hint %d is %q", i, got)
		}
	}
	if now := r.files(); strings.Join(now, "\n") != strings.Join(before, "\n") {
		t.Errorf("files\n%v\nwere\n%v", now, before)
	}
	r.Setenv("PATH", path)
	r.with("PATH", path)
	if got := r.converse("w", "again"); got != "Echo: again" {
		t.Errorf("%q", got)
	}
}

// TestF58_ACleanerTookTheFolder while tmux and the workers in it live. The list is empty, launch says that the session
// is there and leaves it alone, and adopt repairs, with all that was said: of a client whose conversation lies elsewhere.
func TestF58_ACleanerTookTheFolder(t *testing.T) {
	for what, took := range map[string]func(r *rig) string{
		"all of it":  func(r *rig) string { return r.env["CSD_WORKER_DIR"] },
		"the metas":  func(r *rig) string { return filepath.Join(r.env["CSD_WORKER_DIR"], "*.meta") },
		"the index":  func(r *rig) string { return filepath.Join(r.env["CSD_WORKER_DIR"], "names") },
		"the events": func(r *rig) string { return filepath.Join(r.env["CSD_WORKER_DIR"], "*.events.jsonl") },
		"the shims":  func(r *rig) string { return filepath.Join(r.env["CSD_WORKER_DIR"], "bin") },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			id := r.remembering("claude", "w", "blue")
			client := r.client("w")
			paths, err := filepath.Glob(took(r))
			r.must(err)
			if len(paths) != 1 {
				t.Fatalf("took %v", paths)
			}
			r.must(os.RemoveAll(paths[0]))
			lost := what == "all of it" || what == "the metas"

			list, err := r.fleet().List(t.Context(), csd.ListOptions{All: true})
			if err != nil || len(list) != map[bool]int{true: 0, false: 1}[lost] {
				t.Errorf("%+v, %v", list, err)
			}
			o := csd.LaunchOptions{Name: "w", Dir: r.work}
			_, err = r.fleet().Launch(t.Context(), o)
			r.fails(err, csd.Failed, "a tmux session w exists already")
			if lost { // then there is no worker to stop
				r.hints(err, "tmux kill-session -t =w")
			}
			if names, _, err := r.fleet().Prune(t.Context()); err != nil || len(names) != 0 || r.client("w") != client {
				t.Errorf("prune took %v, %v; client %d, was %d", names, err, r.client("w"), client)
			}
			if lost {
				l, err := r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: o, SessionID: id})
				r.must(err)
				if !l.InPlace {
					t.Errorf("%+v", l)
				}
			}
			if got := r.converse("w", "RECALL"); got != "Recalled: blue" {
				t.Errorf("%q", got)
			}
			if s, err := r.worker("w").Status(t.Context(), true); err != nil || s.State != csd.Idle || s.SessionID != id || r.count("w", event.Stop) == 0 {
				t.Errorf("%+v, %v", s, err)
			}
			done, err := r.worker("w").Stop(t.Context(), csd.StopOptions{})
			if err != nil || !done.Was || len(r.sessions()) != 0 {
				t.Errorf("%+v, %v, sessions %v", done, err, r.sessions())
			}
		})
	}
}

// TestF58_TheConversationWentWithTheFolder, as that of codex and pi does: the worker that runs is not ended for it.
func TestF58_TheConversationWentWithTheFolder(t *testing.T) {
	for _, kind := range []string{"codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			id := r.remembering(kind, "w", "blue")
			client := r.client("w")
			r.must(os.RemoveAll(r.env["CSD_WORKER_DIR"]))
			o := csd.LaunchOptions{Name: "w", Dir: r.work, Harness: kind}
			_, err := r.fleet().Launch(t.Context(), o)
			r.fails(err, csd.Failed, "a tmux session w exists already")
			_, err = r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: o, SessionID: id})
			r.fails(err, csd.Failed, "nothing is left of session "+id)
			if names, _, err := r.fleet().Prune(t.Context()); err != nil || len(names) != 0 || r.client("w") != client {
				t.Errorf("prune took %v, %v; client %d, was %d", names, err, r.client("w"), client)
			}
		})
	}
}
