package specs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/internal/value"
)

// keyedRuns is runs with `key`: a cursor for each key, and a run for each key that is gone.
func (t *turn) keyedRuns() ([]run, error) {
	n := len(t.items)
	t.cursors = make(map[string]any, n)
	t.next.Keys = nil
	runs := make([]run, 0, n)
	seen := make(map[string]int, n)
	for i, it := range t.items {
		r := run{item: it, typed: t.typed[i], number: i + 1}
		var err error
		if r.key, err = t.keyOf(r); err != nil {
			return nil, err
		}
		r.name = keyName(r.key, "")
		if before, twice := seen[r.key]; twice {
			return nil, fmt.Errorf("two items have one key: %s and item %d", r.called(), before+1)
		}
		seen[r.key] = i
		if err := t.keyedCursor(&r); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	for _, key := range slices.Sorted(maps.Keys(t.old.Keys)) {
		if _, there := seen[key]; there {
			continue
		}
		raw, err := cursorOf(t.old.Keys[key])
		if err != nil {
			return nil, err
		}
		r := run{key: key, name: keyName(key, "an item"), rawCursor: raw, cursor: t.src.cursorType.typed(raw), gone: true}
		if _, r.told = t.old.Away[key]; !r.told {
			t.moved = true
		}
		if r.kept, err = t.awaited(key); err != nil {
			return nil, err
		} else if r.kept {
			t.keep(key, t.old.Keys[key])
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// awaited counts a poll in which the item of a key is not there, and reports whether a rule may still be waiting for it
// to come back. Until then its cursor stays, so that a list that misses an item once makes nothing appear again.
func (t *turn) awaited(key string) (bool, error) {
	a, known := t.old.Away[key]
	if !known {
		a.Since = millis(t.now)
	}
	a.Polls++
	waits, most := false, 0
	for _, rl := range t.src.rules {
		if !rl.awaits() {
			continue
		}
		hold, err := rl.hold.of(rl.given, t.target)
		if err != nil {
			return false, err
		}
		waits = waits || a.Polls < hold.polls || t.now.Sub(time.UnixMilli(a.Since)) < hold.time
		most = max(most, hold.polls)
	}
	if waits {
		if t.next.Away == nil {
			t.next.Away = map[string]away{}
		}
		a.Polls = min(a.Polls, most) // past it nothing counts them, and a quiet poll writes nothing
		t.next.Away[key] = a
	}
	return waits, nil
}

// keep saves the cursor of a key.
func (t *turn) keep(key string, cursor jsonRaw) {
	if t.next.Keys == nil {
		t.next.Keys = make(map[string]jsonRaw, len(t.items))
	}
	t.next.Keys[key] = cursor
}

// keyedCursor fills in what is saved for a run's key, and keeps the next cursor.
func (t *turn) keyedCursor(r *run) (err error) {
	raw, known := t.old.Keys[r.key]
	next := r.item
	var enc []byte
	if t.src.cursor == nil {
		if enc, err = value.Encode(next); err != nil {
			return fmt.Errorf("save the cursor: %w", err)
		}
	}
	if known && bytes.Equal(enc, raw) {
		r.rawCursor = next // the same bytes are the same value: most items of most polls
	} else if r.rawCursor, err = cursorOf(raw); err != nil {
		return err
	}
	r.cursor = t.src.cursorType.typed(r.rawCursor)
	if t.src.cursor != nil {
		if next, err = t.evalCursor(r.typed, r.cursor); err != nil {
			return err
		}
		if enc, err = value.Encode(next); err != nil {
			return fmt.Errorf("save the cursor: %w", err)
		}
	}
	r.appeared = !known && !t.first
	r.changed = known && !value.Equal(next, r.rawCursor)
	_, wasAway := t.old.Away[r.key]
	t.moved = t.moved || r.appeared || r.changed || wasAway
	t.keep(r.key, enc)
	t.cursors[strings.Trim(r.key, `"`)] = next
	return nil
}

// keyOf is the identity of a run's item, as JSON.
func (t *turn) keyOf(r run) (string, error) {
	t.env["item"] = r.typed
	v, err := t.src.key.run(t.env)
	if err != nil {
		return "", fmt.Errorf("key of %s: %w", r.called(), err)
	}
	v = value.Normalise(goNumber(v))
	if s, ok := v.(string); !ok && !value.IsNumber(v) || len(s) > maxWord {
		return "", fmt.Errorf("the key of %s is %s: it must be a string of at most %d bytes or a number", r.called(), kindOf(v), maxWord)
	}
	b, err := value.Encode(v)
	return string(b), err
}

// keyName is how the log calls an item: by its key, where that is one plain word.
func keyName(key, otherwise string) string {
	if s := strings.Trim(key, `"`); isID(s) {
		return "item " + s
	}
	return otherwise
}
