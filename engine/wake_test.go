package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/rundir"
)

// files is a source of one event for each change of what a path holds, with an interval far beyond a test's time.
type files struct{}

func (files) Describe() Info { return Info{Name: "files", Interval: time.Hour} }

func (files) ParseTarget(words []string) (Target, error) { return Target{Text: words[0]}, nil }

func (files) Summary(Target) []string { return nil }

func (files) Watch(t Target) []string { return []string{t.Text} }

func (files) Poll(_ context.Context, t Target, _ time.Time) (Outcome, error) {
	now := "nothing"
	if info, err := os.Stat(t.Text); err == nil && info.IsDir() {
		entries, err := os.ReadDir(t.Text)
		if err != nil {
			return Outcome{}, err
		}
		now = fmt.Sprint(len(entries), " entries")
	} else if data, err := os.ReadFile(t.Text); err == nil {
		now = string(data)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Outcome{}, err
	}
	saved, err := json.Marshal(now)
	o := Outcome{Saved: saved}
	if t.Saved != nil && string(t.Saved) != string(saved) {
		o.Events = []eventlog.Event{{Kind: "changed", Text: now}}
	}
	return o, err
}

func TestAChangeOnTheDiskIsPolledAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	d := start(t, Options{Source: files{}, Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"}})
	must(t, os.Mkdir(path("real"), 0o700))
	must(t, os.Symlink(path("real"), path("link")))
	must(t, os.Mkdir(path("folder"), 0o700))
	must(t, os.Mkdir(path("deep"), 0o700))
	must(t, os.WriteFile(path("there"), []byte("a"), 0o600))
	for _, target := range []string{"there", "not yet", "link/file", "folder", "deep/er/file"} {
		d.mustAsk(control.Request{Op: control.Watch, Words: []string{path(target)}})
	}
	last := int64(0)
	expect := func(what string, do func() error) {
		t.Helper()
		must(t, do())
		r := d.mustAsk(control.Request{Op: control.Wait, Since: last, TimeoutMS: 10_000})
		if r.TimedOut {
			t.Fatalf("%s: no event", what)
		}
		last = r.Last
		report := d.mustAsk(control.Request{Op: control.Status}).Report
		if got := report.Recent[len(report.Recent)-1].Text; got != what {
			t.Errorf("the event says %q, want %q", got, what)
		}
	}
	write := func(name, content string) func() error {
		return func() error {
			// In one step, so that no poll finds the file empty.
			if err := os.WriteFile(path("new"), []byte(content), 0o600); err != nil {
				return err
			}
			return os.Rename(path("new"), path(name))
		}
	}
	expect("b", write("there", "b"))
	expect("c", write("not yet", "c"))
	expect("d", write("real/file", "d")) // by the name that the disk has for it
	expect("1 entries", write("folder/x", "x"))
	expect("nothing", func() error { return os.Remove(path("there")) })
	expect("e", write("there", "e"))
	expect("nothing", func() error { return os.Rename(path("folder"), path("away")) })
	// A folder that was made again is another one; it is heard of too.
	expect("0 entries", func() error { return os.Mkdir(path("folder"), 0o700) })
	expect("1 entries", write("folder/y", "y"))
}

// TestAChangeBehindALinkIsPolledAtOnce: links of files and of folders that are led elsewhere, that lead nowhere yet, and
// folders that are made later, removed and made again.
func TestAChangeBehindALinkIsPolledAtOnce(t *testing.T) {
	for target, steps := range map[string][][3]string{ // what is done, with what, and what the event says
		"file":       {{"write", "d1/log", "one"}, {"link", "d2/log", "second"}, {"write", "d2/log", "two"}, {"write", "d2/log", "three"}},
		"folder/log": {{"link", "d2", "second"}, {"write", "d2/log", "four"}},
		"dangling":   {{"write", "d1/not yet", "now"}, {"write", "d1/not yet", "then"}},
		"a/b/c":      {{"write", "a/b/c", "made"}, {"remove", "a", "nothing"}, {"write", "a/b/c", "again"}, {"write", "a/b/c", "once more"}},
	} {
		t.Run(target, func(t *testing.T) {
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, name) }
			do := func(what, name, content string) error {
				switch what {
				case "link":
					link, _, _ := strings.Cut(target, "/")
					return errors.Join(os.Symlink(name, path("new")), os.Rename(path("new"), path(link)))
				case "remove":
					return os.RemoveAll(path(name))
				}
				return errors.Join(os.MkdirAll(filepath.Dir(path(name)), 0o700), os.WriteFile(path("new"), []byte(content), 0o600), os.Rename(path("new"), path(name)))
			}
			must(t, errors.Join(
				do("write", "d1/log", "first"), do("write", "d2/log", "second"),
				os.Symlink("d1/log", path("file")), os.Symlink(path("d1"), path("folder")), os.Symlink("d1/not yet", path("dangling"))))
			d := start(t, Options{Source: files{}, Dir: t.TempDir(), Owner: rundir.Owner{ID: "sink"}})
			d.mustAsk(control.Request{Op: control.Watch, Words: []string{path(target)}})
			last := int64(0)
			for _, step := range steps {
				must(t, do(step[0], step[1], step[2]))
				r := d.mustAsk(control.Request{Op: control.Wait, Since: last, TimeoutMS: 10_000})
				if r.TimedOut {
					t.Fatalf("%s: no event", step)
				}
				last = r.Last
				recent := d.mustAsk(control.Request{Op: control.Status}).Report.Recent
				if got := recent[len(recent)-1].Text; got != step[2] {
					t.Fatalf("%s: the event says %q", step, got)
				}
			}
		})
	}
}

