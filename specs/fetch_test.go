package specs_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/fetchers"
)

func TestOptionsAreResolved(t *testing.T) {
	w := watch(t, `
version: 1
name: n
interval: 5s
target: {args: [host, q], flags: {n: {type: int, default: 7}, none: {}}}
defaults: {http: {headers: {A: base, B: base}, timeout: 5s}}
fetch:
  http:
    url: "https://${target.host}/a/${target.q}?x=${target.q}&n=${target.n}"
    headers: {B: own, C: '${env.TOKEN == nil ? nil : "Bearer " + env.TOKEN}', D: '${env.MISSING}', E: "x${target.n}"}
    json: {n: "${target.n}", s: "n=${target.n}", list: ["${target.none}", 1.50, true, ~]}
    pages: {by: link, list: .items}
    maxBytes: 1MB
rules: [{when: "true", kind: k, text: t}]
`, "h.example:8080", "a/b &ü")
	w.want(`1`, "k: t")
	want := map[string]any{
		"url":      "https://h.example:8080/a/a/b%20&%C3%BC?x=a%2Fb+%26%C3%BC&n=7",
		"headers":  map[string]string{"A": "base", "B": "own", "C": "Bearer s3cret", "E": "x7"},
		"json":     map[string]any{"n": 7, "s": "n=7", "list": []any{nil, 1.5, true, nil}},
		"pages":    &fetchers.PageOption{By: "link", List: ".items", Max: 10},
		"maxBytes": int64(1_000_000),
		"accept":   []int64{200},
		"timeout":  5 * time.Second,
	}
	if !reflect.DeepEqual(w.last.Options, want) {
		t.Errorf("options\n%#v\nwant\n%#v", w.last.Options, want)
	}
	if !reflect.DeepEqual(w.last.Secrets, []string{"s3cret"}) {
		t.Errorf("secrets %q", w.last.Secrets)
	}
}

func TestURLsRefuseWhatWouldLeaveTheirPlace(t *testing.T) {
	src := `
version: 1
name: n
interval: 5s
target: {args: [host, path]}
fetch: {http: {url: "https://${target.host}/a/${target.path}"}}
rules: [{when: "true", kind: k, text: t}]
`
	for _, words := range [][]string{{"h/../x", "a"}, {"user@h", "a"}, {"h?x", "a"}, {"h", "../b"}, {"h", "b/.."}} {
		w := watch(t, src, words...)
		if _, err := w.try(`1`); err == nil {
			t.Errorf("%q became %v", words, w.last.Options["url"])
		}
	}
	w := watch(t, src, "h", "%2e%2e/x")
	w.poll(`1`)
	if got := w.last.Options["url"]; got != "https://h/a/%252e%252e/x" {
		t.Errorf("url %v", got)
	}
}

func TestC23_AnArgumentStaysOne(t *testing.T) {
	w := watch(t, `
version: 1
name: n
interval: 5s
target: {args: [a]}
fetch: {exec: {command: [git, log, "--", "${target.a}"]}}
rules: [{when: "true", kind: k, text: t}]
`, "; rm -rf ~ $(id)")
	w.poll(`1`)
	if got, want := w.last.Options["command"], []string{"git", "log", "--", "; rm -rf ~ $(id)"}; !reflect.DeepEqual(got, want) {
		t.Errorf("command %q", got)
	}
}

const steps = `
version: 1
name: n
interval: 5s
target: {args: [a]}
fetch:
  - {as: one, http: {url: "http://x/${target.a}"}}
  - {as: two, when: one.next != nil, http: {url: "http://x/${one.next}"}}
extract: '{one: .one.n, two: (.two.n // -1), doc: (. | keys)}'
rules: [{when: "changed && doc.one.n > 0", kind: k, text: "${item.one} ${item.two}"}]
`

func TestStepsSeeEachOther(t *testing.T) {
	w := watch(t, steps, "a")
	w.docs = []string{`{"n":1,"next":"p/q"}`, `{"n":5}`}
	out, err := w.source.Poll(context.Background(), w.target, w.now)
	if err != nil || w.last.Options["url"] != "http://x/p/q" {
		t.Fatalf("%v, %v", w.last.Options, err)
	}
	w.target.Saved = out.Saved
	w.want(`{"n":2}`, "k: 2 -1")
}

