package specs_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

const pods = `
version: 1
name: pods
interval: 5s
fetch: {http: {url: "http://x/"}}
extract: .[]?
key: item.name
item: {name: id, bad: bool}
rules:
  - {when: item.bad, for: 2m, until: "!item.bad", kind: bad, text: "${item.name} is bad", cleared: {kind: fine, text: "${cursor.name} is no longer bad"}}
`

func TestHysteresisIsPerKey(t *testing.T) {
	w := watch(t, pods)
	w.want(`[{"name":"a","bad":true},{"name":"b","bad":false}]`)
	w.want(`[{"name":"a","bad":true},{"name":"b","bad":true}]`)
	w.want(`[{"name":"a","bad":true},{"name":"b","bad":false}]`, "bad: a is bad")
	w.want(`[{"name":"a","bad":true},{"name":"b","bad":true}]`)
	w.want(`[{"name":"a","bad":true},{"name":"b","bad":true}]`)
	w.want(`[{"name":"a","bad":true},{"name":"b","bad":true}]`, "bad: b is bad")
	if got := w.source.Summary(w.target); len(got) != 2 {
		t.Errorf("standing alerts: %q", got)
	}
	w.want(`[{"name":"b","bad":false}]`, "fine: b is no longer bad", "fine: a is no longer bad")
	if got := w.source.Summary(w.target); len(got) != 0 {
		t.Errorf("standing alerts: %q", got)
	}
}

func TestForWithoutUntilSaysItOnceUntilItFails(t *testing.T) {
	w := watch(t, strings.NewReplacer(`for: 2m, until: "!item.bad"`, "for: 2", `, cleared: {kind: fine, text: "${cursor.name} is no longer bad"}`, "").Replace(pods))
	bad, good := `[{"name":"a","bad":true}]`, `[{"name":"a","bad":false}]`
	w.want(bad)
	w.want(bad, "bad: a is bad")
	w.want(bad)
	w.want(good)
	w.want(bad)
	w.want(bad, "bad: a is bad")
}

func TestFieldsKeepNumbersAndBooleans(t *testing.T) {
	w := watch(t, `
version: 1
name: n
interval: 5s
fetch: {stat: {path: /}}
item: {n: count, ok: bool, id: id, prose: text, bytes: size, took: duration}
rules:
  - when: item.prose != "x"
    kind: k
    text: t
    fields: {n: "${item.n}", ok: "${item.ok}", who: "${item.id}", both: "${item.id}=${item.n}", bytes: "${item.bytes}", took: "${item.took}", none: "${cursor.id}"}
`)
	w.poll(`{"n":9007199254740993,"ok":true,"id":"not an id","prose":"secret prose","bytes":2500,"took":"1m"}`)
	got, err := json.Marshal(w.out.Events[0].Fields)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"both":"(withheld)=9007199254740993","bytes":2500,"n":9007199254740993,"none":null,"ok":true,"took":60,"who":"(withheld)"}`
	if string(got) != want {
		t.Errorf("fields %s\nwant   %s", got, want)
	}
}

func TestDoneAndSummary(t *testing.T) {
	w := watch(t, `
version: 1
name: n
interval: 5s
target: {args: [pr]}
fetch: {stat: {path: /}}
extract: .[]
key: item.id
item: {id: id, state: [open, merged]}
rules: [{when: changed, kind: pr, text: "${item.id} ${item.state}"}]
busy: any(items, .state == "open") && len(cursor) > 0
done: all(items, .state == "merged")
summary:
  - {when: cursor.state == "open", text: "${cursor.id} of ${target.pr} is open"}
`, "x/y#1")
	w.want(`[{"id":"a","state":"open"},{"id":"b","state":"open"}]`)
	if want := []string{"a of x/y#1 is open", "b of x/y#1 is open"}; !reflect.DeepEqual(w.source.Summary(w.target), want) || !w.out.Busy || w.out.Done {
		t.Errorf("summary %q, busy %v, done %v", w.source.Summary(w.target), w.out.Busy, w.out.Done)
	}
	w.want(`[{"id":"a","state":"merged"},{"id":"b","state":"merged"}]`, "pr: a merged", "pr: b merged", "done: x/y#1: finished, no longer watched")
	if !w.out.Done || w.out.Busy || w.out.Events[2].Level != "note" {
		t.Errorf("%+v", w.out)
	}
}

// TestExpressions runs expressions of a `when` on typed items: what is true must hold.
func TestExpressions(t *testing.T) {
	for _, row := range []struct{ doc, holds string }{
		{`9007199254740993`, `item == 9007199254740993 && item != 9007199254740992 && item > 9007199254740992`},
		{`18446744073709551615`, `item > 9223372036854775807 && string(item) == "18446744073709551615" && item - 1 < item`},
		{`9223372036854775807`, `item + 1 > item && item * 2 > item && -item < 0`},
		{`1.5`, `item > 1 && item < 2 && item * 2 == 3 && int(item) == 1`},
		{`[3, 1, 2.5]`, `max(item) == 3 && min(item) == 1 && sort(item) == [1, 2.5, 3] && sum(item) == 6.5 && 2.5 in item && not (4 in item)`},
		{`[9007199254740993, 9007199254740992]`, `max(item) == 9007199254740993 && min(item) == 9007199254740992 && sort(item)[0] == 9007199254740992`},
		{`[{"n":2},{"n":1}]`, `sortBy(item, .n)[0].n == 1 && sum(item, .n) == 3 && max(map(item, .n)) == 2 && sortBy(item, .n, "desc")[0].n == 2`},
		{`[1,1,2]`, `uniq(item) == [1, 2] && mean(item) > 1.3 && median(item) == 1 && len(item) == 3 && item[-1] == 2 && item[1:] == [1, 2]`},
		{`"äöü"`, `item[:2] == "äö" && item + "x" == "äöüx" && upper(item) == "ÄÖÜ" && item startsWith "ä" && item matches "^ä" && !(item matches "^ü") && item matches item`},
		{`{"at":"2026-10-12T14:00:00Z"}`, `now - item.at == duration("1m") && now > item.at && item.at < date("2026-10-13T00:00:00Z") && item.at.Year() == 2026`},
		{`{"took":"90s"}`, `item.took > duration("1m") && item.took * 2 == duration("3m") && item.took / duration("30s") == 3`},
		{`{"a":{"b":1}}`, `item.a.b == 1 && item?.x?.y == nil && (item.x ?? 5) == 5 && "a" in item`},
		{`{"a":null}`, `!(item.a > 1) && !(item.a < 1) && item.a == nil`},
		{`"{\"n\": 9007199254740993}"`, `fromJSON(item).n == 9007199254740993 && toJSON({a: 1}) == "{\"a\":1}"`},
		{`{"a":null}`, `!item.a && !(item.a && true) && (item.b || true) && !any([item], .a) && (item.a ? false : true)`},
		{`7`, `item % 2 == 1 && 7 / 2 == 3.5 && 6 / 2 == 3 && 2 ** 10 == 1024 && abs(-item) == 7`},
	} {
		w := watch(t, `
