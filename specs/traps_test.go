package specs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

const (
	trapRule = "  - when: changed\n    kind: changed\n    text: \"${item.id}\""
	trapText = `text: "${item.id}"`
)

// TestQuotesInsideOfQuotes: the library names the line on which the block begins, lint the quote.
func TestQuotesInsideOfQuotes(t *testing.T) {
	for _, row := range []struct{ line, by, want, hint string }{
		{"when: changed", `when: "item.id == "x""`, "9:23 quote", "write the whole in single quotes"},
		{"when: changed", `when: "item.id == 'y' || item.id == "x""`, "9:41 quote", "write a double quote inside double quotes as `\\\"`"},
		{"when: changed", `when: 'item.id == 'x''`, "9:23 quote", "twice: `''`"},
		{"when: changed", `when: "x" == item.id`, "9:13 quote", "write the whole in single quotes"},
		{trapText, `text: "ä ${item.id ?? "none"}"`, "11:27 quote", "write the whole in single quotes"},
		{trapRule, `  - {when: "item.id == "x"", kind: a, text: b}`, "9:24 quote", "write the whole in single quotes"},
		{`{path: "${target.path}"}`, `{path: "${target.path ?? "x"}"}`, "5:40 quote", "write the whole in single quotes"},
		{`fetch: {stat: {path: "${target.path}"}}`, "fetch:\n  exec:\n    command:\n      - \"a \"b\"\"", "8:12 quote", "write the whole in single quotes"},
		{trapRule, `  - {when: any([1], # > 3), kind: a, text: b}`, "9:16 unquoted", "in quotes"},
		{trapRule, `  - {when: any(items, # > 3), kind: a, text: b}`, "9:23 unquoted", "in quotes"},
		// What stands in a block is no YAML, whatever is wrong elsewhere.
		{"when: changed\n", "when: |\n      item.id == \"a\" && \"b\" == item.id\n    cleared: [}\n", "11:15 yaml", "close it with `]`"},
		{"extract: .size", "extract: |\n  \"a\" \"b\"\nitems: 'it''s' ]", "8:14 quote", "twice"},
	} {
		src := strings.Replace(base, row.line, row.by, 1)
		if src == base {
			t.Fatalf("no line %q", row.line)
		}
		_, found := specs.Parse("spec.yaml", []byte(src))
		if len(found) != 1 || strings.Join(faults(t, src), " ") != row.want || !strings.Contains(found[0].Hint, row.hint) {
			t.Errorf("%s\ngave %+v, want %s, %s", row.by, found, row.want, row.hint)
		}
	}
}

// TestQuotesThatAreRight: none of these is taken for a fault.
func TestQuotesThatAreRight(t *testing.T) {
	for _, by := range []string{
		`text: "a \"b\" c" # "d" e`, `text: 'it''s'`, `"text": "x"`, `text: a "b" c`, `text: it's`, "text: >-\n      \"a\" b", `text: "a
      \"b\" c"`,
	} {
		if got := faults(t, strings.Replace(base, trapText, by, 1)); len(got) > 0 {
			t.Errorf("%s: %q", by, got)
		}
	}
}

// TestWhatYAMLReadsHasNoTrap: where the library reads a file, its faults are others.
func TestWhatYAMLReadsHasNoTrap(t *testing.T) {
	for _, by := range []string{
		"text: >2-\n      a: \"b\": [", "text: 'a\n\n      b: ''c'' [ d: e'", "text: a\n      b # c: [", `text: {a: "b", 'c': d, "e":f, g: [h: i, j: k], l: http://m/}`, "text: [a, # see [1]\n      b]",
		"text: [\n      a\n    ]", "text: {\n    a: 1,\n    b: 2\n    }", "? text\n    : a", "\"text\" : a:b", "text: - a", "text: [a - b: c]", "text: |  # a: b: [\n      \"", "text: a, b] c}", "text: !!str [a]",
	} {
		_, found := specs.Parse("spec.yaml", []byte(strings.Replace(base, trapText, by, 1)+"  - 1: 2: 3\n"))
		for _, d := range found {
			if d.Source != "  - 1: 2: 3" && d.Code != "type" && d.Code != "tag" && (d.Code == "unquoted" || d.Code == "unquoted-colon" || d.Code == "quote" || d.Code == "yaml") {
				t.Errorf("%s: %+v", by, d)
			}
		}
	}
}

// TestWhatACommentCutsOff: YAML ends a string at a space and `#`.
func TestWhatACommentCutsOff(t *testing.T) {
	for _, row := range []struct{ line, by, code, hint string }{
		{"when: changed", "when: any([item.n], # > 3)", "expr", "YAML takes ` #` for the beginning of a comment"},
		{trapText, "text: ${item.id #}", "template", "YAML takes ` #` for the beginning of a comment"},
		{"extract: .size", `extract: .a | select(.b == " #1")`, "jq", "YAML takes ` #` for the beginning of a comment"},
		{trapText, "text: item #${item.id} there", "comment", "put the whole in quotes"},
		{trapText, "text: \"${item.id}\" # ${item.n} was here once", "", ""},
		{"when: changed", "when: changed # as ever", "", ""},
	} {
		_, _, found := specs.Check("spec.yaml", []byte(strings.Replace(base, row.line, row.by, 1)), real)
		got := ""
		for _, d := range found {
			if d.Code != "no-tests" && d.Code != "unused-name" {
				got += d.Code + " " + d.Hint
			}
		}
		if row.code == "" && got != "" || row.code != "" && !strings.HasPrefix(got, row.code+" "+row.hint) {
			t.Errorf("%s: %q, want %s %s", row.by, got, row.code, row.hint)
		}
	}
}

// TestANotWithoutQuotes: to YAML a condition that begins with `!` is a tag. Whoever leaves that out has the opposite.
func TestANotWithoutQuotes(t *testing.T) {
	const rule = "when: changed && item.note != \"\"\n    kind: changed"
	for _, row := range []struct{ by, want string }{
		{"when: !changed\n    kind: changed", "10:11 unquoted"},
		{"when: !changed && item.n > 5\n    kind: changed", "10:11 unquoted"},
		{"when: !(changed)\n    kind: changed", "10:11 unquoted"},
		{"when: '!changed'\n    kind: changed", ""},
		{"when: !chnged\n    kind: changed", "10:11 unquoted 10:12 unknown-name"},
		{"when: changed\n    until: !changed\n    kind: changed", "11:12 unquoted"},
		{"when: !!str changed\n    kind: changed", "10:11 tag"},
		{"{when: !changed, kind: x, text: x}\n  - when: changed\n    kind: changed", "10:12 unquoted"},
		{"{when: changed, until: !changed}\n  - when: changed\n    kind: changed", "10:28 unquoted"},
	} {
		src := strings.Replace(specs.ExampleSpec, rule, row.by, 1)
		src = strings.NewReplacer("item: {id: id, n: count, note: text}", "item: {id: id, n: count}").Replace(src)
		_, _, found := specs.Check("queue.yaml", []byte(src), real)
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
		}
		if s := strings.Join(got, " "); s != row.want {
			t.Errorf("%s: %q, want %q", row.by, s, row.want)
		}
	}
}