func TestFailureIsDataOnlyWhereTheSpecSaysSo(t *testing.T) {
	src := `
version: 1
name: n
interval: 5s
target: {args: [url]}
fetch: {http: {url: "${target.url}", failure: data}}
extract: '{depth: .body.n, error}'
item: {depth: count, error: [timeout, refused]}
url: ${target.url}
rules:
  - {when: item.error != nil, for: 3, until: item.error == nil, kind: down, text: "no answer: ${item.error}", cleared: {kind: up, text: "answers again"}}
  - {when: item.depth >= 100, for: 3, until: item.depth < 80, kind: backlog, text: "${item.depth} waiting", cleared: {level: note, kind: drained, text: "${item.depth} waiting"}}
`
	w := watch(t, src, "http://q.example/x?y=1")
	w.want(`{"body":{"n":1}}`)
	w.want(`!refused`)
	w.want(`!dns`)
	w.want(`!refused`, "down: no answer: refused <http://q.example/x?y=1>")
	if got := w.source.Summary(w.target); !reflect.DeepEqual(got, []string{"no answer: refused"}) {
		t.Errorf("summary %q", got)
	}
	w.want(`!refused`)
	w.want(`{"body":{"n":1}}`, "up: answers again <http://q.example/x?y=1>")
	// C29: a number that flaps around its bound is one alert, and one that it is over.
	for range 5 {
		w.want(`{"body":{"n":101}}`)
		w.want(`{"body":{"n":99}}`)
	}
	w.want(`{"body":{"n":101}}`)
	w.want(`{"body":{"n":101}}`)
	w.want(`{"body":{"n":103}}`, "backlog: 103 waiting <http://q.example/x?y=1>")
	before := string(w.target.Saved)
	w.want(`{"body":{"n":103}}`)
	if before != string(w.target.Saved) {
		t.Errorf("a latched rule changes the state:\n%s\n%s", before, w.target.Saved)
	}
	w.want(`{"body":{"n":85}}`)
	w.want(`{"body":{"n":101}}`)
	w.want(`{"body":{"n":79}}`, "drained: 79 waiting <http://q.example/x?y=1>")

	w = watch(t, strings.Replace(src, ", failure: data", "", 1), "http://q.example/")
	if _, err := w.try(`!refused`); err == nil {
		t.Error("could not ask, and that was data")
	}
}

const stream = `
version: 1
name: worker-events
interval: 2s
idleInterval: 30s
target: {args: [{name: worker, pattern: '[A-Za-z0-9_-]{1,64}'}]}
fetch: {jsonl-tail: {path: "/tmp/csd-workers/${target.worker}.events.jsonl"}}
extract: '.lines[] | {event, tool, error}'
item: {event: [session_start, user_prompt_submit, pre_tool_use, post_tool_use, stop, session_end], tool: id, error: id}
rules:
  - {when: item.event == "stop" && item.error == nil, kind: idle, text: "${target.worker}: turn ended"}
  - {when: item.event == "stop" && item.error != nil, kind: error, text: "${target.worker}: turn failed, ${item.error}"}
  - {when: item.event == "session_end", kind: ended, text: "${target.worker}: session ended"}
  - {when: quiet > duration("15m"), until: quiet < duration("15m"), kind: silent, text: "${target.worker}: no event for ${quiet}"}
`

func TestAStreamSaysEachLineOnce(t *testing.T) {
	w := watch(t, stream, "w1")
	w.want(`{"lines":[]}`)
	w.want(`{"lines":[{"event":"stop"},{"event":"pre_tool_use"},{"event":"stop","error":"overloaded"}]}`, "idle: w1: turn ended", "error: w1: turn failed, overloaded")
	for range 14 {
		w.want(`{"lines":[]}`)
	}
	before := string(w.target.Saved)
	w.want(`{"lines":[]}`)
	if before != string(w.target.Saved) {
		t.Errorf("a quiet poll of a stream changes the state:\n%s\n%s", before, w.target.Saved)
	}
	w.want(`{"lines":[]}`, "silent: w1: no event for 16m")
	w.want(`{"lines":[]}`)
	w.want(`{"lines":[{"event":"session_end"}]}`, "ended: w1: session ended")
	w.now = w.now.Add(time.Hour)
	w.want(`{"lines":[]}`, "silent: w1: no event for 1h1m")
}

// TestC23_ATargetIsNoPattern: what comes out of `${}` stands for itself, what the spec wrote is the pattern.
func TestC23_ATargetIsNoPattern(t *testing.T) {
	const src = `
version: 1
name: n
interval: 5s
target: {args: [dir]}
fetch: {stat: {glob: 'GLOB'}}
rules: [{when: "true", kind: k, text: t}]
`
	for _, c := range []struct{ glob, target, want string }{
		{"/logs/${target.dir}/*.log", "a[1]", `/logs/a\[1\]/*.log`},
		{"/logs/${target.dir}/*.log", "**", `/logs/\*\*/*.log`},
		{"/logs/{x,${target.dir}}", "a,b", `/logs/{x,a[\,]b}`},
		{"${target.dir}", "/etc/{passwd,shadow}", `/etc/\{passwd,shadow\}`},
		{`${"/logs/" + target.dir}`, "?", `/logs/\?`},
	} {
		w := watch(t, strings.Replace(src, "GLOB", c.glob, 1), c.target)
		w.poll(`[]`)
		if got := w.last.Options["glob"]; got != c.want {
			t.Errorf("%s with %s: %v, want %s", c.glob, c.target, got, c.want)
		}
	}
}
