package specs_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/value"
	"github.com/sessevents/sessevents/specs"
)

var (
	cases = flag.Int("cases", 5_000, "how many cases TestTextSafety throws, each of three hostile documents")
	first = flag.Uint64("first", 0, "the number of the first of them, so that a long run can be shared out")
)

// evil stands in every hostile string, always together with something that no type lets through.
const evil = "evil"

// prose are hostile strings: sentences, control and bidirectional characters, tags, near misses of every type.
var prose = []string{
	"evil prose of the polled system", "please evil\nignore all", "evil\u202e", "</cross-session-message>evil", "https://x.example/evil prose",
	"javascript:evil();", "http://user:evil@x.example/?", "https://x.example/\u00a0evil", "\u001b[31mevil", "evil\u0000", "evil$(id)", "2026-10-12T14:03:20Z evil",
	"1m30s evil", "12 evil", strings.Repeat("evil", 40), "evil\u2028x", "\"evil\"", "<b>evil</b>", "evil\ufeff x", "{'evil'}", "<evil>", "evil;", "`evil`", "evil\\x", "evil&x", "[evil](javascript:x;)", "file:///evil x",
}

// hostile makes documents whose strings and member names are hostile, in the shapes that the specs read.
type hostile struct {
	*rand.Rand
	names []string
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
  - {when: "true", until: item.a == nil, kind: latch, text: "${item.a} ${cursor.url}", cleared: {kind: off, text: "${item.b} ${cursor.a}"}}
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

// safety are the sources of the tests below, made once.
var safety struct {
	sync.Once
	sources []*specs.Source
}

func safetySources(t testing.TB) []*specs.Source {
	safety.Do(func() { safety.sources = makeSafetySources(t) })
	return safety.sources
}

// makeSafetySources compiles the specs that ship, and a loud one for each attempt with each way to type an item.
func makeSafetySources(t testing.TB) []*specs.Source {
	w := &world{}
	var sources []*specs.Source
	add := func(name, src string, registry map[string]fetchers.Fetcher) {
		_, source, found := specs.Check(name, []byte(src), specs.Options{Fetchers: registry, Getenv: func(string) string { return "" }})
		if found.HasErrors() {
			t.Fatal(found)
		}
		sources = append(sources, source)
	}
	legal := 0
	for _, types := range typings {
		for _, says := range attempts {
			src := strings.NewReplacer("TYPES", types, "SAYS", says).Replace(loud)
			if _, source, _ := specs.Check("loud.yaml", []byte(src), specs.Options{Fetchers: w.registry()}); source != nil {
				sources = append(sources, source)
				legal++
			}
		}
	}
	if legal < len(typings)*len(attempts)/2 {
		t.Fatalf("only %d of %d loud specs compile", legal, len(typings)*len(attempts))
	}
	add("keyed.yaml", keyed, w.registry())
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
	return sources
}

// thrown is what everything that is said of a hostile document comes to, in one text.
func thrown(source *specs.Source, r *rand.Rand) (said, doc string, events int) {
	h := hostile{Rand: r, names: []string{"a", "b", "c", "id", "url", "state", "n", "lines", "body", "event", "error", "size", "exists", "prose", "sha", "name", "items", "stdout", "exit", "status"}}
	ctx := context.WithValue(context.Background(), docKey{}, h)
	now := time.Unix(1_790_000_000, 0)
	target := engine.Target{Text: "t", Value: json.RawMessage(`{}`)}
	var b, docs strings.Builder
	for range 3 {
		now = now.Add(time.Minute)
		out, err := source.Poll(context.WithValue(ctx, logKey{}, &docs), target, now)
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
		fmt.Fprintln(&b, "summary", strings.Join(source.Summary(target), "\n"))
	}
	return b.String(), docs.String(), events
}

type (
	docKey struct{}
	logKey struct{}
)

// throw checks one case and returns how many events it made.
func throw(t testing.TB, sources []*specs.Source, seed uint64) int {
	r := rand.New(rand.NewPCG(seed, 7))
	source := sources[r.IntN(len(sources))]
	said, docs, events := thrown(source, r)
	// Letters that capitals hide count too.
	if strings.Contains(strings.ToLower(said), evil) {
		t.Fatalf("seed %d, spec %s: of the documents\n%s\nthis was said:\n%s", seed, source.Describe().Name, docs, said)
	}
	for _, c := range said {
		if c != '\n' && (c < ' ' || c == 0x7f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069) {
			t.Fatalf("seed %d, spec %s: the character %U was said:\n%q", seed, source.Describe().Name, c, said)
		}
	}
	return events
}

// answerHostile makes the fetch of a world answer with the document that the case makes.
func answerHostile(ctx context.Context) (fetchers.Answer, bool) {
	h, ok := ctx.Value(docKey{}).(hostile)
	if !ok {
		return fetchers.Answer{}, false
	}
	doc := value.Normalise(h.value(4))
	if log, ok := ctx.Value(logKey{}).(*strings.Builder); ok {
		b, _ := json.Marshal(doc)
		log.Write(append(b, '\n'))
	}
	return fetchers.Answer{Doc: doc, Read: 1}, true
}

// TestTextSafety: nothing of a hostile document is said, whatever the spec tries. `-cases 10000000` is the long run.
func TestTextSafety(t *testing.T) {
	sources := safetySources(t)
	events := 0
	for i := range *cases {
		events += throw(t, sources, *first+uint64(i))
	}
	if events < *cases/10 {
		t.Errorf("%d cases made only %d events: the test says nothing", *cases, events)
	}
}

func FuzzTextSafety(f *testing.F) {
	sources := safetySources(f)
	for i := range 50 {
		f.Add(uint64(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64) { throw(t, sources, seed) })
}

// TestTextSafetyCanFail: the check finds prose where a type lets it through, so it is no empty one.
func TestTextSafetyCanFail(t *testing.T) {
	w := watch(t, strings.Replace(spoken, "id: id,", "id: {id: 'evil'},", 1))
	got := w.poll(`{"id":"evil","prose":"x"}`)
	if len(got) != 1 || !strings.Contains(got[0], evil) {
		t.Fatalf("%q", got)
	}
}
