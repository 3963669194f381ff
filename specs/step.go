package specs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/internal/value"
)

// turn is one poll of one target after its document is there: pure, but for the bounds on what jq may take.
type turn struct {
	src    *Source
	label  string // the target as the user typed it
	target map[string]any
	doc    any
	now    time.Time
	old    state
	first  bool

	next    state
	items   []any // raw, without nulls
	typed   []any
	env     map[string]any // what every expression sees
	lines   int
	moved   bool // something changed, appeared, went or came
	events  []eventlog.Event
	said    map[string]bool
	log     []string
	logged  map[string]bool
	trace   *Trace         // where somebody looks on
	cursors map[string]any // with key: the next cursors by key
	cursor  any            // without: the next one
}

// run is one evaluation of all rules: for an item, or for its absence.
type run struct {
	item, typed             any
	cursor                  any // saved, typed
	rawCursor               any
	key                     string // as JSON; empty without `key`
	name                    string // how the log calls the item; empty: by its number
	number                  int    // of the item
	appeared, changed, gone bool
	told                    bool // it was gone in the poll before: only a rule that waits still sees it so
	kept                    bool // it is not forgotten yet
}

// called is how the log calls the item. Nearly none of the lines of a stream is ever named.
func (r *run) called() string {
	if r.name != "" {
		return r.name
	}
	return fmt.Sprintf("item %d", r.number)
}

// absentNames are what may stand for nothing in a run.
var absentNames = []string{"item", "cursor"}

// absent are the names that stand for nothing in this run.
func (r *run) absent() []string {
	from, to := 0, len(absentNames)
	if r.item != nil {
		from++
	}
	if r.rawCursor != nil {
		to--
	}
	return absentNames[from:to]
}

