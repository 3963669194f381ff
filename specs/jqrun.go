package specs

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/itchyny/gojq"
	"github.com/sessevents/sessevents/internal/value"
)

// run gives the items of a target's document. lines is how many new lines a stream has, 0 for a state.
func (q *query) run(ctx context.Context, target string, doc any, vars []any, lines int) ([]any, error) {
	most := max(maxItems, 4*lines)
	if q.quick != nil {
		if items, ok := q.quick.run(ctx, doc, most); ok {
			return items, nil
		}
	}
	if why := q.lost.holds(target); why != "" {
		return nil, q.failed(why, true)
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan ran, 1)
	go func() {
		var r ran
		defer func() { ended <- r }()
		r.items, r.err = q.runThrough(inner, doc, vars, most)
	}()
	r, ok := q.watch(ctx, cancel, ended, maxQueryTime*time.Duration(1+lines/20_000))
	if !ok {
		q.lost.add(target, ended)
	}
	return r.items, r.err
}

// ran is what a run came to.
type ran struct {
	items []any
	err   error
}

// runThrough runs the program to its end, or until ctx ends.
func (q *query) runThrough(ctx context.Context, doc any, vars []any, most int) (items []any, err error) {
	defer func() { // a fault of the library in a program that we do not know must not end the daemon
		switch p := recover().(type) {
		case nil:
		case tooMuch:
			items, err = nil, q.failed(string(p), true)
		default:
			items, err = nil, q.failed("the jq library failed", true)
		}
	}()
	in := make([]any, len(vars), len(vars)+1)
	for i := range vars {
		in[i] = forJQ(vars[i])
	}
	if q.bound {
		in = append(in, &jqRun{ctx: ctx, patterns: &q.patterns})
	}
	iter := q.code.RunWithContext(ctx, forJQ(doc), in...)
	for {
		v, ok := iter.Next()
		if !ok {
			break
		}
		if err, isErr := v.(error); isErr {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				break
			}
			return nil, q.failed(jqReason(err), false)
		}
		if len(items) == most {
			return nil, q.failed(fmt.Sprintf("it gives more than %d items", most), true)
		}
		items = append(items, v)
	}
	if ctx.Err() != nil { // the last step may have been cut short
		return nil, ctx.Err()
	}
	if err := value.NormaliseAll(ctx, items); errors.Is(err, value.ErrTooDeep) {
		return nil, q.failed("an item is "+err.Error(), true)
	} else if err != nil {
		return nil, err
	}
	return items, nil
}

const (
	// lookEvery is how often a run is looked at.
	lookEvery = 10 * time.Millisecond
	// lastStep is how long a run that was told to end may work on its last step.
	lastStep = 100 * time.Millisecond
)

// watch waits for a run, and ends it when limit has passed, when the heap has grown too far, or with ctx. ok is false
// where the run is given up, because it does not end even then.
func (q *query) watch(ctx context.Context, cancel context.CancelCauseFunc, ended <-chan ran, limit time.Duration) (r ran, ok bool) {
	began, start := time.Now(), uint64(0)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var why error
	for why == nil {
		select {
		case r := <-ended:
			return r, true
		case <-ctx.Done():
			why = ctx.Err()
			continue
		case <-tick.C:
		}
		now := heap()
		if start == 0 {
			start = now
		}
		switch {
		case time.Since(began) >= limit:
			why = q.failed(fmt.Sprintf("it does not end: more than %s", limit), true)
		case now > start+maxQueryBytes:
			why = q.failed("it takes too much memory: more than "+speakSize(maxQueryBytes), true)
		}
	}
	cancel(why)
	select {
	case r = <-ended:
		ok = true
	case <-time.After(lastStep):
	}
	return ran{err: why}, ok
}

// maxLostRuns bounds how many runs of a program may be given up at a time: what they work on goes on.
const maxLostRuns = 4

// lostRuns are runs that were given up. The zero value is ready for use, by several goroutines.
type lostRuns struct {
	mu   sync.Mutex
	runs map[string]<-chan ran
}

// add remembers a run until it ends.
func (l *lostRuns) add(target string, ended <-chan ran) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		l.runs = map[string]<-chan ran{}
	}
	l.runs[target] = ended
}

// holds says why the program may not run on a target; empty where it may.
func (l *lostRuns) holds(target string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, ended := range l.runs {
		select {
		case <-ended:
			delete(l.runs, of)
		default:
		}
	}
	switch {
	case l.runs[target] != nil:
		return "its last run does not end"
	case len(l.runs) >= maxLostRuns:
		return "too many of its runs do not end"
	}
	return ""
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
