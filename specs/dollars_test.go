package specs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestAVariableThatNoShellReads: there is no file of that name, and the spec would say so for ever.
func TestAVariableThatNoShellReads(t *testing.T) {
	const fetch = `fetch: {stat: {path: "${target.path}"}}`
	for _, row := range []struct{ by, want string }{
		{`fetch: {stat: {path: "$HOME/x"}}`, "6:23 `~/` is the home folder"},
		{`fetch: {stat: {path: "/é/$XDG_DATA_HOME/x"}}`, "6:26 let the target"},
		{`fetch: {http: {url: "http://h/", headers: {A: "Bearer $TOKEN"}}}`, "6:55 write `${env.TOKEN}`"},
		{`fetch: {http: {url: "http://h/", headers: {A: "Bearer ${env.TOKEN}"}}}`, ""},
		{`fetch: {http: {url: "http://h/", headers: {A: "US$50 $${X} $x"}}}`, ""},
		{`fetch: {exec: {command: [sh, -c, 'echo "$HOME"']}}`, ""},
		{"defaults: {http: {headers: {A: $TOK}}}\nfetch: [{as: a, http: {url: \"http://h/\"}}, {as: b, http: {url: \"http://h/\"}}]", "6:32 write `${env.TOK}`"},
	} {
		src := strings.Replace(specs.ExampleSpec, fetch, row.by, 1)
		_, _, found := specs.Check("queue.yaml", []byte(src), real)
		got := ""
		for _, d := range found {
			if d.Code == "dollar" {
				got += fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Hint)
			}
		}
		if !strings.HasPrefix(got, row.want) || (got == "") != (row.want == "") || strings.Count(got, ":") > 1+strings.Count(row.want, ":") {
			t.Errorf("%s: %q, want %q", row.by, got, row.want)
		}
	}
}
