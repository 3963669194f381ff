package specs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestADocumentHasOnlyWhatItsFetcherGives: a program that looks for something else would find null for ever, and its
// tests, with documents of the same wrong form, would pass.
func TestADocumentHasOnlyWhatItsFetcherGives(t *testing.T) {
	const http = "fetch: {http: {url: \"http://h/\"}}\n"
	const steps = "fetch: [{as: a, http: {url: \"http://h/\", failure: data}}, {as: b, stat: {glob: \"/x/*\"}}]\n"
	for _, row := range []struct{ fetch, extract, doc, want string }{
		{http, ".messages", "{}", "8:12 .body.messages"},
		{http, ".body | {messages}", "{}", ""},
		{http, "\"é\" as $e | {messages: 1, \"n\": .messages}", "{}", "8:43 .body.messages"},
		{http, "{status, error}", "{}", "8:20 `failure: data`"},
		{http, ".headers.ETag", "{}", "8:20 `etag`"},
		{http, ".headers.etag, .tls.expires, .tls?.issuer, .[\"body\"].x", "{}", ""},
		{http, ".tls.expire", "{}", "8:16 `expires`"},
		{http, ". as $d | $d.messages | .x", "{}", "8:24 .body.messages"},
		{http, ".. | .messages?", "{}", ""},
		{http, ".body", "{messages: 5}", "11:36 `body: …`"},
		{http, ".body", "{body: {messages: 5}, headers: {ETag: a}}", "11:67 `etag`"},
		{"fetch: {exec: {command: [ls]}}\n", ".exitcode", "{}", "8:12 .stdout.exitcode"},
		{"fetch: {exec: {command: [ls], failure: data}}\n", ".stdout, .error", "{error: exit}", ""},
		{"fetch: {stat: {path: /x}}\n", ".sise", "{}", "8:12 `size`"},
		{"fetch: {jsonl-tail: {path: /x}}\n", ".level", "{lines: []}", "8:12 .lines[].level"},
		{"fetch: {jsonl-tail: {path: /x}}\n", ".lines[] | .level", "{lines: [{level: 1}]}", ""},
		{steps, ".body", "{a: {}, b: []}", "8:12 one of: a, b"},
		{steps, ".a.body, .a.error, .a.items, .b[].path", "{a: {}, b: []}", "8:33 .a.body.items"},
		{steps, ".b[] | .bytes", "{a: {}, b: [{size: 1}]}", "8:19 one of: ctime"},
		{steps, ".b[].size", "{a: {items: []}, b: [{size: 1}]}", "11:40 `body: …`"},
	} {
		src := "version: 1\nname: n\ninterval: 5s\nidleInterval: 1m\n\n\n" + row.fetch + "extract: " + quoted(row.extract) +
			"\nitem: count\nrules: [{when: item > 1, kind: n, text: n}]\ntests: [{name: t, polls: [{fetch: " + row.doc + ", events: []}]}]\n"
		_, _, found := specs.Check("n.yaml", []byte(src), real)
		var got []string
		for _, d := range found {
			if d.Code != "document" {
				t.Errorf("%s: %s", row.extract, d.Message)
			}
			got = append(got, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Hint))
		}
		if row.want == "" && len(got) > 0 || len(got) > 1 {
			t.Errorf("%s of %s: %q, want none", row.extract, row.doc, got)
		}
		place, hint, _ := strings.Cut(row.want, " ")
		if row.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], place+" ") || !strings.Contains(got[0], hint)) {
			t.Errorf("%s of %s: %q, want %q", row.extract, row.doc, got, row.want)
		}
	}
}

// TestAnExpressionKnowsTheDocuments: in a condition, and in the options of a later step.
func TestAnExpressionKnowsTheDocuments(t *testing.T) {
	for when, want := range map[string]string{
		`doc.sise > 5`: "unknown-name", `doc.size > 5`: "", `doc?.size == nil`: "", `doc.error == "timeout"`: "unknown-name",
	} {
		src := strings.Replace(specs.ExampleSpec, `changed && item.note != ""`, `'changed && item.note != "" && `+when+"'", 1)
		if got := strings.Join(codesOf(src), " "); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	src := strings.NewReplacer(`{stat: {path: "${target.path}"}}`, `[{as: a, http: {url: "http://h/"}}, {as: b, http: {url: "http://${a.host}/"}}]`,
		"extract: .size", "extract: .b.body", "{size: null}", "{a: {}, b: {}}").Replace(specs.ExampleSpec)
	if got := strings.Join(codesOf(src), " "); got != "unknown-name" {
		t.Errorf("in a url: %q", got)
	}
}

// quoted is a string of YAML in single quotes.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
