package specs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestC13_ADurationInAnExpression: `duration("14d")` is a string like any other to the library, and fails each poll.
func TestC13_ADurationInAnExpression(t *testing.T) {
	for _, row := range []struct{ when, want string }{
		{`now - item.at < duration("14d")`, "10:34 value-type there is no unit for days: write `336h`"},
		{`now - item.at < duration("336h")`, ""},
		{`now - item.at < "14 days"`, "10:25 value-type there is no unit for days: write `336h`"},
		{`now - item.at < "336h"`, ""},
		{`"5" < quiet`, "10:9 value-type a duration has a unit: write `5s`"},
		{`item.at > date("2026-01-31")`, ""},
		{`item.at > date("soon")`, "10:24 value-type write it as `2026-01-31T00:00:00Z`"},
		{`item.at > "2026-01-31T00:00:00Z"`, ""},
		{`item.at > "31.1.2026"`, "10:19 value-type write it as `2026-01-31T00:00:00Z`"},
		{`item.at == "never" || first`, "10:20 never-holds write it as `2026-01-31T00:00:00Z`"},
		{`item.at > now + "24h"`, "10:23 value-type a duration is written `duration(\"5m\")`"},
	} {
		src := "version: 1\nname: n\ninterval: 1h\nidleInterval: 24h\nfetch: {http: {url: \"http://h/\"}}\nextract: '{at: .tls.expires}'\nitem: {at: time}\nrules:\n" +
			"- when: |-\n        " + row.when + "\n  kind: n\n  text: n\ntests: [{name: n, polls: [{fetch: {body: null}}]}]\n"
		_, _, found := specs.Check("n.yaml", []byte(src), real)
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Code, d.Hint))
		}
		if s := strings.Join(got, "; "); s != row.want {
			t.Errorf("%s: %q, want %q", row.when, s, row.want)
		}
	}
}

// TestAFailedTestSaysWhy: the variable that is not set, and what the poll told the daemon log.
func TestAFailedTestSaysWhy(t *testing.T) {
	for _, row := range []struct{ fetch, doc, want string }{
		{`{http: {url: "http://h/", headers: {A: '${"Basic " + env.TOK}'}}}`, "{body: 1}", "; env.TOK is not set\n"},
		{`{http: {url: "http://h/"}}`, "{body: x y}", "log: withheld item of item 1: it does not fit its type\n"},
	} {
		src := "version: 1\nname: n\ninterval: 1h\nidleInterval: 24h\nfetch: " + row.fetch + "\nextract: .body\nitem: id\n" +
			"rules: [{when: true, kind: n, text: \"${item}\"}]\ntests: [{name: n, polls: [{fetch: " + row.doc + ", events: []}]}]\n"
		spec, source, found := specs.Check("n.yaml", []byte(src), real)
		if len(found) > 0 {
			t.Fatal(found)
		}
		if r := specs.RunTests(context.Background(), spec, source)[0]; !strings.HasSuffix(r.Diff, row.want) {
			t.Errorf("%q, want %q", r.Diff, row.want)
		}
	}
}
