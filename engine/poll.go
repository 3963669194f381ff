package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/state"
)

// commitArrived commits what the polls that are over came to: one commit, whatever the number of targets.
func (l *loop) commitArrived(now time.Time) {
	full := l.full
	l.full = false
	batch := l.sift(now)

	var err error
	if batch.changes {
		if err = l.save(batch.targets, batch.events); errors.Is(err, errUndecided) {
			for _, r := range batch.good {
				l.targetFailed(r.target, now, err)
			}
			batch.good = nil
		}
	}
	for _, r := range batch.good {
		l.targetSucceeded(r, now, err)
	}
	l.judge()
	if full || len(batch.good) > 0 || err != nil {
		l.lastPoll = now
		busy := len(batch.events) > 0 || slices.ContainsFunc(batch.good, func(r *result) bool { return r.outcome.Busy })
		if full {
			l.schedule.polled(now, busy)
		} else {
			l.schedule.stirred(now, busy)
		}
		l.logPoll(batch, now, err)
	}
	l.reportTrouble()
	l.flushAnswers()
}

// batch is what one commit is made of.
type batch struct {
	good    []*result
	asked   int
	events  []eventlog.Event
	targets []state.Target // all targets, as they are after it
	changes bool           // there is something to save
}

// sift takes the results that are over: failures are counted, the rest makes up the batch.
func (l *loop) sift(now time.Time) batch {
	var b batch
	for _, t := range l.targets {
		r := t.arrived
		t.arrived = nil
		next := state.Target{Text: t.Text, Value: t.Value, Saved: t.Saved}
		switch {
		case r == nil:
		case r.err != nil:
			b.asked++
			l.logLines(r)
			l.targetFailed(t, now, r.err)
		default:
			b.asked++
			b.good = append(b.good, r)
			b.events = append(b.events, r.outcome.Events...)
			next.Saved = r.outcome.Saved
			if !bytes.Equal(next.Saved, t.Saved) || r.outcome.Done {
				b.changes = true
			}
			if r.outcome.Done {
				continue
			}
		}
		b.targets = append(b.targets, next)
	}
	b.changes = b.changes || len(b.events) > 0
	return b
}

// putOffLimit is how long a polled system may ask for patience before that is trouble.
const putOffLimit = 15 * time.Minute

// puttingOff takes note that the polled system asks not to be asked for a while. That is no trouble of ours, until it
// goes on for long.
func (t *target) puttingOff(err error, now time.Time) bool {
	var patience interface{ RetryAfter() time.Duration }
	if !errors.As(err, &patience) || patience.RetryAfter() <= 0 {
		t.putOff = time.Time{}
		return false
	}
	t.notBefore = now.Add(patience.RetryAfter())
	if t.putOff.IsZero() {
		t.putOff = now
	}
	return now.Sub(t.putOff) < putOffLimit
}

// targetFailed counts a failed poll of one target, logs why, and answers who waits for it.
func (l *loop) targetFailed(t *target, now time.Time, err error) {
	if patient := t.puttingOff(err, now); !patient {
		t.failures++
		if t.inFull {
			l.trouble.failed = true
		}
	}
	l.leaves(t, false)
	f := control.Failure{Target: t.Text, At: now.UTC(), Reason: oneLine(err.Error(), maxLogLine)}
	if errors.Is(err, context.Canceled) && l.work.Err() != nil {
		f.Reason = "broken off: the daemon stops"
	}
	t.lastFailure, l.lastFailure = &f, &f
	l.log.printf("poll of %q failed (%d in a row): %s", t.Text, t.failures, f.Reason)
	l.answer(t, polled{failure: &f})
}

// logLines gives the daemon log what a poll has to say, also one that failed.
func (l *loop) logLines(r *result) {
	for _, line := range r.outcome.Log {
		l.log.printf("%q: %s", r.target.Text, line)
	}
}

// targetSucceeded takes over what a poll of one target left. err says why the log does not hold its events yet.
func (l *loop) targetSucceeded(r *result, now time.Time, err error) {
	t := r.target
	t.Saved = r.outcome.Saved
	t.failures, t.reported, t.lastPoll, t.putOff = 0, false, now, time.Time{}
	if t.inFull {
		l.trouble.succeeded = true
	}
	l.logLines(r)
	if l.leaves(t, r.outcome.More); t.more {
		t.due = now
	}
	if r.outcome.Done {
		l.remove(t)
		l.log.printf("%q is done: not watched any more", t.Text)
	}
	if r.outcome.Committed != nil {
		r.outcome.Committed()
	}
	p := polled{events: len(r.outcome.Events)}
	if err != nil {
		p.failure = &control.Failure{Target: t.Text, At: now.UTC(), Reason: err.Error()}
	}
	l.answer(t, p)
}

