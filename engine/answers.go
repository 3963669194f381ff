package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/control/server"
	"github.com/sessevents/sessevents/engine/inbox"
)

// answers is the loop's side of the control socket. Each request becomes a step of the loop; what takes longer waits
// here, in the goroutine of its connection.
type answers struct {
	loop *loop
	stop context.CancelCauseFunc
	done <-chan struct{} // closed when the daemon has stopped
}

var _ server.Handler = (*answers)(nil)

// errStop is the reason of a daemon that was told to stop.
var errStop = errors.New("stop")

// Handle implements server.Handler.
func (a *answers) Handle(ctx context.Context, r control.Request) control.Response {
	switch r.Op {
	case control.Status:
		return a.status(ctx)
	case control.Watch:
		return a.watch(ctx, r.Words)
	case control.Unwatch:
		return a.unwatch(ctx, r.Words, r.All)
	case control.Poll:
		return a.poll(ctx)
	case control.Wait:
		return a.wait(ctx, r)
	case control.Stop:
		a.stop(errStop)
		<-a.done
		return control.Response{PID: os.Getpid()}
	}
	return control.Response{Error: "unknown op", Usage: true}
}

// Report implements server.Handler.
func (a *answers) Report(r inbox.Report) {
	a.do(context.Background(), func(now time.Time) {
		if a.loop.outbox != nil {
			a.loop.report(r, now)
		}
	})
}

// do runs f as a step of the loop and returns when it is over; false: the daemon or the asker is gone.
func (a *answers) do(ctx context.Context, f request) bool {
	over := make(chan struct{})
	select {
	case a.loop.requests <- func(now time.Time) { defer close(over); f(now) }:
		<-over
		return true
	case <-a.done:
	case <-ctx.Done():
	}
	return false
}

var stopped = control.Response{Error: "the daemon has stopped", Stopping: true}

func (a *answers) status(ctx context.Context) (r control.Response) {
	if !a.do(ctx, func(now time.Time) {
		r = control.Response{PID: os.Getpid(), Stopping: a.loop.draining, Report: a.loop.describe(now)}
	}) {
		return stopped
	}
	return r
}

func (a *answers) watch(ctx context.Context, words []string) control.Response {
	var parsed Target
	var done <-chan polled
	var refused, err error
	ok := a.do(ctx, func(now time.Time) {
		if parsed, refused = a.loop.source.ParseTarget(words); refused == nil {
			done, err = a.loop.watch(parsed, now)
		}
	})
	switch {
	case !ok:
		return stopped
	case refused != nil:
		return refusal(refused)
	case err != nil:
		return control.Response{Error: fmt.Sprintf("watch %s: %v", parsed.Text, err)}
	}
	return a.await(ctx, []string{parsed.Text}, []<-chan polled{done})
}

func (a *answers) unwatch(ctx context.Context, words []string, all bool) control.Response {
	texts := []string{strings.Join(words, " ")}
	var gone []string
	var left int
	var err error
	ok := a.do(ctx, func(time.Time) {
		if parsed, err := a.loop.source.ParseTarget(words); err == nil {
			texts = append(texts, parsed.Text) // with the flags that it was watched with
		}
		gone, err = a.loop.unwatch(func(text string) bool { return all || slices.Contains(texts, text) })
		left = len(a.loop.targets)
	})
	switch {
	case !ok:
		return stopped
	case err != nil:
		return control.Response{Error: fmt.Sprintf("unwatch: %v", err)}
	case len(gone) == 0 && !all:
		return control.Response{Usage: true, Error: fmt.Sprintf("not watched: %s", texts[0]), Hint: fmt.Sprintf("status lists the %s that are", count(left, "target"))}
	}
	return control.Response{Targets: gone}
}

func (a *answers) poll(ctx context.Context) control.Response {
	var texts []string
	var waits []<-chan polled
	if !a.do(ctx, func(now time.Time) { texts, waits = a.loop.pollNow(now) }) {
		return stopped
	}
	return a.await(ctx, texts, waits)
}

// await waits for polls that were asked for and sums them up.
func (a *answers) await(ctx context.Context, texts []string, waits []<-chan polled) control.Response {
	r := control.Response{Targets: texts}
	for _, w := range waits {
		select {
		case p := <-w:
			r.Events += p.events
			if p.failure != nil {
				r.Failed = append(r.Failed, *p.failure)
			}
		case <-a.done:
			return stopped
		case <-ctx.Done():
			return stopped
		}
	}
	return r
}

