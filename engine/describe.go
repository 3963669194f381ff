package engine

import (
	"os"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
)

// describe is what `status` shows.
func (l *loop) describe(now time.Time) *control.Report {
	r := &control.Report{
		Name: l.info.Name, PID: os.Getpid(), StartedAt: l.startedAt.UTC(),
		Owner:           control.Owner{PID: l.owner.PID, ID: l.owner.ID, Inbox: l.owner.Inbox},
		Files:           control.Files{Socket: l.files.Socket, State: l.files.State, Events: l.files.Events, Log: l.files.Log},
		IntervalSeconds: l.schedule.busy.Seconds(), IdleIntervalSeconds: l.schedule.idle.Seconds(),
		Targets: []control.Target{}, Events: l.commits.log.LastID(), Recent: append([]eventlog.Event{}, l.recent...),
		LastPoll: moment(l.lastPoll), LastFailure: l.lastFailure, ReloadError: l.reload.failed,
	}
	if l.options.Limits != nil {
		r.Limits = l.options.Limits()
	}
	for _, t := range l.targets {
		r.Targets = append(r.Targets, control.Target{
			Text: t.Text, Summary: l.source.Summary(t.Target), Polling: t.polling,
			Failures: t.failures, LastPoll: moment(t.lastPoll), LastFailure: t.lastFailure,
		})
	}
	if len(l.targets) > 0 {
		if r.NextPoll = moment(l.schedule.next); r.NextPoll == nil {
			r.NextPoll = moment(now) // under way
		}
	}
	if l.outbox != nil {
		d := l.delivery
		d.Mode = string(l.address.Mode)
		if d.Pending = l.outbox.pending(); d.Pending > 0 {
			d.Since = moment(l.outbox.waitingSince())
		}
		r.Delivery = &d
	}
	return r
}

// moment is t for a report, nil where there was none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Round(0)
	return &t
}
