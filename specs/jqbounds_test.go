package specs

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"github.com/sessevents/sessevents/internal/value"
)

// boundedPrograms use everything that is defined anew, on any input.
var boundedPrograms = []string{
	`[match("a")]`, `[match("a"; "g")]`, `[match(["A", "gi"])]`, `[match(""; "g")]`, `[match("a*"; "g")]`, `[match("^a|b$"; "g")]`, `[match("\\ba"; "g")]`,
	`[match("(?<x>a)(b)?|(?<y>.)"; "g")]`, `[match("(a|ab)(c|bcd)?"; "g")]`, `[match("\\B"; "g")]`, `[match("(?m)^."; "g")]`, `[match("."; "gm")]`, `[match("x"; "q")]`, `[match("("; "g")]`,
	`[match("a|"; "g")]`, `[match("$"; "g")]`, `[match("\\z|a"; "g")]`, `[match("é+"; "g")]`, `[match(.[0]?; "g")]`,
	`test("a")`, `test("A"; "i")`, `test(["a", "g"])`, `test(1)`, `capture("(?<x>a)(?<y>b)?")`, `[capture("(?<x>.)"; "g")]`, `[scan("a.")]`, `[scan("(a)(.)")]`, `[scan("A"; "i")]`,
	`[splits("a")]`, `[splits("a*"; "g")]`, `split("b"; null)`, `sub("a"; "x")`, `sub("(?<c>.)"; "\(.c)\(.c)")`, `[sub("a"; "x", "y")]`, `gsub("a"; "xx")`, `gsub(""; "-")`, `gsub("^"; "-")`, `gsub("(?<c>[aé])"; "<\(.c)>")`,
	`[gsub("a|b"; "x", "y")]`, `gsub("A"; "x"; "i")`, `try gsub("a"; error("own")) catch .`,
	`contains("a")`, `contains(["a"])`, `contains({a: "b"})`, `. as $d | contains($d)`, `inside(["a", "b", {a: "b"}])`, `inside("abcab")`, `index("a")`, `rindex("a")`, `indices("a")`, `indices([1, 2])`, `indices(1)`, `index("a", "b")`,
	`. - .`, `[(1, 2) - (10, 20)]`, `. - 1`, `. - ["a"]`, `.a - .b`, `. -= 1`, `.[0]? -= 1`, `[.[]? - 1]`, `. * 2`, `[(1, 2) * (10, 20)]`, `. * .`, `.a *= 2`, `. * {a: {b: 1}}`, `"ab" * .`, `. * 0`, `(.. | numbers) *= 3`, `9007199254740993 * 4`, `path(.. | select(. == 1 - 0))`,
	`.. -= 1`, `try (. - 1) catch .`, `(. * "x")?`, `-(. - 1)`, `def f: . - 1; f`, `def test(x): "own"; test(1)`, `. as $x | [$x] - [$x]`, `[limit(3; .[]? | . - 1)]`,
	`transpose`, `tonumber`, `[.[]? | tonumber?]`, `fromjson`, `try fromjson catch "no"`, `jn(1; 2)`, `yn(1; 2)`, `[jn(1, 2; 3, 4)]`, `"\(. - 1)"`, `{a: (. - 1)}`, `if . - 1 then 1 else 2 end`, `reduce .[]? as $x (0; . * 2 - 1)`, `[foreach .[]? as $x (0; . - 1)]`, `.[("a" | sub("a"; "b"))]?`,
	`@text "\(test("a"))"`, `label $out | ., break $out | . - 1`, `. as [$a] | $a - 1`, `.[1 - 1]?`, `.[1 - 1:]?`,
}

func randomInput(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "ab", "aab", "xaya", "éaé", "a\nb\na", "AbcA", "12", "-1.5e3", "[1,2]", `{"a":[1]}`, "\xffa\xff", "日本a", "ab ab ab", "bcd abcd"}
	switch n := r.IntN(10); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n < 4:
		return r.IntN(7) - 2
	case n == 4:
		return float64(r.IntN(9)) / 2
	case n < 7 || depth == 0:
		return texts[r.IntN(len(texts))]
	case n < 9:
		list := make([]any, r.IntN(5))
		for i := range list {
			list[i] = randomInput(r, depth-1)
		}
		return list
	default:
		m := map[string]any{}
		for range r.IntN(4) {
			m[[]string{"a", "b", "c"}[r.IntN(3)]] = randomInput(r, depth-1)
		}
		return m
	}
}