version: 1
name: n
interval: 5s
fetch: {stat: {path: /}}
`+typesFor(row.doc)+`
rules:
  - kind: k
    text: t
    when: |
      `+row.holds+`
`)
		w.now = time.Date(2026, 10, 12, 14, 0, 0, 0, time.UTC)
		w.want(row.doc, "k: t")
	}
}

func typesFor(doc string) string {
	switch {
	case strings.Contains(doc, `"at"`):
		return "item: {at: time}"
	case strings.Contains(doc, `"took"`):
		return "item: {took: duration}"
	}
	return ""
}

func TestRulesSpeakInFileOrder(t *testing.T) {
	w := watch(t, `version: 1
name: order
interval: 5s
target: {args: [path]}
fetch: {stat: {path: "${target.path}"}}
extract: .size
item: count
rules:
  - {when: item > 1, for: 1, until: item == 0, kind: first, text: first}
  - {when: changed, kind: second, text: second}
  - {when: item > 1, for: 1, until: item == 0, kind: third, text: third}
`, "/x")
	w.want(`{"size": 1}`)
	w.want(`{"size": 2}`, "first: first", "second: second", "third: third")
}

func TestEventsComeInTheOrderOfTheFile(t *testing.T) {
	w := watch(t, `
version: 1
name: n
interval: 5s
fetch: {stat: {path: /}}
item: count
rules:
  - {when: item > 1, until: item < 1, kind: a, text: first, cleared: {kind: b, text: no longer}}
  - {when: changed, kind: c, text: second}
  - {when: item > 0, for: 1, kind: d, text: third}
`)
	w.want(`0`)
	w.want(`2`, "a: first", "c: second", "d: third")
	w.want(`0`, "b: no longer", "c: second")
}

func TestSeveralItemsWithoutAKeyAreOnePoll(t *testing.T) {
	w := watch(t, `
version: 1
name: n
interval: 5s
fetch: {stat: {path: /}}
extract: .[]
item: count
cursor: len(items)
rules:
  - {when: item > 9, for: 2, until: item < 5, kind: high, text: "${item}", cleared: {kind: low, text: low}}
`)
	w.want(`[1, 10, 11]`)
	w.want(`[12, 1]`, "high: 12")
	w.want(`[1, 7]`)
	w.want(`[1, 2]`, "low: low")
}

// TestACursorSpeaksWithTheTypesOfItsParts: what it is made from decides what a text may say of it.
func TestACursorSpeaksWithTheTypesOfItsParts(t *testing.T) {
	spec := func(cursor, text string) string {
		return `
version: 1
name: n
interval: 5s
fetch: {stat: {path: /}}
item: {id: id, prose: text, n: count}
cursor: '` + cursor + `'
rules: [{when: "changed", kind: k, text: '` + text + `'}]
`
	}
	for _, row := range []struct{ cursor, text, want string }{
		{"item", "${cursor.id} ${cursor.n}", "k: a 1"},
		{"item.id", "${cursor}", "k: a"},
		{"{a: item.id, b: item.n}", "${cursor.a} ${cursor.b}", "k: a 1"},
		{"first(items)", "${cursor.id}", "k: a"},
		{"item.n + 1", "${cursor}", "k: 2"},
		{"item.id + item.id", "${cursor}", "k: (withheld)"},
		{"{a: upper(item.id), n: item.n}", "${cursor.a} ${cursor.n}", "k: (withheld) 1"},
		{"map(items, .id)", "${cursor}", "k: a"},
	} {
		w := watch(t, spec(row.cursor, row.text))
		w.poll(`{"id":"a","n":1,"prose":"x"}`)
		if got := w.poll(`{"id":"b","n":2,"prose":"x"}`); len(got) != 1 || got[0] != row.want {
			t.Errorf("cursor %s: %q, want %q", row.cursor, got, row.want)
		}
	}
	for _, row := range [][2]string{{"item", "${cursor.prose}"}, {"item.prose", "${cursor}"}, {"{a: item.prose}", "${cursor.a}"}, {"{a: item.id}", "${cursor.b}"}, {"item", "${cursor}"}} {
		if got := faults(t, spec(row[0], row[1])); len(got) != 1 {
			t.Errorf("cursor %s lets a text say %s: %q", row[0], row[1], got)
		}
	}
}
