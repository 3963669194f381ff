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

func TestC1_RenameRotationReadsTheRestOfTheOldFileFirst(t *testing.T) {
	w := newWatch(t, "log")
	text, _ := numbered("a", 0, 50)
	w.write("log", text)
	w.poll()
	text, rest := numbered("a", 50, 90)
	w.add("log", text)
	w.rename("log", "log.1")
	text, fresh := numbered("b", 0, 20)
	w.write("log", text)
	w.want(append(rest, fresh...)...)
	w.want()
}

func TestC1_OldFileThatIsGoneIsOneNote(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "one\nhalf a li")
	w.want("one")
	w.must(os.Remove(w.path("log")))
	w.write("log", "a new file\n")
	w.want("a new file")
	if len(w.report.Notes) != 1 || !strings.HasSuffix(w.report.Notes[0], "was rotated, 9 bytes unread") {
		t.Fatalf("notes: %q", w.report.Notes)
	}
	w.want()
	if len(w.report.Notes) != 0 {
		t.Fatalf("noted again: %q", w.report.Notes)
	}
}

func TestC1_SeveralRotationsBetweenTwoReads(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "a1\n")
	w.want("a1")
	w.add("log", "a2\n")
	for _, next := range []string{"b1\n", "c1\n", "d1\n"} {
		for i := 9; i >= 1; i-- {
			if _, err := os.Stat(w.path(fmt.Sprintf("log.%d", i))); err == nil {
				w.rename(fmt.Sprintf("log.%d", i), fmt.Sprintf("log.%d", i+1))
			}
		}
		w.rename("log", "log.1")
		w.write("log", next)
	}
	w.want("a2", "b1", "c1", "d1")
	w.want()
}

func TestC1_DatedNamesAreReadInTheirOrder(t *testing.T) {
	w := newWatch(t, "app.log")
	w.write("app.log", "a1\n")
	w.want("a1")
	w.rename("app.log", "app-2026-11-29.log")
	w.write("app-2026-11-30.log", "b1\n")
	w.write("app-notes.log", "not of the series\n")
	w.write("app.log", "c1\n")
	w.want("b1", "c1")
}

func TestC1_WriterThatHasNotNoticedTheRotation(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "one\n")
	w.want("one")
	w.rename("log", "log.1")
	w.want()
	w.add("log.1", "two\n")
	w.want("two")
	w.write("log", "four\n")
	w.add("log.1", "three\n")
	w.want("three", "four")
	w.now = w.now.Add(10 * time.Minute)
	w.add("log.1", "late, but before anyone could look\n")
	w.want("late, but before anyone could look")
	w.add("log.1", "after it was given up\n")
	w.want()
}

func TestC1_CopyTruncateReadsTheRestInTheCopy(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "one\ntwo\n")
	w.want("one", "two")
	w.write("log.1", "one\ntwo\nthree\n")
	w.write("log", "four\n")
	w.want("three", "four")
	w.want()
}

func TestCopyTruncateRefilledPastTheOldOffset(t *testing.T) {
	w := newWatch(t, "log")
	text, lines := numbered("a", 0, 40)
	w.write("log", text)
	w.want(lines...)
	text, lines = numbered("b", 0, 70)
	w.write("log", text)
	w.want(lines...)
	w.want()
}

func TestRecreatedWithTheSameContentAfterItWasSeenGone(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "one\n")
	w.want("one")
	w.must(os.Remove(w.path("log")))
	w.want()
	w.write("log", "one\n")
	w.want("one")
}

func TestMovedAwayAndBackIsTheSameFile(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "one\n")
	w.want("one")
	w.must(os.Mkdir(w.path("elsewhere"), 0o700))
	w.rename("log", "elsewhere/log")
	w.want()
	w.rename("elsewhere/log", "log")
	w.add("log", "two\n")
	if born(w.path("log")) == 0 {
		t.Skip("this file system does not say when a file was made: the file counts as a new one")
	}
	w.want("two")
}

func TestWrittenAnewUnderItsName(t *testing.T) { // an editor, or a program that replaces its file whole
	w := newWatch(t, "log")
	w.write("log", "one\ntwo\n")
	w.want("one", "two")
	w.write("new", "one\ntwo\nthree\n")
	w.rename("new", "log")
	w.want("three")
}

func TestInodeReuse(t *testing.T) {
	w := newWatch(t, "log")
	for i := range 20 { // ext4 and tmpfs give the freed inode to the next file
		line := fmt.Sprintf("life %d", i)
		w.write("log", line+"\n")
		w.want(line)
		w.must(os.Remove(w.path("log")))
	}
}

func TestC2_SameFirstBytesAndAnEmptyFile(t *testing.T) {
	head := strings.Repeat("h", 1499) + "\n"
	w := newWatch(t, "*.log")
	w.write("a.log", head+"a\n")
	w.write("b.log", head+"b\n")
	w.write("c.log", "")
	w.want(head[:1499], "a", head[:1499], "b")
	w.write("d.log", head+"a\n") // equal to a.log to the last byte
	w.add("c.log", "c\n")
	w.want("c", head[:1499], "a")
	w.want()
}

func TestC3_BOM(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "\xef\xbb\xbf{\"a\":1}\n\xef\xbb\xbf{}\n")
	w.want(`{"a":1}`, "\xef\xbb\xbf{}")
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		w := newWatch(t, "log")
		w.write("log", mark+"{\x00}\x00\n\x00")
		if _, err := w.tryPoll(); err == nil || !strings.Contains(err.Error(), "UTF-16") {
			t.Errorf("%q: %v", mark, err)
		}
	}
}

