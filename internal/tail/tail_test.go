package tail

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// watch is one watch of real files; each read goes through the saved form of the position, as after a restart.
type watch struct {
	t      *testing.T
	dir    string
	names  []string // globs
	reader Reader
	saved  []byte
	now    time.Time
	report Report
}

func newWatch(t *testing.T, names ...string) *watch {
	t.Helper()
	return &watch{t: t, dir: t.TempDir(), names: names, now: time.Unix(1_800_000_000, 0)}
}

func (w *watch) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watch) write(name, text string) {
	w.t.Helper()
	w.append(name, text, os.O_TRUNC)
}

func (w *watch) add(name, text string) {
	w.t.Helper()
	w.append(name, text, os.O_APPEND)
}

func (w *watch) append(name, text string, flag int) {
	w.t.Helper()
	f, err := os.OpenFile(w.path(name), os.O_CREATE|os.O_WRONLY|flag, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watch) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *watch) rename(from, to string) {
	w.t.Helper()
	w.must(os.Rename(w.path(from), w.path(to)))
}

// poll reads and returns the lines, those that end the watch's budget too.
func (w *watch) poll() []string {
	w.t.Helper()
	lines, err := w.tryPoll()
	if err != nil {
		w.t.Fatal(err)
	}
	return lines
}

func (w *watch) tryPoll() ([]string, error) {
	w.t.Helper()
	var pos *Position
	if w.saved != nil {
		pos = &Position{}
		w.must(json.Unmarshal(w.saved, pos))
	}
	var paths []string
	for _, n := range w.names {
		found, err := filepath.Glob(w.path(n))
		w.must(err)
		paths = append(paths, found...)
	}
	var lines []string
	next, report, err := w.reader.Read(context.Background(), paths, pos, w.now, func(l Line) bool {
		lines = append(lines, string(l.Text))
		return true
	})
	w.report = report
	if err != nil {
		return lines, err
	}
	w.saved, err = json.Marshal(next)
	w.must(err)
	return lines, nil
}

func (w *watch) want(lines ...string) {
	w.t.Helper()
	if got := w.poll(); len(got)+len(lines) > 0 && !reflect.DeepEqual(got, lines) {
		w.t.Fatalf("lines: got %q, want %q\nposition %s\nreport %+v", cut(got), cut(lines), w.saved, w.report)
	}
}

func cut(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if out[i] = l; len(l) > 80 {
			out[i] = fmt.Sprintf("%s… (%d bytes)", l[:80], len(l))
		}
	}
	return out
}

// numbered returns the lines from..to-1, each 10 bytes with its end.
func numbered(prefix string, from, to int) (text string, lines []string) {
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprintf("%s-%0*d", prefix, 8-len(prefix), i))
	}
	if len(lines) == 0 {
		return "", nil
	}
	return strings.Join(lines, "\n") + "\n", lines
}

func TestWholeLinesOnlyOnceEach(t *testing.T) {
	w := newWatch(t, "log")
	w.want()
	w.write("log", "one\ntwo\nthr")
	w.want("one", "two")
	w.want()
	w.add("log", "ee\n")
	w.want("three")
	w.want()
}

func TestC8_FromEndCountsOnlyWithoutAPosition(t *testing.T) {
	w := newWatch(t, "*.log")
	w.reader.FromEnd = true
	w.write("a.log", "old\nhalf")
	w.want()
	w.add("a.log", " and half\nnew\n")
	w.write("b.log", "appeared later\n")
	w.want("half and half", "new", "appeared later")
}

func TestC8_FromEndOfAnOverLongLine(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.FromEnd, w.reader.MaxLine = true, 1000
	w.write("log", strings.Repeat("x", 200_000))
	w.want()
	w.add("log", "the end of it\nnew\n")
	w.want("new")
}

func TestBacklogOverSeveralReads(t *testing.T) {
	w := newWatch(t, "*.log")
	w.reader.MaxBytes = 1000
	text, first := numbered("a", 0, 250)
	w.write("a.log", text)
	text, second := numbered("b", 0, 150)
	w.write("b.log", text)
	var got []string
	for n := 1; ; n++ {
		got = append(got, w.poll()...)
		if w.report.Bytes > 1010 {
			t.Fatalf("%d bytes in one read", w.report.Bytes)
		}
		if !w.report.More {
			if n != 4 {
				t.Errorf("%d reads", n)
			}
			break
		}
	}
	if want := append(first, second...); !reflect.DeepEqual(got, want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
}

func TestStoppedByTheCallback(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "one\ntwo\nthree\n")
	var got []string
	pos, report, err := w.reader.Read(context.Background(), []string{w.path("log")}, nil, w.now, func(l Line) bool {
		got = append(got, string(l.Text))
		return len(got) < 2
	})
	w.must(err)
	if !report.More || len(got) != 2 {
		t.Fatalf("%q %+v", got, report)
	}
	w.saved, err = json.Marshal(pos)
	w.must(err)
	w.want("three")
}

func TestASlowDiskIsReadOverSeveralReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat(strings.Repeat("x", 99_999)+"\n", 20)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var r Reader
		var pos *Position
		var lines []int
		for more := true; more; {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			n := 0
			next, report, err := r.Read(ctx, []string{path}, pos, time.Now(), func(Line) bool {
				n++
				time.Sleep(2 * time.Second)
				return true
			})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			pos, more = next, report.More
			lines = append(lines, n)
		}
		if !reflect.DeepEqual(lines, []int{12, 8}) {
			t.Errorf("%v lines", lines)
		}
	})
}
