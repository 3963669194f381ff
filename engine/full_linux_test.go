package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
)

// TestAFullDisk fills a small file system of its own, at every size at which a step may not fit any more.
func TestAFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a small file system")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("needs a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	must(t, os.Mkdir(dir+"/run", 0o700))
	ballast := filepath.Join(dir, "ballast")
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		source := &script{ask: func(_ context.Context, t Target, _ int) (Outcome, error) {
			saved, now := int64(0), n.Load()
			if t.Saved != nil {
				if err := json.Unmarshal(t.Saved, &saved); err != nil {
					return Outcome{}, err
				}
			}
			o := Outcome{Saved: json.RawMessage(fmt.Sprint(now))}
			for i := saved + 1; i <= now; i++ {
				o.Events = append(o.Events, eventlog.Event{Kind: "k", Text: fmt.Sprintf("change %d %s", i, strings.Repeat("x", 200))})
			}
			return o, nil
		}}
		b := run(t, dir+"/run", source)
		defer b.end()
		b.mustWatch("a")
		failed := 0
		for size := 252 << 10; size >= 220<<10; size -= 1 << 10 {
			// As much ballast as leaves room for a part of what the poll writes.
			err := os.WriteFile(ballast, make([]byte, size), 0o600)
			if err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			n.Add(20)
			r := b.ask(control.Request{Op: control.Poll})
			failed += len(r.Failed)
			must(t, os.Remove(ballast))
			b.ask(control.Request{Op: control.Poll})
		}
		if failed < 3 {
			t.Errorf("only %d polls met a full disk", failed)
		}
		next := int64(1)
		for _, line := range b.logged() {
			if strings.Contains(line, "the last 3 polls failed") {
				continue
			}
			if !strings.Contains(line, fmt.Sprintf(" change %d x", next)) {
				t.Fatalf("logged %.60q where change %d was due", line, next)
			}
			next++
		}
		if next != n.Load()+1 {
			t.Errorf("%d changes logged, of %d", next-1, n.Load())
		}
		t.Logf("%d polls met a full disk", failed)
	})
}
