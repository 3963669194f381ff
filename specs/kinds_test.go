package specs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// kinds is a spec without faults in which every type and every condition stands once; each row of the tests changes a
// part of it.
const kinds = `version: 1
name: kinds
interval: 5s
target:
  args: [path]
  flags: {n: {type: int, default: 1}, wait: {type: duration, default: 1m}, loud: {type: bool}}
  require: [{that: target.n > 0, else: "--n is too small"}]
fetch:
  - {as: one, stat: {path: "${target.path}"}}
  - {as: two, when: target.loud, http: {url: "http://h/", headers: {A: '${env.TOKEN}'}}}
item: {id: id, n: count, at: time, took: duration, bytes: size, state: [open, closed], bad: bool, link: url, prose: text, any: auto}
key: item.id
cursor: '{n: item.n, at: item.at}'
url: ${item.link}
rules:
  - when: changed && item.n > cursor.n
    for: "${target.n}"
    until: item.bad
    kind: more
    text: "${item.n - cursor.n} of ${item.id}"
    fields: {n: "${item.n}"}
    cleared: {kind: less, text: "${item.n}"}
busy: events > 0
done: all(items, .bad)
summary: [{when: cursor.n > 1, text: "${cursor.n}"}]
`

// changed is the faults of kinds with one part changed.
func changed(t *testing.T, old, by string) string {
	t.Helper()
	src := strings.Replace(kinds, old, by, 1)
	if src == kinds {
		t.Fatalf("no %q", old)
	}
	var got []string
	for _, f := range faults(t, src) {
		if !strings.HasSuffix(f, " no-idle-interval") {
			got = append(got, f)
		}
	}
	return strings.Join(got, ", ")
}

// TestWhatHasNoMembers: a member of one number or one word fails in every poll; it is a fault wherever it stands.
func TestWhatHasNoMembers(t *testing.T) {
	for _, row := range []struct{ old, by, want string }{
		{"item.n > cursor.n", "item.n.x > 1", "16:29 unknown-name"},
		{"item.n > cursor.n", "cursor.n.x > 1", "16:31 unknown-name"},
		{"item.n > cursor.n", "item.state.x == nil", "16:33 unknown-name"},
		{"item.n > cursor.n", "item.prose.x == nil", "16:33 unknown-name"},
		{"item.n > cursor.n", "any(items, .id.x)", "16:37 unknown-name"},
		{"item.n > cursor.n", "items.n > 1", "16:28 unknown-name"},
		{"item.n > cursor.n", "item.n[0] > 1", "16:22 value-type"},
		{"item.n > cursor.n", "item.n[1:] == nil", "16:22 value-type"},
		{"item.n > cursor.n", "item.at.Yaer() > 1", "16:30 unknown-name"},
		{"item.n > cursor.n", "item.at.Year() > 1 && item.took.Hours() > 1", ""},
		{"item.n > cursor.n", "item.state.Len() > 1", "16:33 unknown-name"},
		{"item.n > cursor.n", "item.any.x.y > 1", ""},
		{"item.n > cursor.n", "quiet.x > 1", "16:28 unknown-name"},
		{"item.n > cursor.n", `target.path.x == "a"`, "16:34 unknown-name"},
		{"${item.n - cursor.n}", "${item.n.x}", "20:21 unknown-name"},
		{"url: ${item.link}", "url: ${item.link.x}", "14:18 unknown-name"},
		{`n: "${item.n}"`, `n: "${item.id.x}"`, "21:28 unknown-name"},
		{"key: item.id", "key: item.id.x", "12:14 unknown-name"},
		{"cursor.n > 1, text", "cursor.at.x > 1, text", "25:28 unknown-name"},
	} {
		if got := changed(t, row.old, row.by); got != row.want {
			t.Errorf("%s: %q, want %q", row.by, got, row.want)
		}
	}
	for _, typ := range []string{"count", "bool", "id", "url", "time", "duration", "size", "text", "[a, b]", "{id: '[a-z]'}", "{url: [h]}"} {
		src := strings.NewReplacer("item: {id: id, n: count, prose: text}", "item: "+typ, "when: changed", "when: item.foo == nil", "${item.id}", "x").Replace(base)
		_, _, found := specs.Check("spec.yaml", []byte(src), real)
		found = slices.DeleteFunc(found, func(d specs.Diagnostic) bool { return d.Severity == specs.Warning })
		if len(found) != 1 || found[0].Line != 9 || found[0].Column != 16 || found[0].Code != "unknown-name" || found[0].Hint != "write `item`" {
			t.Errorf("item: %s: %+v", typ, found)
		}
	}
}

