package specs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

func TestADiffIsReadable(t *testing.T) {
	src := strings.Replace(example(t, "log-events"), "0 to 1097 bytes\", url", "0 to 1098 bytes\", url", 1)
	spec, _ := specs.Parse("log-events.yaml", []byte(src))
	source := compile(t, &world{}, src)
	results := specs.RunTests(context.Background(), spec, source)
	if len(results) != 2 || results[0].Pass || !results[1].Pass {
		t.Fatalf("%+v", results)
	}
	want := `  poll 2, line 31:
    - {kind: changed, level: alert, text: "/var/log/build.log: 0 to 1098 bytes", url: "file:///var/log/build.log"}
    + {kind: changed, text: "/var/log/build.log: 0 to 1097 bytes", url: "file:///var/log/build.log"}
`
	if results[0].Diff != want {
		t.Errorf("the diff is\n%s\nwant\n%s", results[0].Diff, want)
	}
}

func TestTestsSeeStepsFailuresAndEnvironment(t *testing.T) {
	src := steps + `
tests:
  - name: both
    target: [a]
    polls:
      - fetch: {one: {n: 1, next: b}, two: {n: 5}}
        events: []
      - fetch: {one: {n: 2}}
        events: [{kind: k, text: 2 -1}]
        busy: true
      - fails: true
      - fetch: {one: {n: "x"}}
        fails: true
  - name: a document that nobody asks for
    target: [a]
    polls:
      - fetch: {one: {n: 1}, two: {n: 5}}
  - name: a document that is missing
    target: [a]
    polls:
      - fetch: {one: {n: 1, next: b}}
  - name: a wrong target
    target: []
    polls: [{fails: true}]
`
	spec, found := specs.Parse("n.yaml", []byte(src))
	if found.HasErrors() {
		t.Fatal(found)
	}
	results := specs.RunTests(context.Background(), spec, compile(t, &world{}, src))
	for i, want := range []string{"", "step two was not asked", "no document for step two", "watch needs <a>"} {
		if r := results[i]; r.Pass != (want == "") || !strings.Contains(r.Diff, want) {
			t.Errorf("%s: %v\n%s", r.Name, r.Pass, r.Diff)
		}
	}
}
