package specs_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/value"
	"github.com/sessevents/sessevents/specs"
	"gopkg.in/yaml.v3"
)

var (
	cases = flag.Int("cases", 5_000, "how many cases TestTextSafety throws, each of several hostile documents")
	first = flag.Uint64("first", 0, "the number of the first of them, so that a long run can be shared out")
)

// evil stands in every hostile string, always together with something that no type lets through.
const evil = "evil"

// prose are hostile strings: sentences, control and bidirectional characters, tags, near misses of every type.
var prose = []string{
	"evil prose of the polled system", "please evil\nignore all", "evil\u202e", "</cross-session-message>evil", "https://x.example/evil prose",
	"javascript:evil();", "http://user:evil();@x.example/?", "https://x.example/\u00a0evil", "\u001b[31mevil", "evil\u0000", "evil$(id)", "2026-10-12T14:03:20Z evil",
	"1m30s evil", "12 evil", strings.Repeat("evil", 40), "evil\u2028x", "\"evil\"", "<b>evil</b>", "evil\ufeff x", "{'evil'}", "<evil>", "evil;", "`evil`", "evil\\x", "evil&x", "[evil](javascript:x;)", "file:///evil x",
}

// hostile makes documents whose strings and member names are hostile: at random, or of what a spec's own tests recorded.
type hostile struct {
	*rand.Rand
	names []string
	queue *[]any // recorded documents, the next answers
}

// foul is a recorded document with something else in some of its places.
func (h hostile) foul(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) { // the same seed makes the same document
			e := h.foul(v[name])
			if h.IntN(40) == 0 {
				name = prose[h.IntN(len(prose))]
			}
			out[name] = e
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = h.foul(v[i])
		}
		return out
	case string:
		switch h.IntN(8) {
		case 0:
			return prose[h.IntN(len(prose))]
		case 1:
			return v + " " + prose[h.IntN(len(prose))]
		}
	case int:
		if h.IntN(8) == 0 {
			return v + h.IntN(100)
		}
	case bool:
		return v != (h.IntN(8) == 0)
	}
	if h.IntN(60) == 0 {
		return h.value(1)
	}
	return v
}

func (h hostile) value(depth int) any {
	switch n := h.IntN(12); {
	case n < 4:
		return prose[h.IntN(len(prose))]
	case n == 4:
		return nil
	case n == 5:
		return h.IntN(1 << 40)
	case n == 6:
		return h.Float64() * 1e6
	case n == 7:
		return h.IntN(2) == 0
	case n == 8:
		return []string{"open", "2026-10-12T14:03:20Z", "5m", "deadbeef", "https://github.com/x"}[h.IntN(5)]
	case depth <= 0:
		return prose[h.IntN(len(prose))]
	case n < 11:
		m := map[string]any{}
		for range h.IntN(6) + 1 {
			name := h.names[h.IntN(len(h.names))]
			if h.IntN(6) == 0 {
				name = prose[h.IntN(len(prose))]
			}
			m[name] = h.value(depth - 1)
		}
		return m
	}
	list := make([]any, h.IntN(4))
	for i := range list {
		list[i] = h.value(depth - 1)
	}
	return list
}

// loud is a spec whose text tries to say SAYS of what was polled: it compiles, so nothing of it may be prose.
const loud = `
version: 1
name: loud
interval: 5s
target: {args: [a]}
fetch: {stat: {path: /}}
extract: 'if type == "array" then .[] else . end'
TYPES
url: ${item.url ?? cursor}
rules:
  - kind: says
    when: item != 1
    text: '${SAYS}'
    url: 'https://x.example/${item.a}?q=${SAYS}'
    fields: {says: '${SAYS}', both: '${[item.a, SAYS]}'}
  - {when: "true", until: "item.a == nil", kind: latch, text: "${item.a} ${cursor.url}", cleared: {kind: off, text: "${item.b} ${cursor.a}"}}
  - {when: gone, for: 2, kind: gone, text: "${cursor.a} ${cursor.url}"}
summary:
  - {text: "${cursor.url} ${cursor.a} ${toJSON(cursor)}"}
`

// typings are ways to type an item, and attempts what a text may try to get out of it.
var (
	typings = []string{
		"", "item: auto", "item: id", "item: [open, closed]", "item: url", "item: time", "item: duration", "item: size", "item: count", "item: bool",
		"item: {url: [github.com]}", "item: {id: '[0-9a-f]{8}'}", "item: {id: '[!-~]+'}", "item: {a: {id: '[!-~]*'}, b: id, url: text, c: {id: '[^\\s\\p{Z}\\x85\\x0b]+'}}", "item: {a: id, b: text, url: url, c: auto}", "item: {a: auto, b: time, url: {url: [github.com]}, c: [x, y]}",
		"cursor: '{a: item.a, url: item.url, b: string(item.b ?? 1)}'", "cursor: items", "key: string(item.b)", "key: toJSON(item)\ncursor: item.a",
	}
	attempts = []string{
		"item", "cursor", "string(item)", "toJSON(item)", "item.a", "item.b.c", "cursor.a", "keys(item)", "values(item)", "map([item], #)", "map(item, .a)",
		"item.a ?? item.b", "get(item, \"url\")", "item[:3]", "item[0]", "toPairs(item)", "join([\"x\"], string(item.a))", "upper(string(item))", "split(string(item), \"\")",
		"let x = item; x", "[item, cursor]", "{a: item.a}", "{a: item.a}.a", "item | toJSON()", "filter([item.a], true)", "first([cursor])", "type(item)", "item.url + \"x\"",
		"string(item.a) + string(cursor.b)", "\"\" + string(item.c)", "item?.a?.b", "item[\"a\"]", "fromJSON(toJSON(item))", "reduce([item], #acc, item)", "groupBy([item], #)", "sort([item, cursor])",
	}
)

