package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/engine/state"
)

const (
	// maxPolls bounds how many targets are asked at the same time, and maxSlow how many more may be that have been asked
	// for longer than patience: they have given their places to others.
	maxPolls = 64
	maxSlow  = 1000
	// patience is how long a poll waits for slow targets before it is committed without them. What comes later is
	// committed when it comes, so that a target that hangs delays no other.
	patience = 2 * time.Second
	// grace is what a poll under way may still take when the daemon is asked to stop: Claude Code kills a background
	// task 1.5 s after it has asked.
	grace = time.Second
	// ownerCheck is how often the owner is looked at.
	ownerCheck = time.Second
	// cappedTick bounds the wait without an owner to look at, so that a machine that slept is noticed.
	cappedTick = 30 * time.Second
	// recentEvents is how many of the last events `status` shows.
	recentEvents = 10
)

// loop is the one owner of everything that changes while a daemon runs: targets, schedule, state, messages. Requests,
// polls and deliveries run beside it and come back through its channels.
type loop struct {
	source  Source
	info    Info
	owner   rundir.Owner
	files   rundir.Files
	socket  os.FileInfo // what stands at files.Socket as long as nobody removes it; nil: not looked at
	log     *daemonLog
	commits *committer
	address inbox.Address // of the session; unused by a file sink

	state    state.State // as it was last decided
	targets  []*target
	leaving  []*target // unwatched while they were polled, and the poll is not over
	schedule schedule
	outbox   *outbox // nil for a file sink
	reload   reloader
	options  Options // as the daemon was started
	waker    *waker  // nil where there are no notices of changes

	requests chan request
	results  chan *result
	sent     chan error
	running  sync.WaitGroup
	work     context.Context // of polls and deliveries
	endWork  context.CancelFunc
	stop     context.CancelCauseFunc
	draining bool
	reason   error // why the daemon stopped

	polling      int       // polls under way, those that wait for a place among them
	asking       int       // polls that run and have a place
	slow         int       // polls that run and have given their place away
	queue        []waiting // polls that wait for a place
	placed       []place   // the places, in the order in which they were taken; some may be over
	full         bool      // the poll of all targets has not been committed yet
	patienceEnds time.Time // of the poll under way
	trouble      trouble
	answers      []func()      // to who waits for the polls that are being committed
	changed      chan struct{} // closed when events were logged, and replaced

	startedAt   time.Time
	lastPoll    time.Time
	lastFailure *control.Failure
	recent      []eventlog.Event
	delivery    control.Delivery // what status says beyond the outbox
}

// request is something to do between two steps of the loop.
type request func(now time.Time)

// run is the daemon's life: it returns when ctx has ended, the last poll is saved and nothing runs any more. The
// cause of ctx is what the log gives as the reason.
func (l *loop) run(ctx context.Context) {
	l.startedAt = time.Now()
	ctx, l.stop = context.WithCancelCause(ctx)
	defer l.stop(nil)
	l.work, l.endWork = context.WithCancel(context.WithoutCancel(ctx))
	defer l.endWork()
	if len(l.targets) > 0 {
		l.schedule.next = l.startedAt // saved targets: at once
	}
	tick := time.NewTicker(l.tick())
	defer tick.Stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if at, ok := l.act(time.Now()); ok {
			timer.Reset(max(0, time.Until(at)))
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			l.drain()
			l.reason = context.Cause(ctx)
			l.log.printf("daemon %d stopped: %v", os.Getpid(), l.reason)
			return
		case do := <-l.requests:
			do(time.Now())
		case r := <-l.results:
			l.arrive(r)
		case err := <-l.sent:
			l.delivered(err, time.Now())
		case <-tick.C:
			if l.checkOwner() {
				l.checkSocket()
			}
		case <-l.woken():
			l.wakeUp(time.Now())
		case <-l.options.Hangup:
			l.reload.due = time.Now()
		case <-timer.C:
		}
	}
}

// woken is the waker's notice, nil where there is no waker.
func (l *loop) woken() <-chan struct{} {
	if l.waker == nil {
		return nil
	}
	return l.waker.notify
}

func (l *loop) tick() time.Duration {
	if l.owner.PID == 0 {
		return cappedTick
	}
	return ownerCheck
}

// checkOwner ends the daemon when its owner is gone.
func (l *loop) checkOwner() bool {
	if l.owner.Alive() {
		return true
	}
	l.stop(fmt.Errorf("%s is gone", l.owner))
	return false
}

// checkSocket ends a daemon that nobody can reach any more, since somebody has removed its socket.
func (l *loop) checkSocket() {
	if l.socket == nil {
		return
	}
	if info, err := os.Lstat(l.files.Socket); errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(info, l.socket) {
		l.stop(errors.New("its socket was removed"))
	}
}

