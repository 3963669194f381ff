package csd_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
)

// smallDisk gives the workers a file system of a few pages.
func (r *rig) smallDisk() (dir string) {
	r.Helper()
	dir = filepath.Join(r.dir, "disk")
	r.must(os.Mkdir(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		r.Skipf("needs the right to mount a small file system: %v", err)
	}
	r.Cleanup(func() {
		r.with("TMUX_TMPDIR", r.dir)
		_ = r.tmux("kill-server").Run()
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	})
	r.with("CSD_WORKER_DIR", filepath.Join(dir, "workers"))
	return dir
}

// fill leaves no page free.
func (r *rig) fill(dir string) {
	r.Helper()
	f, err := os.Create(filepath.Join(dir, "fill"))
	r.must(err)
	for page := make([]byte, 4096); err == nil; {
		_, err = f.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		r.Fatal(err)
	}
	r.must(f.Close())
}

// fillAll leaves not a byte free, not even on the last page of a worker's events.
func (r *rig) fillAll(name, disk string) {
	r.Helper()
	path, err := r.worker(name).EventsFile()
	r.must(err)
	info, err := os.Stat(path)
	r.must(err)
	r.fill(disk)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	r.must(err)
	for blank := []byte("\n"); info.Size()%page != 0; info, err = f.Stat() { // not a byte is free
		r.must(err)
		_, err = f.Write(blank)
		r.must(err)
	}
	r.must(f.Close())
}

// page is that of the file system: what still has room on a page can be appended on a full disk.
const page = 4096

// TestFullDisk_WhatIsToldStaysTrue: the count of turns, waits and prompts do not rest on what csd writes down for the
// next look.
func TestFullDisk_WhatIsToldStaysTrue(t *testing.T) {
	r := newRig(t)
	disk := r.smallDisk()
	r.launch("claude", "w")
	r.converse("w", "first")
	path, err := r.worker("w").EventsFile()
	r.must(err)
	turns := 1
	for room := 0; room < page/2; turns++ { // for the events of one more prompt
		r.converse("w", "another")
		info, err := os.Stat(path)
		r.must(err)
		room = page - int(info.Size()%page)
	}
	told := func(when string, turns int) {
		t.Helper()
		list, err := r.fleet().List(t.Context(), csd.ListOptions{Detail: true})
		if err != nil || len(list) != 1 || list[0].Turns != turns || list[0].State != csd.Idle || list[0].Error != "" {
			t.Errorf("%s: list %+v, %v; want %d turns", when, list, err, turns)
		}
		s, err := r.worker("w").Status(t.Context(), true)
		if err != nil || s.Turns != turns || s.State != csd.Idle {
			t.Errorf("%s: status %+v, %v; want %d turns", when, s, err, turns)
		}
		if e, err := r.waits("w", 0); err != nil || e.Event.Name != event.Stop {
			t.Errorf("%s: %+v, %v", when, e, err)
		}
		_, err = r.worker("w").WaitForTurn(t.Context(), csd.WaitOptions{Timeout: 1, AfterLine: -1})
		r.fails(err, csd.TimedOut, "retry_after_line: ")
	}
	told("before", turns)
	r.must(os.Remove(filepath.Join(r.env["CSD_WORKER_DIR"], "w.seen")))
	r.fill(disk)
	told("full", turns)
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	told("full, one more", turns+1)

	r.must(syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	told("read only", turns+1)
	if kind := csd.KindOf(func() error { _, err := r.worker("w").Stop(t.Context(), csd.StopOptions{}); return err }()); kind != csd.Failed {
		t.Errorf("stop: kind %d", kind)
	}
	list, err := r.fleet().List(t.Context(), csd.ListOptions{Detail: true, All: true})
	if err != nil || len(list) != 1 || list[0].State != csd.Gone || list[0].Turns != turns+1 {
		t.Errorf("%+v, %v", list, err)
	}
	r.must(syscall.Mount("", disk, "", syscall.MS_REMOUNT, "size=256k"))
	r.must(os.Remove(filepath.Join(disk, "fill")))
	if names, _, err := r.fleet().Prune(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestFullDisk_ADeadWorkerEndsAWait, though its end cannot be written down.
func TestFullDisk_ADeadWorkerEndsAWait(t *testing.T) {
	r := newRig(t)
	disk := r.smallDisk()
	r.launch("claude", "w")
	_, err := r.worker("w").Send(t.Context(), "HANG")
	r.must(err)
	r.fillAll("w", disk)
	r.must(syscall.Kill(r.client("w"), syscall.SIGKILL))
	_, err = r.waits("w", 0)
	r.fails(err, csd.Failed, "is gone")
	if s := r.state("w"); s != csd.Gone {
		t.Errorf("status %s", s)
	}
}

// TestFullDisk_APromptThatNoHookCanTellOf is an error that says why; once there is room, the worker goes on.
func TestFullDisk_APromptThatNoHookCanTellOf(t *testing.T) {
	r := newRig(t).with("CSD_SUBMIT_TIMEOUT", "0.5")
	disk := r.smallDisk()
	r.launch("claude", "w")
	r.fillAll("w", disk)
	_, err := r.worker("w").Send(t.Context(), "ANSWER lost")
	r.fails(err, csd.Failed, "its hooks have no room left at "+disk)
	r.hints(err, "make room there")
	r.must(os.Remove(filepath.Join(disk, "fill")))
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}
