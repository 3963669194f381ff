package tail

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// world is a log with a writer that rotates it, and a reader that is restarted before every read.
type world struct {
	t       *testing.T
	log     string
	reader  Reader
	saved   []byte
	now     time.Time
	written []string // every whole line, in order
	read    []string
	partial string // the beginning of a line that is in the file
	turns   int    // rotations since the last read
	steps   []string
}

const keptLogs = 5

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) append(text string) {
	f, err := os.OpenFile(w.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.must(err)
	_, err = f.WriteString(text)
	w.must(err)
	w.must(f.Close())
}

func (w *world) line(n byte) {
	text := fmt.Sprintf("%d:%s", len(w.written), strings.Repeat("x", int(n)*7))
	w.append(text[len(w.partial):] + "\n")
	w.written = append(w.written, text)
	w.partial = ""
}

func (w *world) begin() {
	text := fmt.Sprintf("%d:", len(w.written))
	w.append(text[len(w.partial):])
	w.partial = text
}

// known is what the reader knows of the file that has the watched name now: whether it has seen it, and how much it read.
func (w *world) known() (seen bool, offset int64) {
	info, err := os.Stat(w.log)
	var pos Position
	if err != nil || json.Unmarshal(w.saved, &pos) != nil {
		return false, 0
	}
	_, inode := number(info)
	for _, f := range pos.Files {
		if f.Inode == inode && f.Since == 0 {
			return true, f.Offset
		}
	}
	return false, 0
}

// anchored says that the reader has seen a file of this log at all: one that came and went before that is nobody's.
func (w *world) anchored() bool {
	var pos Position
	return json.Unmarshal(w.saved, &pos) == nil && len(pos.Files) > 0
}

// shift renames log.1 to log.2 and so on, as logrotate does.
func (w *world) shift() bool {
	if _, err := os.Stat(w.log); err != nil || w.turns == keptLogs-1 || !w.anchored() {
		return false
	}
	if w.partial != "" {
		w.line(0)
	}
	for i := keptLogs; i >= 1; i-- {
		err := os.Rename(fmt.Sprintf("%s.%d", w.log, i), fmt.Sprintf("%s.%d", w.log, i+1))
		if err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
	}
	_ = os.Remove(fmt.Sprintf("%s.%d", w.log, keptLogs+1))
	w.turns++
	return true
}

func (w *world) rename() {
	if w.shift() {
		if err := os.Rename(w.log, w.log+".1"); err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
	}
}

func (w *world) copyTruncate() {
	// A file of which nothing was read is known by its inode alone, and that stays with the empty rest.
	if seen, offset := w.known(); seen && offset == 0 || !w.shift() {
		return
	}
	data, err := os.ReadFile(w.log)
	w.must(err)
	w.must(os.WriteFile(w.log+".1", data, 0o600))
	w.must(os.Truncate(w.log, 0))
}

// rewrite replaces the file by an equal one, as an editor does.
func (w *world) rewrite() {
	data, err := os.ReadFile(w.log)
	if seen, offset := w.known(); err != nil || seen && offset == 0 {
		return
	}
	w.must(os.WriteFile(w.log+"~", data, 0o600))
	w.must(os.Rename(w.log+"~", w.log))
}

func (w *world) poll() bool {
	var pos *Position
	if w.saved != nil {
		pos = &Position{}
		w.must(json.Unmarshal(w.saved, pos))
	}
	next, report, err := w.reader.Read(context.Background(), []string{w.log}, pos, w.now, func(l Line) bool {
		w.read = append(w.read, string(l.Text))
		return true
	})
	w.must(err)
	w.saved, err = json.Marshal(next)
	w.must(err)
	w.now = w.now.Add(7 * time.Second)
	if !report.More {
		w.turns = 0
	}
	w.steps = append(w.steps, fmt.Sprintf("%+v %s", report, w.saved))
	return report.More
}

func FuzzRotation(f *testing.F) {
	f.Add([]byte{5, 0, 1, 5, 3, 0, 5}, uint16(0))
	f.Add([]byte{0, 0, 5, 4, 0, 0, 0, 5, 4, 4, 0, 5}, uint16(40))
	f.Add([]byte{0, 5, 3, 3, 3, 0, 5, 1, 6, 0, 5}, uint16(3))
	f.Add([]byte{3, 5, 3, 0, 3, 5, 0, 3, 4, 5}, uint16(1))
	f.Fuzz(func(t *testing.T, ops []byte, budget uint16) {
		if len(ops) <= 60 {
			live(t, ops, budget)
		}
	})
}

// TestRandomRotations is the fuzz test with operations of its own making.
func TestRandomRotations(t *testing.T) {
	rounds := 200
	if n, err := strconv.Atoi(os.Getenv("TAIL_ROUNDS")); err == nil {
		rounds = n
	}
	for i := range rounds {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		ops := make([]byte, 5+r.IntN(40))
		for j := range ops {
			ops[j] = byte(r.IntN(256))
		}
		live(t, ops, []uint16{0, 1, 20, 100}[r.IntN(4)])
	}
}

// live runs the operations and holds what was read to what was written.
func live(t *testing.T, ops []byte, budget uint16) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, log: filepath.Join(dir, "log"), now: time.Unix(1_800_000_000, 0)}
	w.reader.MaxBytes = int64(budget)
	if len(ops)%2 == 0 {
		w.reader.Handles = &Handles{}
		defer w.reader.Handles.Close()
	}
	for _, op := range ops {
		w.steps = append(w.steps, fmt.Sprint(op%7))
		switch op % 7 {
		case 0, 1:
			w.line(op / 7)
		case 2:
			w.begin()
		case 3:
			w.rename()
		case 4:
			w.copyTruncate()
		case 5:
			w.poll()
		case 6:
			w.rewrite()
		}
	}
	for n := 0; w.poll(); n++ {
		if n > 1000 {
			t.Fatal("there is always more")
		}
	}
	w.poll()
	if len(w.read)+len(w.written) > 0 && !reflect.DeepEqual(w.read, w.written) {
		t.Fatalf("read %d lines of %d\nread    %q\nwritten %q\n%s", len(w.read), len(w.written), cut(w.read), cut(w.written), strings.Join(w.steps, "\n"))
	}
}

