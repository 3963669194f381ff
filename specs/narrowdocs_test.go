package specs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
)

// dice make random programs and documents. They use the same few names, so that they often meet.
type dice struct{ *rand.Rand }

func (d dice) one(words ...string) string { return words[d.IntN(len(words))] }

func (d dice) name() string { return d.one("a", "b", "c", "d") }

// path is a look into a value, mostly one that fails on nothing.
func (d dice) path(depth int) string {
	p := "." + d.name()
	for range d.IntN(depth + 1) {
		p += d.one("."+d.name(), "."+d.name(), "[]?", "[0]", "[-1]", "[:2]", "[1:]", `["`+d.name()+`"]`, `["\(.a?)"]?`, "?", ".\"é\\\"\"?")
	}
	return p
}

// program is a jq program on a value.
func (d dice) program(depth int) string {
	if depth <= 0 {
		return d.one(d.path(2), d.path(1), ".", "1", `"x"`, "null", "empty", "type", "$x")
	}
	sub := func() string { return d.program(depth - 1) }
	switch d.IntN(26) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s | %s)", d.path(2), sub())
	case 3, 4:
		return fmt.Sprintf("(.[]? | %s)", sub())
	case 5, 6, 7:
		return fmt.Sprintf("{a, b: (%s), %q: (%s)}", sub(), d.name()+"é", sub())
	case 8:
		return fmt.Sprintf("(select(%s) | %s)", sub(), sub())
	case 9:
		return fmt.Sprintf("(%s // %s)", sub(), sub())
	case 10:
		return fmt.Sprintf("(%s, %s)", sub(), sub())
	case 11:
		return fmt.Sprintf("(if %s then %s else %s end)", sub(), sub(), sub())
	case 12:
		return fmt.Sprintf("(if %s then %s end)", sub(), sub())
	case 13:
		return fmt.Sprintf("[%s]", sub())
	case 14:
		return fmt.Sprintf("(%s as $x | %s)", sub(), sub())
	case 15:
		return d.one("length?", "keys?", "first?", "last?", "objects", "values", "not", "(has(\"a\"))?", "any?", "(to_entries? | length)", "tostring", "tojson", "(map_values(1))?")
	case 16:
		return fmt.Sprintf("(try (%s))", sub())
	case 17:
		return fmt.Sprintf("(map(%s))?", sub())
	case 18:
		return fmt.Sprintf("(%s %s %s)", sub(), d.one("==", "!=", "and", "or", "<"), sub())
	case 19:
		return fmt.Sprintf("(def f: %s; %s | f)", sub(), sub())
	case 20:
		return fmt.Sprintf("(. as {a: $x} | %s)?", sub())
	case 21:
		return fmt.Sprintf("(%s as [$x, {$b}] | %s, $b)?", sub(), sub())
	case 22:
		return fmt.Sprintf("(def g(f): f | %s; g(%s))", sub(), sub())
	case 23:
		return fmt.Sprintf("(reduce (%s) as $y (0; . + 1))", sub())
	case 24:
		return fmt.Sprintf("(%s |= %s)?", d.path(1), d.one("1", "length?", "."))
	}
	return d.one(fmt.Sprintf("first(%s)", sub()), fmt.Sprintf("limit(2; %s)", sub()), fmt.Sprintf("any(%s; %s)", sub(), sub()),
		fmt.Sprintf("(try (%s) catch .)", sub()), fmt.Sprintf("(label $out | %s, break $out)", sub()), "..")
}

// json is the text of a value.
func (d dice) json(depth int) string {
	if depth <= 0 || d.IntN(4) == 0 {
		return d.one("1", "0", "-0", "2.50", "1e400", "-1e400", "9007199254740993", "18446744073709551615", "18446744073709551616",
			"123456789012345678901234567890", "true", "false", "null", `"x"`, `""`, `"a"`, `"\ud800"`, `"\u00e9\"\\"`, `"0"`, `[]`, `{}`)
	}
	if d.IntN(4) == 0 {
		return "[" + strings.Join(d.several(func() string { return d.json(depth - 1) }), " ,") + "]"
	}
	return "{" + strings.Join(d.several(func() string {
		key := d.one(`"a"`, `"b"`, `"c"`, `"d"`, `"a"`, `"b"`, `"\u0061"`, `"b\u0000"`, `"\u00e9\""`, `"z"`, `""`)
		return key + d.one(":", " : ") + d.json(depth-1)
	}), ",\n") + "}"
}