// plainly is a program in the library's own hands.
func plainly(t *testing.T, code string, doc any) (items []any, failed string) {
	t.Helper()
	parsed, err := gojq.Parse(code)
	if err != nil {
		t.Fatal(code, err)
	}
	compiled, err := gojq.Compile(parsed, gojq.WithVariables([]string{"$target", "$now"}))
	if err != nil {
		t.Fatal(code, err)
	}
	iter := compiled.Run(doc, map[string]any{}, 0)
	for {
		v, ok := iter.Next()
		if !ok {
			return items, ""
		}
		if err, isErr := v.(error); isErr {
			return nil, jqReason(err)
		}
		items = append(items, value.Normalise(v))
	}
}

func TestBoundedFunctionsAreThoseOfTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, code := range boundedPrograms {
		q := extractOf(t, code)
		if !q.bound {
			t.Errorf("%s is not bounded", code)
		}
		answers := 0
		for i := range 300 {
			doc := randomInput(r, 3)
			if i == 0 {
				doc = map[string]any{"a": 3, "b": 2}
			}
			want, failed := plainly(t, code, doc)
			got, err := q.runThrough(t.Context(), doc, []any{map[string]any{}, 0}, maxItems)
			var fault *EvalError
			errors.As(err, &fault)
			switch {
			case failed != "":
				if fault == nil || fault.Reason != "jq: "+failed || fault.Endless {
					t.Fatalf("%s on %#v: %v, the library says %q", code, doc, err, failed)
				}
			case err != nil || !reflect.DeepEqual(got, want):
				t.Fatalf("%s on %#v:\n%#v, %v; the library says\n%#v", code, doc, got, err, want)
			default:
				answers++
			}
		}
		if answers == 0 && !strings.Contains(code, `"("`) && !strings.Contains(code, `"q"`) && code != "test(1)" {
			t.Errorf("%s: no input that it has an answer for", code)
		}
	}
}

// TestSE9_AStepThatTakesTooMuchIsEnded has what made one step of a program work for minutes: a polled document may not.
func TestSE9_AStepThatTakesTooMuchIsEnded(t *testing.T) {
	list := func(n, from int) []any {
		out := make([]any, n)
		for i := range out {
			out[i] = from + i
		}
		return out
	}
	words := strings.Repeat("ab ", 1<<20)
	rows := make([]any, 100_000)
	for i := range rows {
		rows[i] = []any{}
	}
	rows[0] = list(100_000, 0)
	doc := map[string]any{
		"long": list(200_000, 0), "other": list(200_000, 1_000_000), "words": words, "letters": strings.Repeat("a", 1<<20), "rows": rows,
		"digits": strings.Repeat("7", 1<<22), "n": 1 << 40, "m": 1<<40 + 1,
	}
	for code, want := range map[string]string{
		`.long - .other`:                                           "compare",
		`(.long - .other)?`:                                        "compare",
		`.long -= .other`:                                          "compare",
		`. as $d | .long | contains($d.other)`:                     "compare",
		`. as $d | .long | inside($d.other)`:                       "compare",
		`. as $d | .long | try indices($d.other[1:]) catch "none"`: "compare",
		`. as $d | .letters | indices($d.letters + "b")`:           "indices of texts",
		`. as $d | .letters | rindex("b" + $d.letters)`:            "rindex of texts",
		`.rows | transpose`:                                        "transpose",
		`.digits | tonumber`:                                       "it failed",
		`.digits | fromjson | . + 1`:                               "it failed",
		`[.digits] | tojson | gsub("\""; "") | fromjson | . * .`:   "it failed",
		`.words * .n`:                                              "repeated",
		`"ab" * (1 / .n * 1e20)`:                                   "repeated",
		`last(limit(30; 3 | recurse(. * .)))`:                      "bits",
		`[limit(30; 3 | recurse(. *= .))] | length`:                "bits",
		`jn(.n; .m)`:                                               "Bessel",
		`. as $d | .words | test($d.words)`:                        "a pattern of",
	} {
		q := extractOf(t, code)
		items, err := q.runThrough(t.Context(), doc, []any{map[string]any{}, 0}, maxItems) // nobody looks at the clock
		var fault *EvalError
		if !errors.As(err, &fault) || !strings.Contains(fault.Reason, want) {
			t.Errorf("%s: %d items, %v, want %q", code, len(items), err, want)
			continue
		}
		if strings.Contains(fault.Reason, "7777") || fault.Endless == (want == "it failed") {
			t.Errorf("%s: %v, endless %v", code, err, fault.Endless)
		}
	}
}