// step runs extract, cursors and rules. old is what was saved; first says that this is the target's first poll.
func (s *Source) step(ctx context.Context, t *turn) (engine.Outcome, error) {
	var out engine.Outcome
	t.src, t.next = s, t.old
	t.next.Latches, t.next.Away = maps.Clone(t.old.Latches), nil
	t.said, t.logged = map[string]bool{}, map[string]bool{}
	if err := t.extract(ctx); err != nil {
		return out, err
	}
	runs, err := t.runs()
	if err != nil {
		return out, err
	}
	t.moved = t.moved || t.first || t.lines > 0
	if t.moved {
		t.next.Changed = millis(t.now)
	}
	t.env["quiet"] = max(t.now.Sub(time.UnixMilli(t.next.Changed)), 0) // the clock may have been set back
	for _, group := range t.groups(runs) {
		if err := t.rules(group); err != nil {
			return out, err
		}
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	if len(t.next.Latches) == 0 {
		t.next.Latches = nil
	}
	return t.outcome()
}

// extract fills in the items and what all expressions see.
func (t *turn) extract(ctx context.Context) error {
	saved, err := cursorOf(t.old.Cursor)
	if err != nil {
		return err
	}
	if t.src.stream {
		if m, ok := t.doc.(map[string]any); ok {
			if lines, ok := m["lines"].([]any); ok {
				t.lines = len(lines)
			}
		}
	}
	vars := []any{t.src.target.forJQ(t.target), int(t.now.Unix())}
	if t.src.key == nil {
		vars = append(vars, saved)
	}
	items, err := t.src.extract.run(ctx, t.label, t.doc, vars, t.lines)
	if fault := (*EvalError)(nil); errors.As(err, &fault) && !fault.Endless && t.src.stream && takesLinesAlone(t.src.extract.tree) {
		items, err = t.lineByLine(ctx, vars)
	}
	if err != nil {
		return err
	}
	t.items, t.typed = slices.Grow(t.items, len(items)), slices.Grow(t.typed, len(items))
	for _, it := range items {
		if it != nil {
			t.items = append(t.items, it)
			t.typed = append(t.typed, t.src.item.typed(it))
		}
	}
	typed := t.typed
	if typed == nil {
		typed = []any{}
	}
	t.env = map[string]any{
		"target": t.target, "doc": t.doc, "now": t.now, "first": t.first, "items": typed, "count": len(t.items),
		"quiet": time.Duration(0), budgetName: &budget{poll: maxPollSteps + 100*t.lines},
	}
	return nil
}

// lineByLine runs extract on each line alone and leaves out those on which it fails: nobody who can write a line into
// a log may be able to stop its watch for ever.
func (t *turn) lineByLine(ctx context.Context, vars []any) (items []any, err error) {
	doc, _ := t.doc.(map[string]any)
	lines, _ := doc["lines"].([]any)
	bad, reason := 0, ""
	for _, line := range lines {
		alone := maps.Clone(doc)
		alone["lines"] = []any{line}
		of, err := t.src.extract.run(ctx, t.label, alone, vars, 1)
		var fault *EvalError
		switch {
		case err == nil:
			items = append(items, of...)
		case errors.As(err, &fault) && !fault.Endless:
			if bad++; bad == 1 {
				reason = err.Error()
			}
		default:
			return nil, err
		}
	}
	t.log = append(t.log, fmt.Sprintf("%d of %d lines are left out: %s", bad, len(lines), reason))
	return items, nil
}

// forJQ is the target as jq sees it.
func (p *targetParser) forJQ(values map[string]any) any { return saved(values) }

// runs computes the next cursors, and what the rules are to run on.
func (t *turn) runs() ([]run, error) {
	if t.src.key != nil {
		return t.keyedRuns()
	}
	raw, err := cursorOf(t.old.Cursor)
	if err != nil {
		return nil, err
	}
	cur := t.src.cursorType.typed(raw)
	next, err := t.nextCursor(raw, cur)
	if err != nil {
		return nil, err
	}
	r := run{cursor: cur, rawCursor: raw, gone: !t.src.stream && raw != nil && len(t.items) == 0, told: t.old.Gone, name: "the target"}
	if r.gone && next == nil {
		if r.kept, err = t.awaited(""); err != nil {
			return nil, err
		} else if r.kept {
			next = raw
		}
	}
	t.cursor = next
	t.next.Cursor = nil
	if next != nil {
		if t.next.Cursor, err = value.Encode(next); err != nil {
			return nil, fmt.Errorf("save the cursor: %w", err)
		}
	}
	t.next.Gone = r.gone && next != nil
	if len(t.items) == 0 {
		t.moved = t.moved || r.gone && !r.told
		return []run{r}, nil
	}
	t.moved = t.moved || t.old.Gone
	runs := make([]run, 0, len(t.items))
	for i, it := range t.items {
		r := run{item: it, typed: t.typed[i], cursor: cur, rawCursor: raw, number: i + 1}
		if !t.src.stream {
			r.appeared = raw == nil && !t.first
			r.changed = raw != nil && !value.Equal(next, raw)
			t.moved = t.moved || r.appeared || r.changed
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// nextCursor is the next cursor of a target without keys. raw and cur are the saved one, as it is and typed.
func (t *turn) nextCursor(raw, cur any) (any, error) {
	e := t.src.cursor
	if len(t.items) == 0 {
		switch {
		case t.src.stream: // no new line says nothing about the ones before
			return raw, nil
		case e == nil || e.uses("item"):
			return nil, nil
		}
		v, err := t.evalCursor(nil, cur)
		var ee *EvalError
		if errors.As(err, &ee) && !ee.Endless || err == nil && v == nil {
			return raw, nil // a watermark is never lost to an empty list
		}
		return v, err
	}
	last := len(t.items) - 1
	if e == nil {
		return t.items[last], nil
	}
	return t.evalCursor(t.typed[last], cur)
}

func (t *turn) evalCursor(item, cur any) (any, error) {
	t.env["item"], t.env["cursor"] = item, cur
	v, err := t.src.cursor.run(t.env)
	if err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	if value.TooDeep(v) {
		return nil, fmt.Errorf("cursor: %w", value.ErrTooDeep)
	}
	return saved(v), nil
}

// groups puts the runs together that one memory of a rule is about: all items of a state without keys are one poll;
// with keys each item has its own, and the lines of a stream follow each other.
func (t *turn) groups(runs []run) [][]run {
	if t.src.key == nil && !t.src.stream {
		return [][]run{runs}
	}
	groups := make([][]run, len(runs))
	for i := range runs {
		groups[i] = runs[i : i+1]
	}
	return groups
}

// outcome is what the poll came to, after all rules.
func (t *turn) outcome() (engine.Outcome, error) {
	out := engine.Outcome{Log: t.log}
	t.env["events"], t.env["waiting"] = len(t.events), t.waiting()
	t.env["cursor"] = t.src.cursorType.typed(t.cursor)
	if t.src.key != nil {
		t.env["cursor"] = t.typedCursors()
	}
	delete(t.env, "item")
	out.Busy = len(t.events) > 0
	var err error
	if t.src.busy != nil {
		if out.Busy, err = t.lenient(t.src.busy, t.absentAfter()); err != nil {
			return out, fmt.Errorf("busy: %w", err)
		}
	}
	if t.src.done != nil {
		if out.Done, err = t.lenient(t.src.done, t.absentAfter()); err != nil {
			return out, fmt.Errorf("done: %w", err)
		}
		if out.Done {
			t.events = append(t.events, eventlog.Event{Kind: "done", Level: eventlog.Note, Text: cut(t.label+": finished, no longer watched", maxText)})
		}
	}
	out.Events = t.events
	out.Saved, err = t.next.encode()
	return out, err
}

// waiting is how many rules count the polls or the time of their `for`.
func (t *turn) waiting() (n int) {
	for _, l := range t.next.Latches {
		if !l.On {
			n++
		}
	}
	return n
}

// absentAfter are the names that stand for nothing once the rules have run.
func (t *turn) absentAfter() []string {
	var names []string
	if len(t.items) == 0 {
		names = append(names, "items", "cursor")
	}
	if t.src.key == nil && t.cursor == nil {
		names = append(names, "cursor")
	}
	return names
}

func (t *turn) typedCursors() map[string]any {
	out := make(map[string]any, len(t.cursors))
	for k, v := range t.cursors {
		out[k] = t.src.cursorType.typed(v)
	}
	return out
}

// lenient evaluates a condition; one that cannot be evaluated because something is absent does not hold.
func (t *turn) lenient(e *expression, absent []string) (bool, error) {
	ok, err := e.holds(t.env)
	if err == nil {
		return ok, nil
	}
	var ee *EvalError
	if e.uses(absent...) && errors.As(err, &ee) && !ee.Endless {
		return false, nil
	}
	return false, err
}
