package specs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestAListNeedsAKey: without one each item is compared with the last, and a rule on `changed` speaks in every poll.
func TestAListNeedsAKey(t *testing.T) {
	const plain = "when: changed"
	for _, row := range []struct{ extract, more, when, want string }{
		{".body[]", "", plain, "no-key"},
		{".body.list[] | {id, n: (.n + 1)}", "", plain, "no-key"},
		{"(.body[]) | {id}", "", "when: item.id != cursor.id", "no-key"},
		{".body as $b | $b[] | {id}", "", plain, "no-key"},
		{".body[]", "key: item.id\n", plain, ""},
		{".body[]", "cursor: max(map(items, .id))\n", "when: item.id > cursor", ""},
		{".body[]", "", "when: item.n > 5", ""},
		{".body", "", plain, ""},
		{".body | {id, n: ([.list[].n] | add)}", "", plain, ""},
		{".body[] | select(.main) | {id}", "", plain, ""},
		{"first(.body[])", "", plain, ""},
		{"[.body[]] | {n: length}", "", plain, ""},
		{".body[0]", "", plain, ""},
	} {
		src := "version: 1\nname: n\ninterval: 1h\nidleInterval: 24h\nfetch: {http: {url: \"http://h/\"}}\nextract: " + quoted(row.extract) + "\nitem: {id: count, n: count}\n" + row.more +
			"rules: [{" + row.when + " && item.n != -1 && item.id != -1, kind: n, text: n}]\ntests: [{name: n, polls: [{fetch: {body: null}}]}]\n"
		if got := strings.Join(codesOf(src), " "); got != row.want {
			t.Errorf("%s, %s: %q, want %q", row.extract, row.when, got, row.want)
		}
	}
}

// TestWhatHoldsOnceHasNoFor: an item appears in one poll, and another is the first only once.
func TestWhatHoldsOnceHasNoFor(t *testing.T) {
	for rule, want := range map[string]string{
		"when: appeared, for: 2":                      "10:27 never-holds",
		"when: first && item.n != 1, for: 10m":        "10:39 never-holds",
		"when: appeared, for: 1":                      "",
		"when: gone, for: 2":                          "",
		"when: changed, for: 2":                       "",
		"when: appeared || item.n > 1, for: 2":        "",
		"when: item.n > 1, for: 2, until: item.n < 1": "",
	} {
		src := "version: 1\nname: n\ninterval: 1h\nidleInterval: 24h\nfetch: {http: {url: \"http://h/\"}}\nextract: .body[]\nitem: {id: id, n: count}\nkey: item.id\nrules:\n  - {" +
			rule + ", kind: n, text: \"${item?.n ?? 0}\"}\ntests: [{name: n, polls: [{fetch: {body: []}}]}]\n"
		got := ""
		_, _, found := specs.Check("n.yaml", []byte(src), real)
		for _, d := range found {
			if d.Code != "absent" && d.Code != "unused-name" {
				got += fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

// TestAnItemThatIsAList: whoever forgets the `[]` is told so.
func TestAnItemThatIsAList(t *testing.T) {
	src := "version: 1\nname: n\ninterval: 1h\nidleInterval: 24h\nfetch: {http: {url: \"http://h/\"}}\nextract: .body\nitem: {n: count}\n" +
		"rules: [{when: item.n > 1, kind: n, text: n}]\ntests: [{name: n, polls: [{fetch: {body: [{n: 1}]}}]}]\n"
	spec, source, found := specs.Check("n.yaml", []byte(src), real)
	if len(found) > 0 {
		t.Fatal(found)
	}
	if r := specs.RunTests(context.Background(), spec, source)[0]; !strings.Contains(r.Diff, "`extract` may need `[]`") {
		t.Error(r.Diff)
	}
}
