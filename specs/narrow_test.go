package specs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
)

// spelled is a want in short: the names of what is read, `{}` where only the kind of a value counts, `[]` for each
// element or member.
func spelled(w *fetchers.Want) string {
	if w == nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(w.Members)) {
		parts = append(parts, name+spelled(w.Members[name]))
	}
	if w.Each != nil {
		parts = append(parts, "[]"+spelled(w.Each))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func TestWhatAProgramReads(t *testing.T) {
	const all = ""
	for _, row := range []struct{ program, reads string }{
		{`.body[] | {id, e: .error.kind}`, "{body{[]{error{kind} id}}}"},
		{`.body | {a, b}`, "{body{a b}}"},
		{`.status`, "{status}"},
		{`{error, status, expires: .tls.expires}`, "{error status tls{expires}}"},
		{`.body.items[]? | select(.state == "open") | {id}`, "{body{items{[]{id state}}}}"},
		{`.body[] | select(.a and (.b | not)) | .c`, "{body{[]{a{} b{} c}}}"},
		{`.body[] | select(.deleted == null) | .c`, "{body{[]{c deleted{}}}}"},
		{`.body | length`, "{body{[]{}}}"},
		{`.body | keys[]`, "{body{[]{}}}"},
		{`.body | has("a")`, "{body{[]{}}}"},
		{`.body | type`, "{body{}}"},
		{`.body.a | 5`, "{body{a{}}}"}, // what is no object is an error
		{`.body[0].a, .body[-1].b, .body["c"]`, "{body{c []{a b}}}"},
		{`.body[1:3][] | .a`, "{body{[]{a}}}"},
		{`.body | first | .a`, "{body{[]{a}}}"},
		{`first(.body[] | .a)`, "{body{[]{a}}}"},
		{`.body[.status]`, "{body status}"},
		{`.body["\(.status)"].a`, "{body{[]{a}} status}"},
		{`.body | map(.a) | add`, "{body{[]{a}}}"},
		{`[.body[] | .a] | length`, "{body{[]{a}}}"},
		{`any(.body[]; .a == 1)`, "{body{[]{a}}}"},
		{`.body | any(.a)`, "{body{[]{a{}}}}"},
		{`.body | (.a // .b) | .c`, "{body{a{c} b{c}}}"},
		{`.body | if .x then .a else .b end | .c`, "{body{a{c} b{c} x{}}}"},
		{`.body | if .x then .a elif .y then "" else .b end`, "{body{a b x{} y{}}}"},
		{`(.a, .b) | .c`, "{a{c} b{c}}"},
		{`.a as $x | .b[] | {c, d: $x.d}`, "{a{d} b{[]{c}}}"},
		{`. as {$a, b: {c: $x}} | [$a.d, $x]`, "{a{d} b{c}}"},
		{`.a as [$x, $y] | $x.b, $y.c`, "{a{[]{b c}}}"},
		{`def f: {a, b: .c.d}; .body[] | f`, "{body{[]{a c{d}}}}"},
		{`.a as $x | def f: $x.b; .c | f`, "{a{b} c{}}"},
		{`.body.a, (.body[] | .b)`, "{body{a []{b}}}"}, // a is read whole, by its name
		{`.body.a.x, (.body[] | .b)`, "{body{a{b x} []{b}}}"},
		{`.body[] | objects | .a`, "{body{[]{a}}}"},
		{`.body | (.n // error("no number"))`, "{body{n}}"},
		{`try .body.a`, "{body{a}}"},
		{`.body | getpath([$target.field])`, "{body}"},
		{`.body | to_entries[] | .key`, "{body}"},
		{`.body as $b | reduce .x[] as $x (0; . + $b.n)`, all},
		{`empty`, "{}"},
		{`"x"`, "{}"},
		{`.lines[] | {event, tool, e: .error.kind}`, "{lines{[]{error{kind} event tool}}}"},
		{`.lines[] | (.level // .lvl | tostring | ascii_downcase)`, "{lines{[]{level lvl}}}"},
		{`[.lines[] | objects | .level] | length`, "{lines{[]{level}}}"},
		{`.lines[] | "\(.a) \(.b.c)"`, "{lines{[]{a b{c}}}}"},
		{`.lines[] | .a as $x | {$x, y: .b, ($x): .c, "k": .d}`, "{lines{[]{a b c d}}}"},
		{`.lines[] | [.a[:2], .b[.c]]`, "{lines{[]{a b c}}}"},
		{`.lines | length`, "{lines{[]{}}}"},
		{`.lines[]`, "{lines}"},
		// What is not known reads everything that it could reach.
		{`.`, all},
		{`keys`, "{[]{}}"},
		{`..`, all},
		{`.a = 1`, all},
		{`del(.a)`, all},
		{`tostring`, all},
		{`to_entries[] | .key`, all},
		{`.body |= map(.a)`, all},
		{`if .a then .b end`, all},
		{`try .a.b catch .`, all},
		{`. as [$x] ?// $x | $x`, all},
		{`. as {(.a): $x} | $x`, all},
		{`reduce .a[] as $x (0; . + $x)`, all},
		{`foreach .a[] as $x (0; . + $x)`, all},
		{`def f(g): .a | g; f(.b)`, all},
		{`def f: (.a | f), .b; f`, "{a b}"},
		{`def select(f): .; select(.a)`, all},
		{`def values: .x; .a | values`, "{a{x}}"},
		{`limit(1; .)`, all},
		{`map(.)`, all},
		{`.[] | .`, all},
	} {
		q, err := gojq.Parse(row.program)
		if err != nil {
			t.Fatal(row.program, err)
		}
		if got := spelled(wantOf(q, nil, nil)); got != row.reads {
			t.Errorf("%s reads %s, want %s", row.program, got, row.reads)
		}
	}
}

func TestWordsOfExtract(t *testing.T) {
	for program, want := range map[string]string{
		`.lines[] | {event}`:                                                            "[]",
		`.lines[] | select(.type == "stop") | .id`:                                      "[[stop]]",
		`.lines[] | select(.a.b == "x" or "y" == .c) | {n}`:                             "[[x y]]",
		`.lines[] | select(.a == "x" and (.b | IN("y", "z"))) | select(.c == "w") | .n`: "[[x] [y z] [w]]",
		`.lines[] | select(.a != "x") | .n`:                                             "[]",
		`.lines[] | select(.a == "x" or .b > 1) | .n`:                                   "[]",
		`.lines[] | select(.a == "x")`:                                                  "[[x]]",
		`[.lines[] | select(.a == "x")]`:                                                "[]",
		`.lines[1:][] | select(.a == "x")`:                                              "[]",
	} {
		source := streamOf(t, program, "", []string{`{when: quiet > duration("1m"), kind: k, text: x}`}, "")
		if got := fmt.Sprint(source.literals()); got != want {
			t.Errorf("%s needs %s, want %s", program, got, want)
		}
	}
}

// TestHostileProgramsAreFollowedOnlySoFar: what it takes to follow a program is bounded.
func TestHostileProgramsAreFollowedOnlySoFar(t *testing.T) {
	calls := "def f0: .a;"
	for i := range 40 {
		calls += fmt.Sprintf("def f%d: f%d, f%d;", i+1, i, i)
	}
	var paths []string
	for i := range 30 {
		paths = append(paths, strings.Repeat(".[] | ", i)+".a"+strings.Repeat("[]", 30-i)+".x")
	}
	for _, program := range []string{calls + "f40", "(" + strings.Join(paths, "), (") + ")", strings.Repeat("(.a,.[])|", 500) + ".b", strings.Repeat(".a|", 20_000) + ".b"} {
		q, err := gojq.Parse(program)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		wantOf(q, nil, nil)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%.60s…: %s", program, took)
		}
	}
}

