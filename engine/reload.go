package engine

import (
	"fmt"
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
)

// reloadSettle is how long a changed file is left alone: an editor writes it in several steps.
const reloadSettle = 500 * time.Millisecond

// reloader takes up a source that changed while the daemon runs.
type reloader struct {
	build  func() (Source, error)
	file   *target   // stands for the source's file with the waker; it is never polled
	due    time.Time // zero: nothing to do
	failed string    // why the last try failed; empty after one that did not
}

// reloadDue builds the source anew, where it was asked for. Everything that can fail comes first; then it takes the
// old one's place. A source that cannot be built leaves the old one running, and is reported once.
func (l *loop) reloadDue(now time.Time) {
	if l.reload.due.IsZero() || now.Before(l.reload.due) {
		return
	}
	l.reload.due = time.Time{}
	source, err := l.reload.build()
	if err == nil && source == nil {
		return // it is as it was
	}
	var info Info
	if err == nil {
		o := l.options
		o.Source = source
		if info, err = o.describe(); err == nil && info.Name != l.info.Name {
			err = fmt.Errorf("its name is now %s: start a daemon for that one", info.Name)
		}
	}
	if err != nil {
		l.log.printf("the changed source is not taken up: %v", err)
		if l.reload.failed == "" {
			_ = l.save(l.snapshot(), []eventlog.Event{{
				Kind: "reload", Level: eventlog.Alert, URL: l.files.Log,
				Text: l.info.Name + ": the changed spec is not taken up, the old one goes on; read the daemon log for the reason",
			}})
		}
		l.reload.failed = err.Error()
		return
	}
	l.reload.failed = ""
	l.source, l.info = source, info
	l.schedule.busy, l.schedule.idle = info.Interval, info.IdleInterval
	if !l.full { // else the poll of all targets that is under way plans the next one
		l.schedule.next, l.schedule.wait = now, 0
	}
	l.log.printf("the changed source is taken up: every %s to %s", seconds(info.Interval), seconds(info.IdleInterval))
}
