package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestAppendMakesAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e")
	if err := AppendExisting(path, Event{Name: Stop}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("appended to a file that is not there: %v", err)
	}
	for range 2 {
		if err := Append(path, Event{Name: Stop}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := AppendExisting(path, Event{Name: Stop}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Count(string(data), "\n") != 3 {
		t.Errorf("%q, %v", data, err)
	}
}

func TestF24_ATornLastLineStandsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e")
	if err := os.WriteFile(path, []byte("{\"event\":\"session_start\"}\n{\"event\":\"sto"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Append(path, Event{Name: SessionEnd}); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	if got, want := string(data), "{\"event\":\"session_start\"}\n{\"event\":\"sto\n{\"event\":\"session_end\",\"ts\":\"0001-01-01T00:00:00Z\"}\n"; got != want {
		t.Errorf("got %q", got)
	}
	if s, err := Of(path); err != nil || s.State != Terminated {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestF57_AppendFollowsNothing(t *testing.T) {
	dir := t.TempDir()
	victim, link, pipe := filepath.Join(dir, "victim"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(victim, nil, 0o600), os.Symlink(victim, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{link: syscall.ELOOP, pipe: ErrNotRegular, dir: syscall.EISDIR} {
		if err := Append(path, Event{Name: Stop}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
		}
	}
	if data, err := os.ReadFile(victim); err != nil || len(data) > 0 {
		t.Errorf("the file behind the link has %q, %v", data, err)
	}
}

// TestF28_LinesOfSeveralMegabytes from many writers at once are whole.
func TestF28_LinesOfSeveralMegabytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e")
	var writers sync.WaitGroup
	const n = 15
	for i := range n {
		writers.Go(func() {
			line := fmt.Sprintf(`{"event":"x","n":%d,"text":"%s"}`+"\n", i, strings.Repeat(string(rune('a'+i%26)), 10+i%3*(2<<20)))
			if err := appendLine(path, []byte(line), os.O_CREATE); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	seen := map[int]bool{}
	for line, err := range Forward(path, 0) {
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			N    int
			Text string
		}
		if err := json.Unmarshal(line.Raw, &v); err != nil || strings.Trim(v.Text, string(rune('a'+v.N%26))) != "" {
			t.Fatalf("a line of %d bytes is mixed: %v", len(line.Raw), err)
		}
		seen[v.N] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d lines", len(seen), n)
	}
}

// full takes some bytes of a write and no more, as a full disk does.
type full struct {
	room, size int64
	failCut    bool
}

func (f *full) Write(p []byte) (int, error) {
	n := min(f.room, int64(len(p)))
	f.size += n
	if n < int64(len(p)) {
		return int(n), syscall.ENOSPC
	}
	return int(n), nil
}

func (f *full) Truncate(size int64) error {
	if f.failCut {
		return syscall.EIO
	}
	f.size = size
	return nil
}

func TestAFullDiskLeavesNoPart(t *testing.T) {
	for _, room := range []int64{0, 1, 9} {
		f := &full{room: room, size: 100}
		if err := write(f, []byte("0123456789\n"), 100); !errors.Is(err, syscall.ENOSPC) || f.size != 100 {
			t.Errorf("room for %d: %v, the file has %d bytes", room, err, f.size)
		}
	}
	f := &full{room: 5, failCut: true}
	if err := write(f, []byte("0123456789\n"), 0); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
}

// TestAWriterThatStandsStillHoldsNobodyUp: its lock is passed by after a while.
func TestAWriterThatStandsStillHoldsNobodyUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := Append(path, Event{Name: Stop}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < patience/2 {
		t.Errorf("waited only %v for the lock", took)
	}
	if n, err := Lines(path, 1<<20); err != nil || n != 1 {
		t.Errorf("%d lines, %v", n, err)
	}
}