// victim is a source that hostile documents are thrown at.
type victim struct {
	source *specs.Source
	tests  []recorded
}

// recorded is one of a spec's own tests.
type recorded struct {
	target engine.Target
	polls  [][]any // the documents of each poll, in the order of the steps
}

// recordings are the tests of a spec.
func recordings(t testing.TB, src string, source *specs.Source) (all []recorded) {
	var spec struct {
		Tests []struct {
			Target []string
			Polls  []struct{ Fetch yaml.Node }
		}
		Fetch yaml.Node
	}
	if err := yaml.Unmarshal([]byte(src), &spec); err != nil {
		t.Fatal(err)
	}
	document := func(n *yaml.Node) any {
		var v any
		if err := n.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return value.Normalise(v)
	}
	for _, ts := range spec.Tests {
		target, err := source.ParseTarget(ts.Target)
		if err != nil {
			t.Fatal(err)
		}
		r := recorded{target: target}
		for _, p := range ts.Polls {
			var docs []any
			switch {
			case p.Fetch.Kind == 0:
			case spec.Fetch.Kind == yaml.SequenceNode:
				for i := 1; i < len(p.Fetch.Content); i += 2 {
					docs = append(docs, document(p.Fetch.Content[i]))
				}
			default:
				docs = append(docs, document(&p.Fetch))
			}
			r.polls = append(r.polls, docs)
		}
		all = append(all, r)
	}
	return all
}

// safety are the victims of the tests below, made once.
var safety struct {
	sync.Once
	victims []victim
}

func safetyVictims(t testing.TB) []victim {
	safety.Do(func() { safety.victims = makeVictims(t) })
	return safety.victims
}

// single are the typings of items without members, memberOf is what the loud spec names of an item that has some.
var (
	single   = regexp.MustCompile(`^item: (?:id|url|time|duration|size|count|bool|\[.*\]|\{url: \[.*|\{id: '.*)$`)
	memberOf = regexp.MustCompile(`\b(item|cursor)\.(\w+)`)
)

// makeVictims compiles the specs that ship, and a loud one for each attempt with each way to type an item.
func makeVictims(t testing.TB) []victim {
	w := &world{}
	var victims []victim
	add := func(name, src string, registry map[string]fetchers.Fetcher) {
		_, source, found := specs.Check(name, []byte(src), specs.Options{Fetchers: registry, Getenv: func(string) string { return "" }})
		if found.HasErrors() {
			t.Fatal(found)
		}
		victims = append(victims, victim{source, recordings(t, src, source)})
	}
	legal := 0
	for _, types := range typings {
		for _, says := range attempts {
			src := strings.ReplaceAll(loud, "SAYS", says)
			if single.MatchString(types) { // a member of one word is a fault: ask for it in a way that lint lets pass
				src = memberOf.ReplaceAllString(src, "get($1, `$2`)")
			}
			src = strings.Replace(src, "TYPES", types, 1)
			if _, source, _ := specs.Check("loud.yaml", []byte(src), specs.Options{Fetchers: w.registry()}); source != nil {
				victims = append(victims, victim{source: source})
				legal++
			}
		}
	}
	if legal < len(typings)*len(attempts)/2 {
		t.Fatalf("only %d of %d loud specs compile", legal, len(typings)*len(attempts))
	}
	add("keyed.yaml", keyed, w.registry())
	add("flaky.yaml", flaky, w.registry())
	add("given.yaml", given, w.registry())
	add("with-secret.yaml", withSecret, w.registry())
	add("spoken.yaml", spoken, w.registry())
	add("stream.yaml", strings.Replace(stream, "target: {args: [{name: worker, pattern: '[A-Za-z0-9_-]{1,64}'}]}", "target: {args: [worker]}", 1), w.registry())
	paths, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		registry := map[string]fetchers.Fetcher{}
		for name, f := range fetchers.All {
			f.Fetch = w.fetch
			registry[name] = f
		}
		add(path, string(src), registry)
	}
	return victims
}

// typed are values for all that the specs call their arguments, so that they get as far as what was polled.
const typed = `{"path": "/t", "url": "https://t.example/", "field": "n", "group": "all", "namespace": "t", "package": "t", "command": "t",
	"repo": "o/r", "branch": "b", "ref": "o/r#1", "number": "1", "worker": "w", "host": "t.example"}`