func TestC4_LineEnds(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "a\r\n\r\n\n  \t\n\r\r\nb\u2028c\rd\ne\n")
	w.want("a", "b\u2028c\rd", "e")
	if w.report.Lines != 3 {
		t.Errorf("%d lines counted", w.report.Lines)
	}
}

func TestC5_MultiByteAcrossEveryBuffer(t *testing.T) {
	for _, at := range []int{4096, 64 << 10, chunk, 1 << 20, chunk + 1<<20} {
		for shift := -3; shift <= 3; shift++ {
			w := newWatch(t, "log")
			w.reader.MaxLine = 4 << 20
			line := strings.Repeat("x", at+shift-1) + "€" + strings.Repeat("y", 10)
			w.write("log", "short\n"+line+"\n")
			w.want("short", line)
		}
	}
}

func TestC7_VeryLongLine(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.MaxLine = 1 << 20
	w.write("log", "before\n"+strings.Repeat("x", 5<<20)+"\nafter\n")
	w.want("before", "after")
	if w.report.TooLong != 1 || !reflect.DeepEqual(w.report.Long, []Long{{w.path("log"), 7, 5 << 20}}) {
		t.Fatalf("%+v", w.report)
	}
	if n := cap(w.reader.buf); n > 1<<20+2*chunk {
		t.Errorf("buffer of %d bytes", n)
	}
}

func TestC7_LongLineThatGrowsBetweenReads(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.MaxLine = 1000
	w.write("log", "before\n")
	w.want("before")
	for range 5 {
		w.add("log", strings.Repeat("x", 900))
		w.want()
	}
	w.add("log", "\nafter\n")
	w.want("after")
	if w.report.TooLong != 1 || w.report.Long[0].Size != 4500 || w.report.Long[0].Offset != 7 {
		t.Fatalf("%+v", w.report)
	}
}

func TestLineOfExactlyMaxLine(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.MaxLine = 100
	fits, over := strings.Repeat("x", 100), strings.Repeat("y", 101)
	w.write("log", fits+"\r\n"+over+"\n"+fits+"\n"+over+"\r\n"+fits)
	w.want(fits, fits)
	w.add("log", "\r\n")
	w.want(fits)
	if w.report.TooLong != 0 {
		t.Fatalf("%+v", w.report)
	}
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

func TestHoleOfZeros(t *testing.T) { // copy-truncate while the writer keeps its offset
	w := newWatch(t, "log")
	w.reader.MaxLine = 10_000
	f, err := os.Create(w.path("log"))
	w.must(err)
	defer f.Close()
	_, err = f.WriteString("before\n")
	w.must(err)
	w.want("before")
	w.must(f.Truncate(0))
	_, err = f.WriteAt([]byte("after\n"), 3_000_000)
	w.must(err)
	w.want("after")
	w.must(f.Truncate(5_000_000)) // zeros without a line behind them are not gone past
	w.want()
	_, err = f.WriteAt([]byte("inside the zeros\n"), 4_000_000)
	w.must(err)
	w.want("inside the zeros")
	if w.report.TooLong != 0 {
		t.Fatalf("%+v", w.report)
	}
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

func TestBacklogOfARotatedFile(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.MaxBytes = 100
	w.write("log", "one\n")
	w.want("one")
	text, want := numbered("a", 0, 50)
	w.add("log", text)
	w.rename("log", "log.1")
	text, more := numbered("b", 0, 50)
	w.write("log", text)
	want = append(want, more...)
	var got []string
	for range 20 {
		got = append(got, w.poll()...)
		w.now = w.now.Add(time.Hour)
		if len(got) == 40 {
			w.rename("log.1", "log.2")
			w.rename("log", "log.1")
			w.write("log", "last\n")
		}
	}
	if want = append(want, "last"); !reflect.DeepEqual(got, want) {
		t.Fatalf("got %d lines %q", len(got), got)
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

func TestGlobWithFilesThatComeAndGo(t *testing.T) {
	w := newWatch(t, "*.jsonl")
	w.want()
	w.write("a.jsonl", "a1\n")
	w.write("b.jsonl", "b1\n")
	w.want("a1", "b1")
	w.must(os.Remove(w.path("a.jsonl")))
	w.write("c.jsonl", "c1\n")
	w.add("b.jsonl", "b2\n")
	w.want("b2", "c1")
	w.rename("b.jsonl", "z.jsonl") // within the glob: the same file
	w.add("z.jsonl", "b3\n")
	w.want("b3")
	w.add("z.jsonl", "b4\n")
	w.rename("z.jsonl", "z.jsonl.done") // out of the glob: its rest is read
	w.want("b4")
}

func TestSymbolicLinkThatMovesOn(t *testing.T) {
	w := newWatch(t, "current")
	w.write("one.log", "a1\n")
	w.must(os.Symlink("one.log", w.path("current")))
	w.want("a1")
	w.add("one.log", "a2\n")
	w.write("two.log", "b1\n")
	w.must(os.Remove(w.path("current")))
	w.must(os.Symlink("two.log", w.path("current")))
	w.want("a2", "b1")
}

func TestTwoNamesOfOneFileAreReadOnce(t *testing.T) {
	w := newWatch(t, "*.log")
	w.write("a.log", "one\n")
	w.must(os.Link(w.path("a.log"), w.path("b.log")))
	w.must(os.Symlink("a.log", w.path("c.log")))
	w.want("one")
	w.add("a.log", "two\n")
	w.want("two")
}
