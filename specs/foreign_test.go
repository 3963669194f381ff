package specs_test

import (
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestWordsOfOtherLanguages: each fault is one diagnostic, and its hint is what was meant.
func TestWordsOfOtherLanguages(t *testing.T) {
	const when = `when: changed && item.note != ""`
	const fetch = `fetch: {stat: {path: "${target.path}"}}`
	for _, row := range []struct{ line, by, hint string }{
		{"n: count", "n: int", "`count`"},
		{"n: count", "n: Number", "`count`"},
		{"note: text", "note: string", "`text` does not speak"},
		{"n: count", "n: open|closed", "`[open, closed]`"},
		{"n: count", "n: timestamp", "`time`"},
		{"n: count", "n: {url: github.com}", "`[github.com]`"},
		{when, "when: changed && item.note != null", "`nil`"},
		{when, "when: new && item.note != nil", "`appeared`"},
		{when, "when: old != item.note", "`cursor`"},
		{when, "when: changed && note != nil", "`item.note`"},
		{when, "when: changed && item.note != path", "`target.path`"},
		{when, "when: changed && item.note != nil && exists", "`doc.exists`"},
		{when, "when: ${changed && item.note != nil}", "leave out `${` and `}`"},
		{when, "when: changed && .note != nil", "not jq"},
		{when, "when: changed && item.note is nil", "`==`"},
		{when, "when: item.n > 5 for 3 && item.note != nil", "`for: 3`"},
		{when, "when: quiet > 15m && item.note != nil", `duration("15m")`},
		{when, "when: quiet > 2d && item.note != nil", `duration("48h")`},
		{when, "when: item.n > 5GB && item.note != nil", "no unit"},
		{"tests:", "done: items.n == 3\ntests:", "any(items, .n == …)"},
		{"tests:", "done: item.n == 3\ntests:", "any(items, …)"},
		{"${item.n}", "${{ item.n }}", "one brace"},
		{"${item.n}", "${item}", "name a part of it: `item.id`, `item.n`"},
		{"kind: changed", "kind: Has Changed", "`has-changed`"},
		{"target: [/x]", "target: /x", "`[/x]`"},
		{"name: queue", "name: The_Queue", "`the-queue`"},
		{fetch, `fetch: {http: {url: "http://h/", pages: true}}`, "`link`"},
		{fetch, `fetch: {exec: {command: "ls -l ${target.path}"}}`, "`[ls, -l, \"${target.path}\"]`"},
		{fetch, `fetch: {http: {url: "http://h/", headers: {A: "Bearer ${TOKEN}"}}}`, "`env.TOKEN`"},
		{fetch, `fetch: [{name: a, stat: {path: /x}}]`, "`as`"},
		{fetch, `fetch: [{as: a, if: "true", stat: {path: /x}}]`, "`when`"},
	} {
		src := strings.Replace(specs.ExampleSpec, row.line, row.by, 1)
		if strings.HasPrefix(row.by, "fetch: [") {
			src = strings.Replace(src, "{size: null}", "{a: {size: null}}", 1)
		}
		_, _, found := specs.Check("queue.yaml", []byte(src), real)
		var faults []string
		for _, d := range found {
			if d.Severity == specs.Error {
				faults = append(faults, d.Message+": "+d.Hint)
			}
		}
		if len(faults) != 1 || !strings.Contains(faults[0], row.hint) {
			t.Errorf("%s: %q, want %s", row.by, faults, row.hint)
		}
	}
}
