package specs_test

import (
	"strings"
	"testing"
)

// expecting is a spec whose tests expect what its rules can give; each row of the test changes a part of it.
const expecting = `version: 1
name: expecting
interval: 5s
target: {args: [path]}
fetch:
  - {as: one, stat: {path: "${target.path}"}}
  - {as: two, stat: {path: /x}}
extract: .one.size
item: count
rules:
  - {when: item > 9, until: item < 5, kind: high, text: "${item}", fields: {n: "${item}"}, cleared: {kind: low, level: note, text: low}}
done: len(items) == 0
tests:
  - name: all
    target: [/x]
    polls:
      - {fetch: {one: {size: 1}}, events: []}
      - {fetch: {one: {size: 10}, two: {}}, events: [{kind: high, level: alert, text: "10", url: null, n: 10}]}
      - {fails: true}
      - {fetch: {one: {size: 0}, two: {}}, events: [{kind: low, level: note}, {kind: done, level: note}], done: true}
`

// TestTestsExpectWhatCanBe: a misspelled expectation is a fault at its place, not a test that fails.
func TestTestsExpectWhatCanBe(t *testing.T) {
	for _, row := range []struct{ old, by, want string }{
		{"name: expecting", "name: expected", ""},
		{"kind: high, level: alert", "kind: hihg, level: alert", "18:61 word"},
		{"kind: done, level: note", "kind: baseline, level: note", "20:86 word"},
		{"kind: high, level: alert", "kind: high, level: alarm", "18:74 word"},
		{`text: "10"`, `text: 10`, "18:87 not-a-string"},
		{`url: null, n: 10`, `utl: x, n: 10`, "18:93 unknown-key"},
		{`url: null, n: 10`, `url: 1, n: 10`, "18:98 not-a-string"},
		{`url: null, n: 10`, `m: 10`, "18:93 unknown-key"},
		{"{kind: low, level: note}", "{kind: low, n: 1}", "20:65 unknown-key"},
		{"{kind: low, level: note}", "low", "20:53 type"},
		{"{kind: low, level: note}", "{kind: low, kind: low}", "20:65 duplicate-key"},
		{"one: {size: 1}}", "ons: {size: 1}}", "17:18 unknown-name"},
		{"{one: {size: 1}}", "[1]", "17:17 type"},
		{"{fails: true}", "{fails: true, events: []}", "19:31 test"},
		{"{fails: true}", "{fails: true, done: false}", "19:29 test"},
		{"{fails: true}", "{fails: true, busy: false}", "19:29 test"},
		{"{fails: true}", "{fails: true, fetch: {one: {size: bad}}}", ""},
		{expecting[strings.Index(expecting, "polls:\n"):], "polls: []\n", "16:12 missing-key"},
		{expecting[strings.Index(expecting, "polls:\n"):], "polls: x\n", "16:12 type"},
	} {
		src := strings.Replace(expecting, row.old, row.by, 1)
		if src == expecting {
			t.Fatalf("no %q", row.old)
		}
		if got := strings.Join(faults(t, src), ", "); got != row.want {
			t.Errorf("%s: %q, want %q", row.by, got, row.want)
		}
	}
	if got := strings.Join(faults(t, base+"tests: [{name: a, target: [/x], polls: [{events: []}, {fails: true}]}]\n"), ", "); got != "12:41 missing-key" {
		t.Errorf("a poll without a document: %q", got)
	}
}

// TestNamesOfATargetAreOneValueEach: of two parts with one name, one would be lost.
func TestNamesOfATargetAreOneValueEach(t *testing.T) {
	for _, row := range []struct{ target, want string }{
		{"{args: [path, {name: b, pattern: '(?P<b>x)'}]}", "4:47 name"},
		{"{args: [path, {name: b, pattern: 'é(?<path>x)'}]}", "4:47 name"},
		{"{args: [path, {name: b, pattern: '(?P<n>x)'}, {name: c, pattern: '(?P<n>x)'}]}", "4:79 name"},
		{"{args: [path, {name: b, pattern: '(?P<n>x)'}], flags: {n: {type: int}}}", "4:64 name"},
		{"{args: [path], flags: {n: {}, path: {}}}", "4:39 name"},
		{"{args: [path, path]}", "4:23 duplicate-key"},
		{"{args: [path], flags: {n: {}, n: {}}}", "4:39 duplicate-key"},
		{`{args: [path, {name: b, pattern: '[(?P<path>)]+|\(\?P<b>'}]}`, ""},
	} {
		if got := strings.Join(faults(t, strings.Replace(base, "{args: [path]}", row.target, 1)), ", "); got != row.want {
			t.Errorf("%s: %q, want %q", row.target, got, row.want)
		}
	}
}