func (d dice) several(make func() string) []string {
	list := []string{}
	for range d.IntN(5) {
		list = append(list, make())
	}
	return list
}

// document is mostly a list or an object of JSON, and sometimes no JSON at all.
func (d dice) document() string {
	text := d.json(4)
	if d.IntN(3) > 0 {
		text = d.one(`{"a":`+text+`,"b":[`+d.json(3)+`,`+d.json(3)+`]}`, `[`+text+`,`+d.json(3)+`]`)
	}
	switch d.IntN(30) {
	case 0, 1, 2: // a byte more or less
		at := d.IntN(len(text))
		return text[:at] + d.one("", "\xff", "\x00", ",", "}", "]", `"`, `\`, "\xed\xa0\x80") + text[min(at+d.IntN(2), len(text)):]
	case 3, 4:
		return text[:d.IntN(len(text))]
	case 5:
		deep := 300 // how deep a document may be is tested in package fetchers
		return `{"a":1,"` + d.one("a", "z") + `":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}"
	}
	return text
}

// stage is a server that says what a test wants, and 304 where it has said so before.
type stage struct {
	*httptest.Server
	mu   sync.Mutex
	text string
	tag  int
	same int // answers with 304
}

func newStage(t testing.TB) *stage {
	s := &stage{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		tag := `"` + strconv.Itoa(s.tag) + `"`
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			s.same++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, s.text)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stage) play(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != s.text {
		s.text = text
		s.tag++
	}
}

// timeless are the fetchers without what no two answers have in common.
func timeless(all map[string]fetchers.Fetcher) map[string]fetchers.Fetcher {
	f := all["http"]
	ask := f.Fetch
	f.Fetch = func(ctx context.Context, r fetchers.Request) (fetchers.Answer, error) {
		a, err := ask(ctx, r)
		if doc, ok := a.Doc.(map[string]any); ok {
			doc["duration"] = 0.5
			if headers, ok := doc["headers"].(map[string]any); ok {
				delete(headers, "date")
			}
		}
		return a, err
	}
	all["http"] = f
	return all
}

// docSource compiles a spec of documents with an extract of the dice.
func (d dice) docSource(t *testing.T, set *fetchers.Set, url string) (*Source, string) {
	t.Helper()
	program := d.one(".body", ".body", ".body[]?", ".body.a", ".", "(.body, .headers.etag)") + " | 1 as $x | " + d.program(3)
	fetch := "{http: {url: \"" + url + "\"}}"
	if d.IntN(4) == 0 {
		fetch = "\n  - {as: one, http: {url: \"" + url + "\"}}\n  - {as: two, when: '" +
			d.one("one.body.a != nil", "one?.body?.a?.b == nil", "type(one.body) == \"map\"", "len(one.body) > 1") + "', http: {url: \"" + url + "?${type(one." + d.one("body", "status", "body?.a") + ")}\"}}"
		program = d.one("", ".one | ", "(.one // .two) | ", ".one as $one | .two | ", ".[] | ") + program
	}
	quoted, err := json.Marshal("limit(20; " + program + ")")
	if err != nil {
		t.Fatal(err)
	}
	src := "version: 1\nname: n\ninterval: 5s\nfetch: " + fetch + "\nextract: " + string(quoted) + "\nrules:\n" +
		"  - {when: 'item != nil', kind: k, text: \"${toJSON(item)}\", fields: {n: '${count}'}}\n"
	if d.IntN(5) == 0 {
		of := "doc"
		if strings.HasPrefix(fetch, "\n") {
			of = d.one("doc.one", "doc?.two")
		}
		src += "  - {when: '" + of + d.one(`.status == 200`, `.body != nil`, `?.body?.a == 1`, `.body.b != nil && changed`, `?.body[0]?.a == nil`, `?.headers == {}`) + "', kind: d, text: \"d\"}\n"
	}
	if d.IntN(6) == 0 {
		src += "key: toJSON(item)\n"
	}
	s, found := Parse("n.yaml", []byte(src))
	source, more := Compile(s, Options{Fetchers: timeless(set.Fetchers())})
	if found = append(found, more...); found.HasErrors() {
		t.Fatal(src, found)
	}
	return source, src
}

// TestNarrowedDocumentsSayTheSame runs random specs on random documents of a real server, narrowed and not, over several
// polls: events, what is saved and every failure must be equal. Both share one memory, as two specs do that follow each
// other in a daemon.
func TestNarrowedDocumentsSayTheSame(t *testing.T) {
	c := newComparison(t)
	const rounds = 150
	d := dice{rand.New(rand.NewPCG(7, 11))}
	for range rounds {
		c.round(t, d)
	}
	t.Logf("%d of %d specs narrowed, %d events, %d failed polls, %d answers 304", c.narrowed, rounds, c.said, c.failed, c.server.same)
	if c.narrowed < rounds/3 || c.said < rounds || c.failed < rounds || c.server.same < rounds/10 {
		t.Error("the test says too little")
	}
}

// FuzzNarrowedDocumentsSayTheSame is the same from other dice.
func FuzzNarrowedDocumentsSayTheSame(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	c := newComparison(f)
	f.Fuzz(func(t *testing.T, a, b uint64) { c.round(t, dice{rand.New(rand.NewPCG(a, b))}) })
}

// comparison runs specs narrowed and not.
type comparison struct {
	set                    *fetchers.Set
	server                 *stage
	narrowed, said, failed int
}

func newComparison(t testing.TB) *comparison {
	c := &comparison{set: fetchers.NewSet(), server: newStage(t)}
	t.Cleanup(c.set.Close)
	return c
}

func (c *comparison) round(t *testing.T, d dice) {
	source, src := d.docSource(t, c.set, c.server.URL)
	wide := source.wide()
	a, b := docPoller{source: source}, docPoller{source: wide}
	if source.steps[0].narrow != nil {
		c.narrowed++
	}
	for range 6 {
		c.server.play(d.document())
		for range 1 + d.IntN(2) {
			x, y := a.poll(t), b.poll(t)
			if !reflect.DeepEqual(x, y) {
				t.Fatalf("%s\nnarrowed %s\nof\n%s\ngives\n%+v %s %s\nand else\n%+v %s %s", src, spelled(narrowOf(source)), c.server.text,
					x.out.Events, x.out.Saved, x.err, y.out.Events, y.out.Saved, y.err)
			}
			if x.err == "" {
				c.said += len(x.out.Events)
			} else {
				c.failed++
			}
			if d.IntN(3) == 0 { // turns are not always taken
				a.poll(t)
				b.saved = a.saved
			}
		}
	}
}

func narrowOf(s *Source) *fetchers.Want {
	if n := s.steps[0].narrow; n != nil {
		return n.Want
	}
	return nil
}

type docPoller struct {
	source *Source
	saved  json.RawMessage
}

type polled struct {
	out engine.Outcome
	err string
}

func (p *docPoller) poll(t *testing.T) polled {
	t.Helper()
	target, err := p.source.ParseTarget(nil)
	if err != nil {
		t.Fatal(err)
	}
	target.Saved = p.saved
	out, err := p.source.Poll(context.Background(), target, time.Unix(1_790_000_000, 0))
	if err != nil {
		return polled{err: err.Error()}
	}
	if out.Committed != nil {
		out.Committed()
		out.Committed = nil
	}
	p.saved = out.Saved
	return polled{out: out}
}