// TestAConditionIsTrueOrFalse: each place where one stands, and each part of one.
func TestAConditionIsTrueOrFalse(t *testing.T) {
	for _, row := range []struct{ old, by, want string }{
		{"when: changed && item.n > cursor.n", "when: item.n", "16:11 value-type"},
		{"when: changed && item.n > cursor.n", "when: item.id", ""}, // an id has no kind that is known
		{"when: changed && item.n > cursor.n", "when: quiet", "16:11 value-type"},
		{"when: changed && item.n > cursor.n", "when: now - item.at", "16:11 value-type"},
		{"when: changed && item.n > cursor.n", "when: '\"x\"'", "16:12 value-type"},
		{"when: changed && item.n > cursor.n", "when: len(items)", "16:11 value-type"},
		{"item.n > cursor.n", "item.n", "16:22 value-type"},
		{"item.n > cursor.n", "!item.state", "16:23 value-type"},
		{"item.n > cursor.n", "(item.n ? true:false)", "16:23 value-type"},
		{"item.n > cursor.n", "any(items, .n)", "16:33 value-type"},
		{"item.n > cursor.n", "(item.bad ?? false)", ""},
		{"until: item.bad", "until: item.n", "18:12 value-type"},
		{"busy: events > 0", "busy: events", "23:7 value-type"},
		{"done: all(items, .bad)", "done: len(items)", "24:7 value-type"},
		{"when: cursor.n > 1", "when: cursor.n", "25:18 value-type"},
		{"when: target.loud", "when: target.n", "10:21 value-type"},
		{"that: target.n > 0", "that: target.path", "7:20 value-type"},
	} {
		if got := changed(t, row.old, row.by); got != row.want {
			t.Errorf("%s: %q, want %q", row.by, got, row.want)
		}
	}
}

// TestOperandsGoTogether: what fails for any values of these types is a fault before it runs.
func TestOperandsGoTogether(t *testing.T) {
	for _, row := range []struct{ old, by, want string }{
		{"item.n > cursor.n", "quiet > 5", "16:28 value-type"},
		{"item.n > cursor.n", "5 < quiet", "16:24 value-type"},
		{"item.n > cursor.n", `quiet > "5m"`, ""},
		{"item.n > cursor.n", `quiet > duration("5m") * 2`, ""},
		{"item.n > cursor.n", "quiet == 5", "16:28 never-holds"},
		{"item.n > cursor.n", "item.at > 5", "16:30 value-type"},
		{"item.n > cursor.n", "now - item.at > 60", "16:36 value-type"},
		{"item.n > cursor.n", `now - item.at > duration("1m") && now > date("2026-01-01")`, ""},
		{"item.n > cursor.n", `item.n > "5"`, "16:29 value-type"},
		{"item.n > cursor.n", `item.n + "x" == "1x"`, "16:29 value-type"},
		{"item.n > cursor.n", `item.n startsWith "1"`, "16:22 value-type"},
		{"item.n > cursor.n", `item.n matches "1"`, "16:22 value-type"},
		{"item.n > cursor.n", `item.id startsWith "1"`, ""},
		{"item.n > cursor.n", "1 in item.n", "16:27 value-type"},
		{"item.n > cursor.n", "-item.state == 1", "16:22 value-type"},
		{"item.n > cursor.n", "len(item.n) > 1", "16:26 value-type"},
		{"item.n > cursor.n", "upper(item.n) == \"A\"", "16:28 value-type"},
		{"item.n > cursor.n", "any(item.state, true)", "16:26 value-type"},
		{"item.n > cursor.n", "item.n / 2 + item.bytes % 3 > -1 && upper(item.state) == \"OPEN\" && len(items) > 1", ""},
		{"item.n > cursor.n", "max(map(items, .n)) > 1 && sum(items, .n) > 1 && sort(map(items, .n))[0] > 1", ""},
		{"item.n > cursor.n", "(let x = item.took; x > 5)", "16:44 value-type"},
		{"key: item.id", "key: item.bad", "12:6 value-type"},
		{"key: item.id", "key: item.n", ""},
		{`for: "${target.n}"`, `for: "${target.wait}"`, ""},
		{`for: "${target.n}"`, `for: "${target.path}"`, "17:13 value-type"},
		{`path: "${target.path}"`, `path: /x, timeout: "${target.n}"`, "9:44 value-type"},
		{"${env.TOKEN}", `${env.TOKEN ? "x" : "y"}`, "10:75 value-type"},
		{"${env.TOKEN}", `${env.TOKEN == nil ? nil : "Bearer " + env.TOKEN}`, ""},
	} {
		if got := changed(t, row.old, row.by); got != row.want {
			t.Errorf("%s: %q, want %q", row.by, got, row.want)
		}
	}
	if got := changed(t, "name: kinds", "name: kind"); got != "" {
		t.Errorf("the spec itself: %q", got)
	}
}