// FuzzLines holds the reader to the plainest one there is, over cuts at any place.
func FuzzLines(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfone\r\n\n\x00\x00two\nthree"), uint8(3), uint8(20))
	f.Add([]byte("a very long line that does not fit\nshort\n\x00"), uint8(1), uint8(10))
	f.Add(bytes.Repeat([]byte("x"), 100), uint8(7), uint8(1))
	f.Add([]byte("\xef\xbb\xbfone\r\n"), uint8(0), uint8(2)) // the mark and the carriage return are no part of the line
	f.Fuzz(func(t *testing.T, data []byte, step, limit uint8) {
		if len(data) > 2000 || bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
			return
		}
		maxLine := int(limit) + 1
		var want []string
		long := 0
		for i, line := range bytes.SplitAfter(data, []byte("\n")) {
			text, whole := bytes.CutSuffix(line, []byte("\n"))
			if !whole {
				continue
			}
			if i == 0 && bytes.HasPrefix(text, bom) {
				text = text[len(bom):]
			} else {
				text = bytes.TrimLeft(text, "\x00")
			}
			text = bytes.TrimSuffix(text, []byte("\r"))
			switch {
			case len(text) > maxLine:
				long++
			case !blank(text):
				want = append(want, string(text))
			}
		}
		path := filepath.Join(t.TempDir(), "f")
		r := Reader{MaxLine: maxLine, MaxBytes: int64(limit)}
		var pos *Position
		var got []string
		tooLong := 0
		read := func() {
			for more := true; more; {
				next, report, err := r.Read(context.Background(), []string{path}, pos, time.Unix(0, 0), func(l Line) bool {
					got = append(got, string(l.Text))
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				pos, more, tooLong = next, report.More, tooLong+report.TooLong
			}
		}
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(step)*8+1)
			if _, err := file.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			read()
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) || tooLong != long {
			t.Fatalf("got %q and %d too long, want %q and %d", cut(got), tooLong, cut(want), long)
		}
	})
}