// TestSE9_ManyMatchesAreEndedWithinTheStep: each of these would go on for an hour.
func TestSE9_ManyMatchesAreEndedWithinTheStep(t *testing.T) {
	doc := map[string]any{"words": strings.Repeat("ab ", 1<<20), "letters": strings.Repeat("a", 1<<20)}
	for _, code := range []string{
		`.words | gsub("a"; "b")`, `[.words | match("a"; "g")] | length`, `[.words | splits("a")] | length`, `.letters | [match("(a.*)?b|a"; "g")] | length`,
	} {
		q := extractOf(t, code)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		items, err := q.runThrough(ctx, doc, []any{map[string]any{}, 0}, maxItems)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, %v", code, items, err)
		}
	}
}

// TestSE9_ARunThatDoesNotEndIsGivenUp has a step that goes on until the test lets it end.
func TestSE9_ARunThatDoesNotEndIsGivenUp(t *testing.T) {
	q := extractOf(t, ".")
	parsed, err := gojq.Parse(`if . == "long" then hold else . end`)
	if err != nil {
		t.Fatal(err)
	}
	gate, onHold := make(chan struct{}), make(chan func(), 1)
	hold := func(v any, _ []any) any {
		select {
		case tell := <-onHold:
			tell()
		default:
		}
		<-gate
		return v
	}
	q.quick, q.vars = nil, nil
	if q.code, err = gojq.Compile(parsed, gojq.WithFunction("hold", 0, 0, hold)); err != nil {
		t.Fatal(err)
	}
	fails := func(ctx context.Context, target, doc, want string) {
		t.Helper()
		if _, err := q.run(ctx, target, doc, nil, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %s", err, want)
		}
	}
	gives := func(target string) {
		t.Helper()
		if items, err := q.run(t.Context(), target, "short", nil, 0); err != nil || !reflect.DeepEqual(items, []any{"short"}) {
			t.Fatal(target, items, err)
		}
	}
	fails(t.Context(), "one", "long", "it does not end: more than 900ms")
	fails(t.Context(), "one", "short", "its last run does not end")
	gives("another") // which is not held up by it
	for _, target := range []string{"second", "third", "fourth"} {
		ctx, cancel := context.WithCancel(t.Context())
		onHold <- cancel
		fails(ctx, target, "long", context.Canceled.Error())
	}
	fails(t.Context(), "another", "short", "too many of its runs do not end")
	var lost []<-chan ran
	for _, ended := range q.lost.runs {
		lost = append(lost, ended)
	}
	close(gate)
	for _, ended := range lost {
		<-ended
	}
	for target := range q.lost.runs {
		q.lost.runs[target] = closed()
	}
	gives("one")
}

func closed() <-chan ran {
	c := make(chan ran)
	close(c)
	return c
}

func TestPatternsOfADocumentAreForgotten(t *testing.T) {
	q := extractOf(t, `. as $p | "x" | test($p)`)
	for i := range 3 * maxPatterns {
		if _, err := q.run(t.Context(), "t", "x{"+big.NewInt(int64(i)).String()+"}", []any{map[string]any{}, 0}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(q.patterns.made); n > maxPatterns {
		t.Errorf("%d patterns are kept", n)
	}
}

func FuzzMatchesAreThoseOfTheLibrary(f *testing.F) {
	for _, re := range []string{"a", "", "a*", `\b`, "^a|b$", "(a|ab)(c|bcd)?", "(?m)^.", `a\B`, "$", `(?P<x>é)|\z`, `(?i)A`} {
		f.Add(re, "g", "ab abcd\na é\xffa")
	}
	parsed, err := gojq.Parse(`. as {$re, $flags, $text} | $text | [match($re; $flags)]`)
	if err != nil {
		f.Fatal(err)
	}
	library, err := gojq.Compile(parsed)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, re, flags, text string) {
		if len(re) > 100 || len(text) > 1000 {
			t.Skip()
		}
		run := &jqRun{ctx: t.Context(), patterns: &patterns{}}
		got := jqMatches(text, []any{re, flags, false, run})
		want, ok := library.Run(map[string]any{"re": re, "flags": flags, "text": text}).Next()
		if _, failed := want.(error); !ok || failed {
			if got != nil {
				t.Fatalf("%#v, the library says %v", got, want)
			}
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q %q on %q:\n%#v, the library says\n%#v", re, flags, text, got, want)
		}
	})
}
