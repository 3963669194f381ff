package specs_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/value"
	"github.com/sessevents/sessevents/specs"
)

// world is a fetcher that says what a test wants: the question itself is the business of package fetchers.
type world struct {
	docs []string // JSON; the next answers. "!word" is a failure with that word.
	last fetchers.Request
}

func (w *world) fetch(ctx context.Context, r fetchers.Request) (fetchers.Answer, error) {
	if a, ok := answerHostile(ctx, r); ok {
		return a, nil
	}
	w.last = r
	if len(w.docs) == 0 {
		return fetchers.Answer{}, errors.New("the test has no further answer")
	}
	doc := w.docs[0]
	w.docs = w.docs[1:]
	if word, failed := strings.CutPrefix(doc, "!"); failed {
		return fetchers.Answer{}, &fetchers.Error{Word: word, Err: errors.New("no answer: " + word)}
	}
	v, err := value.Decode([]byte(doc))
	return fetchers.Answer{Doc: v, Position: r.Position}, err
}

// registry are fetchers with the tables that the real ones have, in short, all answered by one world.
func (w *world) registry() map[string]fetchers.Fetcher {
	return map[string]fetchers.Fetcher{
		"stat": {Name: "stat", Fetch: w.fetch, Options: []fetchers.Option{
			{Name: "path", Type: fetchers.String, Template: fetchers.Plain},
			{Name: "glob", Type: fetchers.String, Template: fetchers.InGlob},
		}},
		"http": {Name: "http", Fetch: w.fetch, Options: []fetchers.Option{
			{Name: "url", Type: fetchers.String, Template: fetchers.InURL},
			{Name: "headers", Type: fetchers.Map, Template: fetchers.Plain, Env: true},
			{Name: "json", Type: fetchers.JSON, Template: fetchers.Plain, Env: true},
			{Name: "accept", Type: fetchers.Ints, Default: []int64{200}, Min: 100, Max: 599},
			{Name: "maxBytes", Type: fetchers.Size, Default: int64(10_000_000)},
			{Name: "pages", Type: fetchers.Pages},
			{Name: "timeout", Type: fetchers.Duration, Default: 30 * time.Second, Min: int64(10 * time.Millisecond), Max: int64(time.Hour)},
		}},
		"exec": {Name: "exec", Fetch: w.fetch, Options: []fetchers.Option{
			{Name: "command", Type: fetchers.Strings, Template: fetchers.Plain},
			{Name: "shell", Type: fetchers.String},
			{Name: "parse", Type: fetchers.Word, Words: []string{"auto", "json", "jsonl", "text", "lines"}, Default: "auto"},
		}},
		"jsonl-tail": {Name: "jsonl-tail", Stream: true, Fetch: w.fetch, Options: []fetchers.Option{
			{Name: "path", Type: fetchers.String, Template: fetchers.Plain},
		}},
	}
}

// watcher polls one target of one spec as an engine would.
type watcher struct {
	*testing.T
	*world
	source *specs.Source
	target engine.Target
	now    time.Time
	out    engine.Outcome
}

func compile(t *testing.T, w *world, src string) *specs.Source {
	t.Helper()
	s, found := specs.Parse("spec.yaml", []byte(src))
	source, more := specs.Compile(s, specs.Options{Fetchers: w.registry(), Getenv: func(name string) string {
		return map[string]string{"TOKEN": "s3cret"}[name]
	}})
	if found = append(found, more...); found.HasErrors() {
		var b strings.Builder
		if err := found.WriteText(&b, false); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("the spec has faults:\n%s", b.String())
	}
	return source
}

func watch(t *testing.T, src string, words ...string) *watcher {
	t.Helper()
	w := &watcher{T: t, world: &world{}, now: time.Date(2026, 10, 12, 14, 0, 0, 0, time.UTC)}
	w.source = compile(t, w.world, src)
	var err error
	if w.target, err = w.source.ParseTarget(words); err != nil {
		t.Fatalf("watch %q: %v", words, err)
	}
	return w
}

// poll asks once, a minute after the last time, commits, and returns the events as "kind: text <url>".
func (w *watcher) poll(doc string) []string {
	w.Helper()
	got, err := w.try(doc)
	if err != nil {
		w.Fatalf("poll %s: %v", doc, err)
	}
	return got
}

func (w *watcher) try(doc string) ([]string, error) {
	w.Helper()
	w.docs = []string{doc}
	w.now = w.now.Add(time.Minute)
	out, err := w.source.Poll(context.Background(), w.target, w.now)
	if err != nil {
		return nil, err
	}
	w.out = out
	w.target.Saved = append(json.RawMessage(nil), out.Saved...)
	var got []string
	for _, e := range out.Events {
		s := e.Kind + ": " + e.Text
		if e.URL != "" {
			s += " <" + e.URL + ">"
		}
		got = append(got, s)
	}
	return got, nil
}

func (w *watcher) want(doc string, want ...string) {
	w.Helper()
	if got := w.poll(doc); strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.Fatalf("poll %s gave\n  %s\nwant\n  %s\nsaved %s", doc, strings.Join(got, "\n  "), strings.Join(want, "\n  "), w.target.Saved)
	}
}

func example(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile("../examples/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}