// act does everything that is due and returns when something is due next.
func (l *loop) act(now time.Time) (next time.Time, ok bool) {
	l.reloadDue(now)
	if l.commitDue(now) {
		l.commitArrived(now)
	}
	l.startDue(now)
	room := l.makeRoom(now)
	l.sendDue(now)

	earliest := func(at time.Time) {
		if !at.IsZero() && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	earliest(l.reload.due)
	earliest(room)
	if len(l.targets) > 0 {
		earliest(l.schedule.next)
	}
	for _, t := range l.targets {
		if !t.polling {
			earliest(t.due)
		}
		if t.arrived != nil {
			earliest(l.patienceEnds)
		}
	}
	if l.outbox != nil {
		if at, some := l.outbox.due(now); some {
			earliest(at)
		}
	}
	return next, ok
}

// startDue starts the polls that are due.
func (l *loop) startDue(now time.Time) {
	all := len(l.targets) > 0 && l.schedule.due(now)
	var due []*target
	for _, t := range l.targets {
		if !t.polling && t.arrived == nil && (all && !now.Before(t.notBefore) || !t.due.IsZero() && !now.Before(t.due)) {
			due = append(due, t)
		}
	}
	switch {
	case len(due) == 0 && !all:
		return
	case !l.checkOwner():
		return
	case len(due) == 0: // every target is still being asked, or put off
		l.schedule.polled(now, l.polling > 0)
		return
	}
	if err := l.finish(); err != nil {
		// What an earlier poll decided cannot be brought to its end yet: no poll before that.
		l.pollFailed(now, err)
		return
	}
	if all {
		l.full = true
		l.schedule.next = time.Time{} // planned again when this poll is committed
		l.trouble.begin()
	}
	l.patienceEnds = now.Add(patience)
	for _, t := range due {
		l.start(t, now, all)
	}
}

// start polls one target, beside the loop.
func (l *loop) start(t *target, now time.Time, all bool) {
	t.polling, t.started, t.due, t.inFull = true, now, time.Time{}, all
	t.waiters, t.queued = append(t.waiters, t.queued...), nil
	l.polling++
	source, asked, generation := l.source, t.Target, t.generation
	l.queue = append(l.queue, waiting{t, func() {
		// Heard of before it is polled, so that no change falls in between; and here, since a disk may hang.
		if w, ok := source.(Watcher); ok && l.waker != nil {
			l.waker.set(t, w.Watch(asked))
		}
		outcome, err := poll(l.work, source, asked, now)
		l.results <- &result{t, generation, outcome, err}
	}})
	l.fill(now)
}

// waiting is a poll that waits for a place.
type waiting struct {
	target *target
	run    func()
}

// place is what a poll has that runs, and since when.
type place struct {
	target *target
	since  time.Time
}

// fill lets polls run, as many at a time as may.
func (l *loop) fill(now time.Time) {
	for len(l.queue) > 0 && l.asking < maxPolls && l.slow < maxSlow {
		next := l.queue[0]
		l.queue[0] = waiting{}
		l.queue = l.queue[1:]
		next.target.asked, next.target.slow = now, false
		l.placed = append(l.placed, place{next.target, now})
		l.asking++
		l.running.Go(next.run)
	}
}

// makeRoom takes the places of polls that have lasted longer than patience: a host that answers nobody must not keep those
// of all others from being asked. Where polls wait for a place, it returns when to look again.
func (l *loop) makeRoom(now time.Time) (next time.Time) {
	for len(l.placed) > 0 {
		p := l.placed[0]
		running := p.target.polling && p.target.asked.Equal(p.since) && !p.target.slow
		if running && now.Sub(p.since) < patience {
			break
		}
		if running {
			p.target.slow = true
			l.asking--
			l.slow++
		}
		l.placed[0] = place{}
		l.placed = l.placed[1:]
	}
	l.fill(now)
	if len(l.queue) > 0 && len(l.placed) > 0 {
		next = l.placed[0].since.Add(patience)
	}
	return next
}

// arrive takes the result of a poll in; it is committed with the others of its poll.
func (l *loop) arrive(r *result) {
	t := r.target
	l.polling--
	if t.slow {
		l.slow--
	} else {
		l.asking--
	}
	t.polling, t.slow = false, false
	l.fill(time.Now())
	if r.generation == t.generation {
		t.arrived = r
	} else if i := slices.Index(l.leaving, t); i >= 0 { // unwatched meanwhile
		l.leaving = slices.Delete(l.leaving, i, i+1)
		if l.waker != nil {
			l.waker.forget(t)
		}
	}
}

func (l *loop) commitDue(now time.Time) bool {
	if l.polling == 0 && l.full {
		return true
	}
	arrived := slices.ContainsFunc(l.targets, func(t *target) bool { return t.arrived != nil })
	return arrived && (l.polling == 0 || !now.Before(l.patienceEnds))
}

// drain brings what is under way to its end: a poll has a moment to finish, then it is broken off and counts as
// failed. What was polled is saved.
func (l *loop) drain() {
	l.draining = true
	timer := time.NewTimer(grace)
	defer timer.Stop()
	broken := false
	for l.polling > 0 || l.outbox != nil && l.outbox.busy {
		select {
		case r := <-l.results:
			l.arrive(r)
		case err := <-l.sent:
			l.delivered(err, time.Now())
		case do := <-l.requests:
			do(time.Now())
		case <-timer.C:
			if broken {
				l.log.printf("left %d polls behind that do not end", l.polling)
				l.polling = 0
				l.commitArrived(time.Now())
				return
			}
			broken = true
			l.endWork()
			timer.Reset(grace / 2)
		}
	}
	l.running.Wait()
	l.commitArrived(time.Now())
}
