package specs_test

import (
	"strings"
	"testing"
	"time"
)

const flaky = `
version: 1
name: flaky
interval: 1m
target: {args: [], flags: {grace: {type: duration, default: 3m}}}
fetch: {http: {url: "http://x/"}}
extract: .[]?
key: item.name
item: {name: id, n: count}
rules:
  - {when: gone, for: 3, kind: gone, text: "${cursor.name} is gone"}
  - {when: gone, kind: missed, level: note, text: "${cursor.name} is missed"}
  - {when: appeared, kind: new, text: "${item.name} is new"}
  - {when: changed, kind: changed, text: "${item.name}: ${cursor.n} to ${item.n}"}
  - {when: item.n > 8, until: item.n < 8, kind: high, text: "${item.name} is high", cleared: {kind: low, text: "${cursor.name} is low"}}
busy: waiting > 0
`

const (
	both  = `[{"name":"a","n":1},{"name":"b","n":1}]`
	onlyB = `[{"name":"b","n":1}]`
)

// TestC34_GoneHasAGrace: a list that misses an item once says nothing of it, and nothing appears again.
func TestC34_GoneHasAGrace(t *testing.T) {
	w := watch(t, flaky)
	w.want(both)
	w.want(onlyB, "missed: a is missed")
	w.want(onlyB)
	if !w.out.Busy {
		t.Error("a rule counts, and the poll is not busy")
	}
	w.want(both)
	if w.out.Busy {
		t.Error("no rule counts any more, and the poll is busy")
	}
	w.want(onlyB, "missed: a is missed")
	w.want(`[{"name":"a","n":2},{"name":"b","n":1}]`, "changed: a: 1 to 2")

	w.want(onlyB, "missed: a is missed")
	if _, err := w.try("!timeout"); err == nil {
		t.Fatal("the poll must fail")
	}
	w.want(onlyB)
	w.want(onlyB, "gone: a is gone") // a poll that could not tell does not count
	w.want(onlyB)
	w.want(both, "new: a is new")
}

func TestGoneHasAGraceOfTime(t *testing.T) {
	w := watch(t, strings.Replace(flaky, "for: 3", `for: "${target.grace}"`, 1))
	w.want(both)
	w.want(onlyB, "missed: a is missed")
	saved := ""
	for range 2 {
		w.want(onlyB)
		if saved != "" && saved != string(w.target.Saved) {
			t.Errorf("a quiet poll saves\n%s\nafter\n%s", w.target.Saved, saved)
		}
		saved = string(w.target.Saved)
	}
	w.want(onlyB, "gone: a is gone")
	w.want(onlyB)
	w.want(both, "new: a is new")
}

// TestAStandingAlertOutlivesTheGrace: what comes back has not been well in between.
func TestAStandingAlertOutlivesTheGrace(t *testing.T) {
	high := `[{"name":"a","n":9},{"name":"b","n":1}]`
	w := watch(t, flaky)
	w.want(high, "high: a is high")
	w.want(onlyB, "missed: a is missed")
	w.want(high)
	w.want(onlyB, "missed: a is missed")
	w.want(onlyB)
	w.want(onlyB, "gone: a is gone", "low: a is low")
	if got := w.source.Summary(w.target); len(got) != 0 {
		t.Errorf("standing alerts: %q", got)
	}
}

// TestGoneHasAGraceWithoutKeys: the same for a target with one item.
func TestGoneHasAGraceWithoutKeys(t *testing.T) {
	w := watch(t, strings.Replace(flaky, "key: item.name\n", "", 1))
	a, none := `[{"name":"a","n":1}]`, `[]`
	w.want(a)
	w.want(none, "missed: a is missed")
	w.want(none)
	w.want(a)
	w.want(none, "missed: a is missed")
	w.want(none)
	w.want(none, "gone: a is gone")
	w.want(none)
	w.want(a, "new: a is new")

	// A watermark stays when nothing is there, and its absence is said once as well.
	w = watch(t, strings.NewReplacer("key: item.name\n", "cursor: '{name: max(map(items, .name)), n: 1}'\n", "  - {when: changed", "  - {when: false && changed").Replace(flaky))
	w.want(a)
	w.want(none, "missed: a is missed")
	w.want(none)
	w.want(none, "gone: a is gone")
	w.want(none)
	w.want(a)
	w.want(none, "missed: a is missed")
}

// TestGoneWithoutForIsSaidAtOnce: and then the key is forgotten, as ever.
func TestGoneWithoutForIsSaidAtOnce(t *testing.T) {
	w := watch(t, strings.Replace(flaky, "  - {when: gone, for: 3, kind: gone, text: \"${cursor.name} is gone\"}\n", "", 1))
	w.want(both)
	w.want(onlyB, "missed: a is missed")
	w.want(both, "new: a is new")
	w.now = w.now.Add(time.Hour)
	w.want(`[]`, "missed: a is missed", "missed: b is missed")
}
