package specs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/sessevents/sessevents/internal/value"
	"gopkg.in/yaml.v3"
)

// extractOf compiles an extract.
func extractOf(t *testing.T, code string) *query {
	t.Helper()
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: code, Line: 1, Column: 1}
	r := &reader{src: newSource("q.yaml", []byte(code)), node: n}
	q := r.jq(text{s: code, n: n}, []string{"$target", "$now"}, nil)
	if q == nil {
		t.Fatal(code, r.found)
	}
	return q
}

func TestWhichProgramsArePlain(t *testing.T) {
	for code, want := range map[string]bool{
		`.lines[]`:                         true,
		`.lines[] | .a`:                    true,
		`.lines[] | .a.b`:                  true,
		`.lines[] | {a, b: .c.d, "e": .f}`: true,
		`.lines[] | select(.a == "x")`:     true,
		`.lines[] | select(.a == "x" and (.b != "y" or .c)) | select("z" == .d) | {a}`: true,
		`.lines[] | select(.a == 1)`:          false,
		`.lines[] | .a?`:                      false,
		`.lines[] | .a[0]`:                    false,
		`.lines[] | {a, a: .b}`:               false,
		`.lines[] | {(.a): .b}`:               false,
		`.lines[] | {$now}`:                   false,
		`.lines[] | {"\(.a)": .b}`:            false,
		`.lines[] | {a: (.b // .c)}`:          false,
		`.lines[] | .a | select(. == "x")`:    false,
		`.lines[] | {a}, {b}`:                 false,
		`.lines[] | select(.a) | .b, .c`:      false,
		`.lines[] as $x | $x`:                 false,
		`def f: .a; .lines[] | f`:             false,
		`.lines[]?`:                           false,
		`.lines?[]`:                           false,
		`.lines[][]`:                          false,
		`.body[1:][]`:                         false,
		`.[]`:                                 false,
		`.lines`:                              true,
		`.size`:                               true,
		`{error, status, e: .tls.expires}`:    true,
		`.body.items[] | {a}`:                 true,
		`.body | {a, b: .c.d}`:                true,
		`.body | select(.a == "x") | .b`:      true,
		`select(.status == "x") | .body.a`:    true,
		`.body | .items[] | {a}`:              false,
		`.body | map(.a)`:                     false,
		`[.lines[]]`:                          false,
		`.lines[] | select(.a | not)`:         false,
		`.lines[] | select(.a == "x" == "y")`: false,
	} {
		q, err := gojq.Parse(code)
		if err != nil {
			if strings.Contains(code, "==") { // no chain of comparisons in jq
				continue
			}
			t.Fatal(code, err)
		}
		if got := quickJQ(q) != nil; got != want {
			t.Errorf("%s: plain is %v", code, got)
		}
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	v, err := value.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPlainProgramsGiveWhatTheLibraryGives runs random plain programs on random lines by both ways.
func TestPlainProgramsGiveWhatTheLibraryGives(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	name := func() string { return []string{"a", "b", "c"}[r.IntN(3)] }
	path := func() string { return strings.Repeat("."+name(), 1+r.IntN(2)) }
	var condition func(depth int) string
	condition = func(depth int) string {
		switch n := r.IntN(6); {
		case depth > 0 && n < 2:
			return "(" + condition(depth-1) + []string{" and ", " or "}[n] + condition(depth-1) + ")"
		case n == 2:
			return path()
		case n == 3:
			return `"x" ` + []string{"==", "!="}[r.IntN(2)] + " " + path()
		}
		return path() + []string{" == ", " != "}[r.IntN(2)] + []string{`"x"`, `"y"`, `"é\"q"`}[r.IntN(3)]
	}
	known := 0
	for range 600 {
		code := []string{".lines[]", ".body.items[]", ".body", ""}[r.IntN(4)]
		then := func(more string) {
			if code != "" {
				code += " | "
			}
			code += more
		}
		for range r.IntN(3) {
			then("select(" + condition(2) + ")")
		}
		switch r.IntN(5) {
		case 0:
			then(path())
		case 1, 2:
			then(fmt.Sprintf(`{a, "k": %s, b: %s}`, path(), path()))
		case 3:
			then("{a, b, c}")
		}
		if code == "" {
			code = path()
		}
		q := extractOf(t, code)
		if q.quick == nil {
			t.Fatalf("%s is not plain", code)
		}
		slow := extractOf(t, code)
		slow.quick = nil
		for range 10 {
			var lines []any
			for line := range strings.Lines(randomLines(r)) {
				lines = append(lines, decoded(t, line))
			}
			if r.IntN(4) == 0 {
				lines = append(lines, []any{"x", nil, 1, uint64(1 << 63), []any{1}}[r.IntN(5)])
			}
			if r.IntN(4) == 0 {
				if v, err := value.Decode([]byte(dice{r}.json(3))); err == nil {
					lines = append(lines, v)
				}
			}
			for _, name := range []string{"a", "b", "c"} { // a line of nothing but what may be asked for
				if m, ok := lines[0].(map[string]any); ok && r.IntN(2) == 0 {
					lines = append(lines, map[string]any{"a": m["a"], "b": m["b"], name: 1})
				}
			}
			doc := any(map[string]any{"lines": lines, "skipped": 0})
			if !strings.HasPrefix(code, ".lines") {
				doc = map[string]any{"body": map[string]any{"items": lines, "a": lines[0], "b": "x"}, "a": lines[0], "c": "y"}
			}
			got, ok := q.quick.run(context.Background(), doc, maxItems)
			want, err := slow.run(context.Background(), "t", doc, []any{nil, 0}, len(lines))
			if !ok {
				continue
			}
			known++
			if err != nil || len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("%s of %v: %v, the library says %v, %v", code, lines, got, want, err)
			}
			if whole, err := q.run(context.Background(), "t", doc, []any{nil, 0}, len(lines)); err != nil || len(whole) != len(want) {
				t.Fatalf("%s: %v, %v", code, whole, err)
			}
		}
	}
	if known < 1000 {
		t.Errorf("only %d answers: the test says too little", known)
	}
	q := extractOf(t, ".lines[]")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := q.run(ended, "t", map[string]any{"lines": []any{1}}, []any{nil, 0}, 1); err == nil {
		t.Error("a poll that was called off goes on")
	}
}
