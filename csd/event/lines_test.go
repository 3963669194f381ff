package event_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sessevents/sessevents/csd/event"
)

func fileOf(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.events.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func backward(t testing.TB, path string) []event.Line {
	t.Helper()
	var all []event.Line
	for line, err := range event.Backward(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func forward(t testing.TB, path string, offset int64) []event.Line {
	t.Helper()
	var all []event.Line
	for line, err := range event.Forward(path, offset) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func texts(lines []event.Line) []string {
	var all []string
	for _, line := range lines {
		all = append(all, string(line.Raw))
	}
	return all
}

func TestF24_AnUnterminatedLineIsNotThereYet(t *testing.T) {
	whole := "{\"event\":\"session_start\"}\n{\"event\":\"stop\"}\n"
	path := fileOf(t, whole+`{"event":"sto`)
	want := []string{`{"event":"session_start"}`, `{"event":"stop"}`}
	if got := texts(forward(t, path, 0)); !slices.Equal(got, want) {
		t.Errorf("forward %q", got)
	}
	if got := texts(backward(t, path)); !slices.Equal(got, []string{want[1], want[0]}) {
		t.Errorf("backward %q", got)
	}
	if size, err := event.Size(path); err != nil || size != int64(len(whole)) {
		t.Errorf("size %d, %v; want %d", size, err, len(whole))
	}
	if s, err := event.Of(path); err != nil || s.State != event.Idle {
		t.Errorf("state %+v, %v", s, err)
	}
}

func TestF27_ForeignBytesAroundLines(t *testing.T) {
	content := "\xef\xbb\xbf{\"a\":1}\r\n\r\n\n\x00\x00\x00{\"a\":2}\n\x00\x00\n  \n{\"a\":3}\x00\n"
	path := fileOf(t, content)
	want := []string{`{"a":1}`, `{"a":2}`, `{"a":3}`}
	got := forward(t, path, 0)
	if !slices.Equal(texts(got), want) {
		t.Errorf("forward %q", texts(got))
	}
	back := backward(t, path)
	slices.Reverse(back)
	if !reflect.DeepEqual(back, got) {
		t.Errorf("backward %v, forward %v", back, got)
	}
	if n, err := event.Lines(path, 1<<40); err != nil || n != 3 {
		t.Errorf("%d lines, %v", n, err)
	}
	if n, err := event.Lines(path, got[1].Offset); err != nil || n != 1 {
		t.Errorf("%d lines before the second, %v", n, err)
	}
	for n, end := range []int64{0, got[0].End, got[1].End, got[2].End, got[2].End} {
		if off, err := event.After(path, int64(n)); err != nil || off != end {
			t.Errorf("after %d lines: %d, %v; want %d", n, off, err, end)
		}
	}
}

// TestTheFourReadersAgree on files of random lines, long ones across blocks too.
func TestTheFourReadersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		var want []string
		var b bytes.Buffer
		for range r.IntN(40) {
			n := r.IntN(200)
			if r.IntN(4) == 0 {
				n = 64<<10 - 3 + r.IntN(6) + r.IntN(3)*(64<<10)
			}
			line := strings.Trim(strings.ReplaceAll(letters(r, n), "\n", "n"), " ")
			if b.WriteString(line + "\n"); line != "" {
				want = append(want, line)
			}
		}
		b.WriteString(strings.ReplaceAll(letters(r, r.IntN(2)*r.IntN(70_000)), "\n", ""))
		path := fileOf(t, b.String())
		fwd, back := forward(t, path, 0), backward(t, path)
		slices.Reverse(back)
		if !slices.Equal(texts(fwd), want) || !reflect.DeepEqual(fwd, back) {
			t.Fatalf("round %d: the readers differ: %d, %d and %d lines", round, len(want), len(fwd), len(back))
		}
		if n, err := event.Lines(path, int64(b.Len())); err != nil || int(n) != len(want) {
			t.Fatalf("round %d: %d lines, %v; want %d", round, n, err, len(want))
		}
		for i, line := range fwd {
			if i%5 > 0 {
				continue
			}
			if off, err := event.After(path, int64(i+1)); err != nil || off != line.End {
				t.Fatalf("round %d: after %d lines: %d, %v; want %d", round, i+1, off, err, line.End)
			}
		}
	}
}

func TestALineBeyondAllBoundsIsPassedOver(t *testing.T) {
	path := fileOf(t, "{\"a\":1}\n")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range event.MaxLine>>20 + 1 {
		if _, err := f.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString("\n{\"a\":2}\n"); err != nil {
		t.Fatal(err)
	}
	want := []string{`{"a":1}`, `{"a":2}`}
	back := texts(backward(t, path))
	slices.Reverse(back)
	if got := texts(forward(t, path, 0)); !slices.Equal(got, want) || !slices.Equal(back, want) {
		t.Errorf("forward %d lines, backward %d", len(got), len(back))
	}
}

func TestReadersOfNoFile(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none")
	pipe := filepath.Join(dir, "pipe")
	link := filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(fileOf(t, "{}\n"), link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{missing: os.ErrNotExist, pipe: event.ErrNotRegular, link: syscall.ELOOP} {
		_, size := event.Size(path)
		_, lines := event.Lines(path, 9)
		_, after := event.After(path, 9)
		var fwd, back error
		for _, fwd = range event.Forward(path, 0) {
		}
		for _, back = range event.Backward(path) {
		}
		for i, err := range []error{size, lines, after, fwd, back} {
			if !errors.Is(err, want) {
				t.Errorf("%s, reader %d: %v, want %v", filepath.Base(path), i, err, want)
			}
		}
	}
}

func FuzzBackward(f *testing.F) {
	f.Add([]byte("{}\n{}"), 3)
	f.Add([]byte("\xef\xbb\xbf\r\n\x00\n\n{\"event\":\"stop\"}\n\n"), 0)
	f.Fuzz(func(t *testing.T, content []byte, at int) {
		path := fileOf(t, string(content))
		fwd, back := forward(t, path, 0), backward(t, path)
		slices.Reverse(back)
		if !reflect.DeepEqual(fwd, back) {
			t.Fatalf("forward %q, backward %q", texts(fwd), texts(back))
		}
		size, err := event.Size(path)
		if err != nil || size != int64(bytes.LastIndexByte(content, '\n')+1) {
			t.Fatalf("size %d, %v", size, err)
		}
		n, err := event.Lines(path, size)
		if err != nil || int(n) != len(fwd) {
			t.Fatalf("%d lines, %v; want %d", n, err, len(fwd))
		}
		for _, line := range fwd {
			if bytes.Contains(line.Raw, []byte("\n")) || !bytes.Contains(content[line.Offset:line.End], line.Raw) {
				t.Fatalf("line %+v of %q", line, content)
			}
		}
		if _, err := event.Of(path); err != nil {
			t.Fatal(err)
		}
	})
}
