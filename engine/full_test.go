package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
)

func TestENOSPCAtEachStepIsAFailedPollAndTheEventsComeOnce(t *testing.T) {
	for _, step := range []string{"prepare", "append", "promote"} {
		t.Run(step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var full atomic.Bool
				var value atomic.Int64 // of the world
				source := &script{ask: func(_ context.Context, t Target, _ int) (Outcome, error) {
					saved, now := int64(0), value.Load()
					if t.Saved != nil {
						if err := json.Unmarshal(t.Saved, &saved); err != nil {
							return Outcome{}, err
						}
					}
					o := Outcome{Saved: json.RawMessage(fmt.Sprint(now))}
					if saved != now {
						o.Events = []eventlog.Event{{Kind: "k", Text: fmt.Sprintf("%d to %d", saved, now)}}
					}
					return o, nil
				}}
				b := run(t, t.TempDir(), source, func(o *Options) {
					o.fault = func(now string) error {
						if full.Load() && now == step {
							return syscall.ENOSPC
						}
						return nil
					}
				})
				defer b.end()
				b.mustWatch("a")
				full.Store(true)
				value.Store(1)
				if r := b.ask(control.Request{Op: control.Poll}); len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Reason, "no space left") {
					t.Errorf("a poll on a full disk: %+v", r)
				}
				for range 4 {
					time.Sleep(5 * time.Second)
					synctest.Wait()
				}
				r := b.ask(control.Request{Op: control.Status})
				if step != "promote" && r.Report.Events != 0 {
					t.Errorf("%d events in the log of a full disk", r.Report.Events)
				}
				if f := r.Report.LastFailure; f == nil || !strings.Contains(f.Reason, "no space left") {
					t.Errorf("status does not say why: %+v", f)
				}
				full.Store(false)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				value.Store(2)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				var changes []string
				for _, line := range b.logged() {
					if !strings.Contains(line, "the last 3 polls failed") {
						changes = append(changes, line[strings.IndexByte(line, ' ')+1:])
					}
				}
				if got := strings.Join(changes, ", "); got != "0 to 1, 1 to 2" {
					t.Errorf("logged %q", b.logged())
				}
			})
		})
	}
}