// wait answers when the log holds an event above r.Since.
func (a *answers) wait(ctx context.Context, r control.Request) control.Response {
	var timeout <-chan time.Time
	if r.TimeoutMS > 0 {
		timer := time.NewTimer(time.Duration(min(r.TimeoutMS, int64(maxWait/time.Millisecond))) * time.Millisecond)
		defer timer.Stop()
		timeout = timer.C
	}
	for {
		var last int64
		var changed <-chan struct{}
		if !a.do(ctx, func(time.Time) { last, changed = a.loop.commits.log.LastID(), a.loop.changed }) {
			return stopped
		}
		if last > r.Since {
			return control.Response{Last: last}
		}
		select {
		case <-changed:
		case <-timeout:
			return control.Response{Last: last, TimedOut: true}
		case <-a.done:
			return stopped
		case <-ctx.Done():
			return stopped
		}
	}
}

// maxWait bounds the time of a wait that names one.
const maxWait = 30 * 24 * time.Hour

// refusal is the answer to words that the source refuses.
func refusal(err error) control.Response {
	var usage *UsageError
	if errors.As(err, &usage) {
		return control.Response{Usage: true, Error: usage.Text, Hint: usage.Hint}
	}
	return control.Response{Usage: true, Error: err.Error()}
}

// watch puts a target in, in place of one of the same text, and lets it be polled at once. The channel tells what
// came of that poll.
func (l *loop) watch(parsed Target, now time.Time) (<-chan polled, error) {
	same := func(t *target) bool { return t.Text == parsed.Text }
	t := &target{}
	at, left := slices.IndexFunc(l.targets, same), slices.IndexFunc(l.leaving, same)
	switch {
	case at >= 0:
		t = l.targets[at]
	case left >= 0:
		t = l.leaving[left]
	}
	old := *t
	// A poll of the old target that is under way goes on, so that there are never two at once, and does not count.
	t.Target = Target{Text: parsed.Text, Value: parsed.Value}
	t.generation++
	t.arrived, t.failures, t.reported, t.lastPoll, t.lastFailure = nil, 0, false, time.Time{}, nil
	t.putOff, t.notBefore = time.Time{}, time.Time{}
	before := l.targets
	if at < 0 {
		l.targets = append(slices.Clone(l.targets), t)
	}
	if err := l.save(l.snapshot(), nil); errors.Is(err, errUndecided) {
		*t, l.targets = old, before
		return nil, err
	}
	if at < 0 && left >= 0 {
		l.leaving = slices.Delete(l.leaving, left, left+1)
	}
	t.queued = append(t.queued, t.waiters...) // who waits for the old target gets what the new one comes to
	t.waiters = nil
	l.schedule.stirred(now, true)
	return l.pollOne(t, now), nil
}

// pollOne lets a target be polled as soon as it is not being polled.
func (l *loop) pollOne(t *target, now time.Time) <-chan polled {
	done := make(chan polled, 1)
	t.queued = append(t.queued, done)
	t.due = now
	return done
}

// pollNow lets every target be polled now.
func (l *loop) pollNow(now time.Time) (texts []string, waits []<-chan polled) {
	for _, t := range l.targets {
		texts = append(texts, t.Text)
		waits = append(waits, l.pollOne(t, now))
	}
	if len(l.targets) > 0 {
		l.schedule.next = now
	}
	return texts, waits
}

// unwatch forgets the targets whose text is meant, and returns their texts.
func (l *loop) unwatch(meant func(text string) bool) (gone []string, err error) {
	before := l.targets
	var removed []*target
	for _, t := range before {
		if meant(t.Text) {
			removed = append(removed, t)
			gone = append(gone, t.Text)
		}
	}
	if len(removed) == 0 {
		return nil, nil
	}
	l.targets = slices.DeleteFunc(slices.Clone(before), func(t *target) bool { return slices.Contains(removed, t) })
	if err := l.save(l.snapshot(), nil); errors.Is(err, errUndecided) {
		l.targets = before
		return nil, err
	}
	for _, t := range removed {
		l.remove(t)
		l.answer(t, polled{})
	}
	l.flushAnswers()
	return gone, nil
}
