package specs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
)

func TestWhatAProgramReads(t *testing.T) {
	for _, row := range []struct{ program, paths, literals string }{
		{`.lines[] | {event, tool, e: .error.kind}`, "[[event] [tool] [error kind]]", "[]"},
		{`.lines[] | select(.type == "stop") | .id`, "[[type] [id]]", "[[stop]]"},
		{`.lines[] | select(.a.b == "x" or "y" == .c) | {n}`, "[[a b] [c] [n]]", "[[x y]]"},
		{`.lines[] | select(.a == "x" and (.b | IN("y", "z"))) | select(.c == "w") | .n`, "[[a] [b] [c] [n]]", "[[x] [y z] [w]]"},
		{`.lines[] | select(.a != "x") | .n`, "[[a] [n]]", "[]"},
		{`.lines[] | select(.a == "x" or .b > 1) | .n`, "[[a] [b] [n]]", "[]"},
		{`.lines[] | (.level // .lvl | tostring | ascii_downcase)`, "[[level] [lvl]]", "[]"},
		{`.lines[] | if .a then .b elif .c then .d else "x" end`, "[[a] [b] [c] [d]]", "[]"},
		{`.lines[] | "\(.a) \(.b.c)"`, "[[a] [b c]]", "[]"},
		{`.lines[] | .a as $x | {$x, y: .b, ($x): .c, "k": .d}`, "[[a] [b] [c] [d]]", "[]"},
		{`.lines[] | .a["b"] | {c}`, "[[a]]", "[]"},
		{`.lines[] | .a."b" | {c}`, "[[a b c]]", "[]"},
		{`.lines[] | .a[0].b`, "[[a]]", "[]"},
		{`.lines[] | .a[].b`, "[[a]]", "[]"},
		{`.lines[] | [.a[:2], .b[.c]]`, "[[a] [c] [b]]", "[]"},
		{`.lines[] | .a | map(.b)`, "[[a]]", "[]"},
		{`.lines[] | empty`, "[]", "[]"},
		{`.lines[] | select(.a == "x")`, "[]", "[[x]]"}, // gives the whole line: only literals help
		// What is not known reads everything.
		{`.lines[]`, "nil", ""},
		{`.lines[] | .`, "nil", ""},
		{`.lines[] | keys`, "nil", ""},
		{`.lines[] | if .a then .b end`, "nil", ""},
		{`.lines[] | .a = 1`, "nil", ""},
		{`.lines[] | to_entries[] | .key`, "nil", ""},
		{`.lines[] | del(.a)`, "nil", ""},
		{`.lines[] | . as {a: $x} | $x`, "nil", ""},
		{`.lines[] | reduce .a[] as $x (0; . + $x)`, "nil", ""},
		{`.lines[] | def f: .a; f`, "nil", ""},
		{`.lines[] | ..`, "nil", ""},
		{`.lines[] | has("a")`, "nil", ""},
		{`[.lines[] | .a]`, "nil", ""},
		{`.lines | length`, "nil", ""},
		{`.lines[1:][] | .a`, "nil", ""},
		{`.`, "nil", ""},
	} {
		q, err := gojq.Parse(row.program)
		if err != nil {
			t.Fatal(row.program, err)
		}
		n := narrow(q)
		if row.paths == "nil" {
			if n != nil {
				t.Errorf("%s is narrowed to %+v", row.program, n)
			}
			continue
		}
		if n == nil {
			if row.paths != "[]" || row.literals != "[]" {
				t.Errorf("%s is not narrowed", row.program)
			}
			continue
		}
		if got := fmt.Sprint(n.Paths); got != row.paths {
			t.Errorf("%s reads %s, want %s", row.program, got, row.paths)
		}
		if got := fmt.Sprint(n.Literals); got != row.literals {
			t.Errorf("%s needs %s, want %s", row.program, got, row.literals)
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
		if source.narrow == nil {
			t.Fatal(program, "is not narrowed")
		}
		wide := *source
		wide.narrow = nil
		for range 20 {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(randomLines(r)), 0o600); err != nil {
				t.Fatal(err)
			}
			a, b := itemsOf(t, source, path), itemsOf(t, &wide, path)
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