// TestNarrowedStreamsSayTheSame reads random lines through the real fetcher, narrowed and not: the events must be equal.
func TestNarrowedStreamsSayTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, program := range []string{
		`.lines[] | {a, b: .b.c, d: (.d // .e)}`,
		`.lines[] | select(.a == "x") | {a, b: .b.c}`,
		`.lines[] | select(.a == "x" or .b == "y") | {a: (.a | tostring), n}`,
		`.lines[] | select(.a | IN("x", "é\"q")) | {a, b: [.b[]?.c?], "k": .d}`,
		`.lines[] | if .a == "x" then {n: .n} else {n: .b} end`,
		`.lines[] | "\(.a) \(.n)" | {a: .}`,
	} {
		quoted, err := json.Marshal(program)
		if err != nil {
			t.Fatal(err)
		}
		src := "version: 1\nname: n\ninterval: 5s\ntarget: {args: [path]}\nfetch: {jsonl-tail: {path: \"${target.path}\", from: start}}\nextract: " + string(quoted) +
			"\nrules: [{when: 'item != nil', kind: k, text: \"${string(now)} ${toJSON(item)}\", fields: {n: '${count}'}}]\nsummary: [{text: x}]\n"
		s, found := Parse("n.yaml", []byte(src))
		source, more := Compile(s, Options{Fetchers: fetchers.All})
		if found = append(found, more...); found.HasErrors() {
			t.Fatal(program, found)
		}
		if source.steps[0].narrow == nil {
			t.Fatal(program, "is not narrowed")
		}
		wide := source.wide()
		for range 20 {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(randomLines(r)), 0o600); err != nil {
				t.Fatal(err)
			}
			a, b := itemsOf(t, source, path), itemsOf(t, wide, path)
			if !reflect.DeepEqual(a, b) {
				text, _ := os.ReadFile(path)
				t.Fatalf("%s of\n%s\ngives narrowed\n%v\nand else\n%v", program, text, a, b)
			}
		}
	}
}

// itemsOf are the items that a poll sees, or its error.
func itemsOf(t *testing.T, s *Source, path string) []any {
	t.Helper()
	target, err := s.ParseTarget([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	var trace Trace
	if _, err := s.traced(context.Background(), engine.Target{Text: target.Text, Value: target.Value}, time.Unix(0, 0), &trace); err != nil {
		return []any{err.Error()}
	}
	return trace.Items
}

// randomLines are lines with the names that the programs read, and others.
func randomLines(r *rand.Rand) string {
	var b strings.Builder
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(9); {
		case n < 3:
			return []any{"x", "y", "é\"q", "other", ""}[r.IntN(5)]
		case n == 3:
			return r.IntN(100)
		case n == 4:
			return nil
		case n == 5:
			return r.IntN(2) == 0
		case n == 6 && depth > 0:
			return []any{value(depth - 1), value(depth - 1)}
		case depth > 0:
			m := map[string]any{}
			for range 3 {
				m[[]string{"a", "b", "c", "d", "e", "n", "x"}[r.IntN(7)]] = value(depth - 1)
			}
			return m
		}
		return "x"
	}
	for range 1 + r.IntN(6) {
		m := map[string]any{}
		for _, name := range []string{"a", "b", "d", "e", "n", "z"} {
			if r.IntN(4) > 0 {
				m[name] = value(2)
			}
		}
		// What programs look into is an object where they need one: a poll that fails tells nothing.
		if _, ok := m["b"].(map[string]any); !ok && r.IntN(8) > 0 {
			m["b"] = map[string]any{"c": value(1)}
		}
		line, _ := json.Marshal(m)
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}
