package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestSE2_1_TheLineOfAnEvent(t *testing.T) {
	tests := []struct {
		event Event
		line  string
	}{
		{
			Event{ID: 17, At: at("2026-10-12T16:03:20+02:00"), Kind: "changed", Text: "/var/log/build.log: 0 to 1097 bytes", URL: "file:///var/log/build.log"},
			`{"id":17,"at":"2026-10-12T14:03:20Z","kind":"changed","text":"/var/log/build.log: 0 to 1097 bytes","url":"file:///var/log/build.log"}`,
		},
		{
			Event{ID: 1, At: at("2026-10-12T14:03:20Z"), Kind: "pushed", Level: Note, Text: `a<b> & "c"`, Fields: map[string]any{"sha": "abc", "n": 3, "by": nil}},
			`{"id":1,"at":"2026-10-12T14:03:20Z","kind":"pushed","level":"note","text":"a<b> & \"c\"","by":null,"n":3,"sha":"abc"}`,
		},
	}
	for _, tt := range tests {
		line, err := tt.event.MarshalJSON()
		if err != nil || string(line) != tt.line {
			t.Errorf("line %s, %v\nwant %s", line, err, tt.line)
		}
		var back Event
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		if back.ID != tt.event.ID || !back.At.Equal(tt.event.At) || back.Text != tt.event.Text || back.IsAlert() != tt.event.IsAlert() ||
			!slices.Equal(slices.Sorted(maps.Keys(back.Fields)), slices.Sorted(maps.Keys(tt.event.Fields))) {
			t.Errorf("read back as %+v", back)
		}
	}
	if _, err := (Event{Fields: map[string]any{"id": 5}}).MarshalJSON(); err == nil {
		t.Error("a field took the place of the event's id")
	}
}

// write makes a log of the given content, with %d lines made by event.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.events.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func event(id int) string {
	return fmt.Sprintf(`{"id":%d,"at":"2026-10-12T14:03:20Z","kind":"k","text":"event %d"}`, id, id)
}

func events(ids ...int) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(event(id) + "\n")
	}
	return b.String()
}

func lines(ids ...int) []Line {
	var out []Line
	for _, id := range ids {
		out = append(out, Line(event(id)))
	}
	return out
}

func since(t *testing.T, path string, id int64) []int64 {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var ids []int64
	for line, err := range r.Since(id) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ID(line))
	}
	return ids
}

func TestAppendTakesEachLineOnce(t *testing.T) {
	path := write(t, "")
	for range 2 { // the second time as a restart that does it all again
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, ids := range [][]int{{1}, {1, 2, 3}, {3}, {2, 3, 4}} {
			if err := l.Append(lines(ids...)); err != nil {
				t.Fatal(err)
			}
		}
		if l.LastID() != 4 {
			t.Errorf("last id %d, want 4", l.LastID())
		}
		l.Close()
	}
	if got, _ := os.ReadFile(path); string(got) != events(1, 2, 3, 4) {
		t.Errorf("log:\n%s", got)
	}
}

func TestSE5_5_ATornLastLineIsRepaired(t *testing.T) {
	whole := events(1, 2)
	for cut := range len(event(3)) + 1 { // every way to tear it, the missing line break alone included
		path := write(t, whole+event(3)[:cut])
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if l.LastID() != 2 {
			t.Fatalf("torn after %d bytes: last id %d, want 2", cut, l.LastID())
		}
		if err := l.Append(lines(2, 3, 4)); err != nil {
			t.Fatal(err)
		}
		l.Close()
		if got, _ := os.ReadFile(path); string(got) != events(1, 2, 3, 4) {
			t.Fatalf("torn after %d bytes:\n%s", cut, got)
		}
	}
}

func TestC28_NeverTwoWriters(t *testing.T) {
	path := write(t, events(1))
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a second writer: %v", err)
	}
	l.Close()
	if l, err = Open(path); err != nil {
		t.Fatalf("the first is gone: %v", err)
	}
	l.Close()
}

func TestSinceFindsEveryPlace(t *testing.T) {
	damage := strings.Repeat("x", 3*maxLine/2)
	for name, content := range map[string]string{
		"plain":                 events(1, 2, 3, 5, 8, 13),
		"damage between":        "\n\x00\x00\n" + events(1, 2) + "{}\nnull\n" + events(3, 5) + `{"id":"7"}` + "\n" + events(8, 13) + "garbage\n\n",
		"an over-long line":     events(1, 2, 3) + damage + "\n" + events(5, 8, 13),
		"an over-long event":    events(1, 2, 3, 5, 8) + `{"id":9,"text":"` + damage + `"}` + "\n" + events(13),
		"a torn last line":      events(1, 2, 3, 5, 8, 13) + event(21)[:20],
		"members in any order":  events(1, 2, 3, 5) + `{"kind":"k","id":8,"text":"t"}` + "\n" + events(13),
		"lines of every length": events(1) + `{"id":2,"text":"` + strings.Repeat("y", 70_000) + `"}` + "\n" + events(3, 5, 8, 13),
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, content)
			all := []int64{1, 2, 3, 5, 8, 13}
			for id := int64(-1); id < 16; id++ {
				var want []int64
				for _, i := range all {
					if i > id {
						want = append(want, i)
					}
				}
				if got := since(t, path, id); !slices.Equal(got, want) {
					t.Errorf("since %d: %v, want %v", id, got, want)
				}
			}
		})
	}
	if got := since(t, filepath.Join(t.TempDir(), "none"), 0); got != nil {
		t.Errorf("no log yet: %v", got)
	}
}

func TestLastReadsFromTheEnd(t *testing.T) {
	path := write(t, events(1, 2)+"garbage\n"+events(3)+event(4)[:9])
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for n, want := range [][]int64{{}, {3}, {2, 3}, {1, 2, 3}, {1, 2, 3}} {
		got, err := r.Last(n)
		var ids []int64
		for _, e := range got {
			ids = append(ids, e.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("last %d: %v, %v; want %v", n, ids, err, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(events(1, 2)+"x\n"+events(9)+event(10)[:5]), int64(1))
	f.Add([]byte("\n\n{\"id\":1}"), int64(0))
	f.Fuzz(func(t *testing.T, content []byte, id int64) {
		path := write(t, string(content))
		last := int64(0)
		for _, got := range since(t, path, id) {
			if got <= id {
				t.Fatalf("since %d gave %d", id, got)
			}
			last = max(last, got)
		}
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Append([]Line{Line(event(int(l.LastID()%1_000_000_000) + 1))}); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkSince shows that `wait --since` seeks: the cost of the last of a million events against that of reading
// them all.
func BenchmarkSince(b *testing.B) {
	path := filepath.Join(b.TempDir(), "events.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	const n = 1_000_000
	for id := 1; id <= n; id++ {
		if _, err := f.WriteString(event(id) + "\n"); err != nil {
			b.Fatal(err)
		}
	}
	f.Close()
	for name, id := range map[string]int64{"last": n - 1, "all": 0} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := OpenReader(path)
				if err != nil {
					b.Fatal(err)
				}
				count := int64(0)
				for _, err := range r.Since(id) {
					if err != nil {
						b.Fatal(err)
					}
					count++
				}
				if count != n-id {
					b.Fatalf("%d events", count)
				}
				r.Close()
			}
		})
	}
}

func TestC30_WhatIsNoFileIsNoLog(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(fifo); err == nil {
		t.Error("a FIFO was opened for writing", l.Close())
	}
	if r, err := OpenReader(fifo); err == nil { // and nobody writes to it
		t.Error("a FIFO was opened for reading", r.Close())
	}
}