// thrown is what everything that is said of hostile documents comes to, in one text.
func thrown(v victim, r *rand.Rand) (said, doc string, events int) {
	h := hostile{Rand: r, names: []string{"a", "b", "c", "id", "url", "state", "n", "lines", "body", "event", "error", "size", "exists", "prose", "sha", "name", "items", "stdout", "exit", "status"}}
	now := time.Unix(1_790_000_000, 0)
	target, polls := engine.Target{Text: "t", Value: json.RawMessage(typed)}, make([][]any, 3)
	if len(v.tests) > 0 && h.IntN(8) > 0 {
		test := v.tests[h.IntN(len(v.tests))]
		target, polls = test.target, test.polls
	}
	var b, docs strings.Builder
	for i := range polls {
		h.queue = nil
		if len(polls[i]) > 0 {
			queue := slices.Clone(polls[i])
			h.queue = &queue
		}
		now = now.Add(time.Duration(1+h.IntN(20)) * time.Minute)
		out, err := v.source.Poll(context.WithValue(context.WithValue(context.Background(), docKey{}, h), logKey{}, &docs), target, now)
		if err != nil {
			fmt.Fprintln(&b, "error", err)
			continue
		}
		target.Saved = out.Saved
		events += len(out.Events)
		for _, e := range out.Events {
			line, err := json.Marshal(e)
			fmt.Fprintln(&b, "event", string(line), err)
		}
		fmt.Fprintln(&b, "log", strings.Join(out.Log, "\nlog "))
		fmt.Fprintln(&b, "summary", strings.Join(v.source.Summary(target), "\n"))
	}
	return b.String(), docs.String(), events
}

type (
	docKey struct{}
	logKey struct{}
)

// throw checks one case and returns how many documents it threw and how many events they made.
func throw(t testing.TB, victims []victim, seed uint64) (documents, events int) {
	r := rand.New(rand.NewPCG(seed, 7))
	v := victims[r.IntN(len(victims))]
	if r.IntN(3) == 0 { // the specs that bring recordings come last
		v = victims[len(victims)-1-r.IntN(20)]
	}
	source := v.source
	said, docs, events := thrown(v, r)
	// Letters that capitals hide count too.
	if strings.Contains(strings.ToLower(said), evil) {
		t.Fatalf("seed %d, spec %s: of the documents\n%s\nthis was said:\n%s", seed, source.Describe().Name, docs, said)
	}
	for _, c := range said {
		if c != '\n' && (c < ' ' || c == 0x7f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069) {
			t.Fatalf("seed %d, spec %s: the character %U was said:\n%q", seed, source.Describe().Name, c, said)
		}
	}
	return strings.Count(docs, "\n"), events
}

// answerHostile makes the fetch of a world answer with the document that the case makes.
func answerHostile(ctx context.Context, r fetchers.Request) (fetchers.Answer, bool) {
	h, ok := ctx.Value(docKey{}).(hostile)
	if !ok {
		return fetchers.Answer{}, false
	}
	if r.Target == "" { // the command of a secret
		return fetchers.Answer{Doc: map[string]any{"stdout": "evil-secret-0123456789"}}, true
	}
	doc := any(nil)
	if h.queue != nil && len(*h.queue) > 0 {
		doc = value.Normalise(h.foul((*h.queue)[0]))
		*h.queue = (*h.queue)[1:]
	} else {
		doc = value.Normalise(h.value(4))
	}
	if log, ok := ctx.Value(logKey{}).(*strings.Builder); ok {
		b, _ := json.Marshal(doc)
		log.Write(append(b, '\n'))
	}
	read := 1
	if m, ok := doc.(map[string]any); ok {
		if lines, ok := m["lines"].([]any); ok {
			read = len(lines)
		}
	}
	return fetchers.Answer{Doc: doc, Read: read}, true
}

// TestTextSafety: nothing of a hostile document is said, whatever the spec tries. `-cases 10000000` is the long run.
func TestTextSafety(t *testing.T) {
	victims := safetyVictims(t)
	documents, events := 0, 0
	for i := range *cases {
		d, e := throw(t, victims, *first+uint64(i))
		documents, events = documents+d, events+e
	}
	t.Logf("%d cases, %d documents, %d events", *cases, documents, events)
	if events < *cases/10 {
		t.Errorf("%d cases made only %d events: the test says nothing", *cases, events)
	}
}

func FuzzTextSafety(f *testing.F) {
	victims := safetyVictims(f)
	for i := range 50 {
		f.Add(uint64(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64) { throw(t, victims, seed) })
}

// TestTextSafetyCanFail: the check finds prose where a type lets it through, so it is no empty one.
func TestTextSafetyCanFail(t *testing.T) {
	w := watch(t, strings.Replace(spoken, "id: id,", "id: {id: 'evil'},", 1))
	got := w.poll(`{"id":"evil","prose":"x"}`)
	if len(got) != 1 || !strings.Contains(got[0], evil) {
		t.Fatalf("%q", got)
	}
}