// judge ends the poll of all targets when none of them is asked any more, and says whether it failed as a whole.
func (l *loop) judge() {
	if slices.ContainsFunc(l.targets, func(t *target) bool { return t.polling && t.inFull }) {
		return
	}
	recovered := l.trouble.reported
	if l.trouble.verdict(); recovered && !l.trouble.reported {
		// Those that go on failing were covered by the report on the whole; now they count on their own.
		for _, t := range l.targets {
			if t.failures > 0 {
				t.failures, t.reported = 1, false
			}
		}
	}
}

// pollFailed counts a poll that could not even begin.
func (l *loop) pollFailed(now time.Time, err error) {
	l.trouble.begin()
	l.trouble.failed = true
	l.trouble.verdict()
	f := control.Failure{At: now.UTC(), Reason: err.Error()}
	l.lastFailure = &f
	for _, t := range l.targets {
		t.due = time.Time{}
		t.waiters, t.queued = append(t.waiters, t.queued...), nil
		l.answer(t, polled{failure: &f})
	}
	l.schedule.polled(now, false)
	l.log.printf("poll failed (%d in a row): %v; next in %s", l.trouble.failures, err, seconds(l.schedule.wait))
	l.reportTrouble()
	l.flushAnswers()
}

// answer tells those who wait for a poll of t what came of it, when all of it is done.
func (l *loop) answer(t *target, p polled) {
	for _, w := range t.waiters {
		l.answers = append(l.answers, func() { w <- p })
	}
	t.waiters = nil
}

func (l *loop) flushAnswers() {
	for _, f := range l.answers {
		f()
	}
	l.answers = nil
}

// logPoll writes the line that every poll has in the daemon log.
func (l *loop) logPoll(b batch, now time.Time, err error) {
	late := ""
	if l.polling > 0 {
		late = fmt.Sprintf(", %d still asked", l.polling)
	}
	next := "none"
	if !l.schedule.next.IsZero() {
		next = seconds(max(0, l.schedule.next.Sub(now)).Round(time.Millisecond))
	}
	if err != nil {
		l.log.printf("poll failed: %v; next in %s", err, next)
		return
	}
	l.log.printf("poll: %s of %s%s; next in %s", count(len(b.events), "event"), count(b.asked, "target"), late, next)
}

// snapshot is the targets as they are saved now.
func (l *loop) snapshot() []state.Target {
	targets := make([]state.Target, len(l.targets))
	for i, t := range l.targets {
		targets[i] = state.Target{Text: t.Text, Value: t.Value, Saved: t.Saved}
	}
	return targets
}

// save commits targets and events. On errUndecided nothing has changed. On another error all of it is decided, and
// only its way into the log is not complete.
func (l *loop) save(targets []state.Target, events []eventlog.Event) error {
	next := l.state
	next.Targets = targets
	at := time.Now().UTC().Truncate(time.Second)
	for i := range events {
		next.Events++
		events[i].ID, events[i].At = next.Events, at
	}
	var err error
	if next.Commit, err = encode(events); err != nil {
		return fmt.Errorf("%w: %w", errUndecided, err)
	}
	if l.outbox != nil {
		next.Delivery = l.outbox.saved
	}
	err = l.commits.commit(next)
	if errors.Is(err, errUndecided) {
		return err
	}
	l.state = next
	for _, e := range events {
		if l.outbox != nil {
			l.outbox.add(e, at)
		}
	}
	l.recent = append(l.recent, events...)
	l.recent = slices.Clone(l.recent[max(0, len(l.recent)-recentEvents):])
	if err == nil && len(events) > 0 {
		l.announce()
	}
	return err
}

// finish completes a commit that an error cut short.
func (l *loop) finish() error {
	if l.commits.open == nil {
		return nil
	}
	if err := l.commits.finish(); err != nil {
		return err
	}
	l.announce()
	return nil
}

// announce wakes those who wait for events.
func (l *loop) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// remove takes a target out. Who waits for a poll of it is to be answered then: there will be none.
func (l *loop) remove(t *target) {
	t.generation++
	t.waiters, t.queued = append(t.waiters, t.queued...), nil
	if t.polling {
		l.leaving = append(l.leaving, t)
	}
	l.leaves(t, false)
	if l.waker != nil {
		l.waker.forget(t)
	}
	l.targets = slices.DeleteFunc(slices.Clone(l.targets), func(o *target) bool { return o == t })
}

// leaves notes whether a target has more to read, and tells of the first that does and of the last that does no more.
func (l *loop) leaves(t *target, more bool) {
	if t.more == more {
		return
	}
	t.more = more
	if l.options.Backlog != nil && !slices.ContainsFunc(l.targets, func(o *target) bool { return o != t && o.more }) {
		l.options.Backlog(more)
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }
