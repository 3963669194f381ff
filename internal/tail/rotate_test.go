package tail

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

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
	for _, handles := range []*Handles{nil, {}} {
		w := newWatch(t, "log")
		w.reader.Handles = handles
		w.write("log", "one\n")
		w.want("one")
		w.must(os.Mkdir(w.path("elsewhere"), 0o700))
		w.rename("log", "elsewhere/log")
		w.want()
		w.now = w.now.Add(time.Hour)
		w.want()
		w.want()
		w.rename("elsewhere/log", "log")
		w.add("log", "two\n")
		if born(w.path("log")) == 0 {
			t.Skip("this file system does not say when a file was made: the file counts as a new one")
		}
		w.want("two")
		if handles != nil {
			handles.Close()
		}
	}
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

func TestC1_OldFileThatWasDeletedIsReadByTheOpenDescriptor(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.Handles = &Handles{}
	defer w.reader.Handles.Close()
	text, lines := numbered("a", 0, 50)
	w.write("log", text)
	w.want(lines...)
	text, rest := numbered("a", 50, 90)
	w.add("log", text)
	f, err := os.OpenFile(w.path("log"), os.O_APPEND|os.O_WRONLY, 0)
	w.must(err)
	defer f.Close()
	w.rename("log", "log.1")
	w.must(os.Remove(w.path("log.1"))) // packed at once
	text, fresh := numbered("b", 0, 20)
	w.write("log", text)
	before := w.saved
	w.want(append(rest, fresh...)...)
	w.saved = before // that poll was not committed
	w.want(append(rest, fresh...)...)
	_, err = f.WriteString("late\n")
	w.must(err)
	w.want("late")
	w.now = w.now.Add(2 * time.Minute)
	w.want()
	if strings.Contains(string(w.saved), "since") {
		t.Errorf("still remembered: %s", w.saved)
	}
}

func TestDescriptorOfAFileThatWasCutIsNoOldFile(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.Handles = &Handles{}
	defer w.reader.Handles.Close()
	w.write("log", "one\ntwo\n")
	w.want("one", "two")
	w.write("log", "three\n")
	w.want("three")
	w.must(os.Remove(w.path("log")))
	w.want()
	w.write("log", "three\n")
	w.want("three")
}

func TestHandlesAreBounded(t *testing.T) {
	w := newWatch(t, "*.log")
	h := &Handles{}
	w.reader.Handles = h
	for i := range maxHandles + 10 {
		w.write(fmt.Sprintf("%03d.log", i), "one\n")
	}
	w.poll()
	if n := h.age.Len(); n != maxHandles || len(h.byInode) != n {
		t.Errorf("%d files are open", n)
	}
	for e := h.age.Front(); e != nil; e = e.Next() {
		e.Value.(*handle).used = time.Now().Add(-handleLife - time.Second)
	}
	h.sweep()
	if n := h.age.Len(); n != 0 || len(h.byInode) != 0 {
		t.Errorf("%d files are open", n)
	}
	h.Close()
}