func TestAStormOfChangesIsOnePollASecond(t *testing.T) {
	w := &waker{woken: map[*target]bool{}}
	tg := &target{Target: Target{Text: "a"}, started: noon}
	l := &loop{targets: []*target{tg}, waker: w}
	for ms := range 900 {
		w.woken[tg] = true
		l.wakeUp(noon.Add(time.Duration(ms) * time.Millisecond))
		if at := noon.Add(wakeFloor); !tg.due.Equal(at) {
			t.Fatalf("due %s after the last poll", tg.due.Sub(noon))
		}
	}
	tg.due = time.Time{}
	w.woken[tg] = true
	if l.wakeUp(noon.Add(time.Minute)); !tg.due.Equal(noon.Add(time.Minute)) {
		t.Errorf("after a minute of quiet it is due %s later", tg.due.Sub(noon.Add(time.Minute)))
	}
}

func TestTheDaemonsOwnFilesWakeNobody(t *testing.T) {
	dir := t.TempDir()
	d := start(t, Options{Source: files{}, Dir: dir, Owner: rundir.Owner{ID: "sink"}})
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{dir}}) // the runtime directory itself
	must(t, os.WriteFile(filepath.Join(dir, "another"), nil, 0o600))
	if r := d.mustAsk(control.Request{Op: control.Wait, Since: 0, TimeoutMS: 10_000}); r.TimedOut {
		t.Fatal("another file in the same folder does not wake")
	}
	if r := d.mustAsk(control.Request{Op: control.Wait, Since: 1, TimeoutMS: 3 * wakeFloor.Milliseconds()}); !r.TimedOut {
		t.Error("the daemon wakes itself")
	}
}

func TestForgottenTargetsLeaveNoWatchBehind(t *testing.T) {
	w := newWaker(rundir.Files{State: "/nowhere/x.state.json"})
	if w == nil {
		t.Skip("no notices on this system")
	}
	defer w.close()
	dir := t.TempDir()
	var targets []*target
	for i := range 10 {
		tg := &target{}
		targets = append(targets, tg)
		w.set(tg, []string{filepath.Join(dir, fmt.Sprint("file", i)), dir})
		w.set(tg, []string{filepath.Join(dir, fmt.Sprint("other", i)), dir})
	}
	if n := len(w.fs.WatchList()); n != 2 { // dir, and its parent for dir itself
		t.Errorf("%d folders are watched: %v", n, w.fs.WatchList())
	}
	for _, tg := range targets {
		w.forget(tg)
	}
	if len(w.fs.WatchList())+len(w.folders)+len(w.waits)+len(w.interests) != 0 {
		t.Errorf("left: %v %v %v", w.fs.WatchList(), w.folders, w.waits)
	}
}
