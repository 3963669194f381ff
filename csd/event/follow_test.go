package event

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func put(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, f *Follower) string {
	t.Helper()
	lines, err := f.Next(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, line := range lines {
		all = append(all, string(line.Raw))
	}
	return strings.Join(all, " ")
}

// followers are one that is woken by the system, and one that has no watcher left.
func followers(t *testing.T, do func(t *testing.T, follow func(path string, offset int64) *Follower)) {
	for name, blind := range map[string]bool{"watching": false, "looking": true} {
		t.Run(name, func(t *testing.T) {
			do(t, func(path string, offset int64) *Follower {
				f, err := Follow(path, offset)
				if err != nil {
					t.Fatal(err)
				}
				if blind {
					f.Close()
					f.watch = nil
				}
				t.Cleanup(f.Close)
				return f
			})
		})
	}
}

func TestAFollowerIsWokenByEachLine(t *testing.T) {
	followers(t, func(t *testing.T, follow func(string, int64) *Follower) {
		path := filepath.Join(t.TempDir(), "e")
		put(t, path, "{1}\n{2}\n")
		f := follow(path, 4)
		if got := next(t, f); got != "{2}" {
			t.Fatalf("the backlog is %q", got)
		}
		for _, line := range []string{"{3}", "{4}", "{5}"} {
			wrote := make(chan struct{})
			go func() {
				defer close(wrote)
				put(t, path, line[:1])
				put(t, path, line[1:]+"\n\n")
			}()
			if got := next(t, f); got != line {
				t.Errorf("got %q, want %q", got, line)
			}
			<-wrote
		}
		if size, err := Size(path); err != nil || f.Offset() > size {
			t.Errorf("offset %d of %d, %v", f.Offset(), size, err)
		}
	})
}

func TestAFollowerWaitsForAFileThatIsNotThereYet(t *testing.T) {
	followers(t, func(t *testing.T, follow func(string, int64) *Follower) {
		dir := t.TempDir()
		path := filepath.Join(dir, "e")
		f := follow(path, 0)
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			put(t, filepath.Join(dir, "another"), "{0}\n")
			put(t, path, "{1}\n")
			put(t, path, "{2}\n")
		}()
		got := next(t, f)
		<-wrote
		if got == "{1}" {
			got += " " + next(t, f)
		}
		if got != "{1} {2}" {
			t.Errorf("got %q", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if lines, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", lines, err)
		}
	})
}

func TestAFollowerHearsThatTheFileIsRemoved(t *testing.T) {
	followers(t, func(t *testing.T, follow func(string, int64) *Follower) {
		path := filepath.Join(t.TempDir(), "e")
		put(t, path, "{1}\n")
		f := follow(path, 0)
		if got := next(t, f); got != "{1}" {
			t.Fatalf("got %q", got)
		}
		removed := make(chan error, 1)
		go func() { removed <- os.Remove(path) }()
		if lines, err := f.Next(soon(t)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v, %v", lines, err)
		}
		if err := <-removed; err != nil {
			t.Fatal(err)
		}
	})
}

func TestAFollowerReadsAFileThatWasCutFromItsStart(t *testing.T) {
	followers(t, func(t *testing.T, follow func(string, int64) *Follower) {
		path := filepath.Join(t.TempDir(), "e")
		put(t, path, "{1}\n{2}\n")
		f := follow(path, 8)
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		put(t, path, "{3}\n")
		if got := next(t, f); got != "{3}" {
			t.Errorf("got %q", got)
		}
	})
}

func TestALongBacklogComesInParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e")
	put(t, path, strings.Repeat("{"+strings.Repeat("x", 1<<20)+"}\n", 10))
	f, err := Follow(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := 0
	for calls := 0; got < 10; calls++ {
		lines, err := f.Next(soon(t))
		if err != nil || len(lines) > 5 {
			t.Fatalf("call %d: %d lines, %v", calls, len(lines), err)
		}
		got += len(lines)
	}
}

func TestAFollowerNeedsTheFolder(t *testing.T) {
	if _, err := Follow(filepath.Join(t.TempDir(), "no", "e"), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
