package specs

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// condition compiles a condition as a rule has it; nil where it has faults.
func condition(code string) *expression { return compiled(code, exprMode{bool: true}) }

func compiled(code string, mode exprMode) *expression {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: code, Line: 1, Column: 1}
	r := &reader{src: newSource("q.yaml", []byte(code)), node: n}
	names := map[string]*shape{}
	for _, name := range []string{"item", "cursor", "first", "target", "now", "quiet"} {
		names[name] = anyShape
	}
	return r.compile(text{s: code, n: n}, 0, len(code), scope{names: names}, mode)
}

// randomCondition is a condition of the plain kinds, and of others.
func randomCondition(r *rand.Rand, depth int) string {
	operand := func() string {
		return []string{
			"item", "item.a", "item.b.c", `item["a"]`, "cursor", "cursor.a", "first", "now", "quiet", "target.path", "nil", "true", "1", "2.5",
			"-1", `"x"`, `"y"`, `"2027-01-02T03:04:05Z"`, `"1m"`, `""`, "item?.a", "len(item)", `"x" + "y"`, "9007199254740993",
		}[r.IntN(24)]
	}
	if depth == 0 || r.IntN(3) == 0 {
		switch r.IntN(8) {
		case 0:
			return operand()
		case 1:
			return operand() + []string{` in ["x", "y", 1]`, ` in []`, ` in item`, ` not in ["x"]`, ` in [nil]`}[r.IntN(5)]
		}
		return operand() + " " + []string{"==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith"}[r.IntN(9)] + " " + operand()
	}
	switch r.IntN(4) {
	case 0:
		return "!(" + randomCondition(r, depth-1) + ")"
	case 1:
		return "(" + randomCondition(r, depth-1) + ") || (" + randomCondition(r, depth-1) + ")"
	}
	return "(" + randomCondition(r, depth-1) + ") && (" + randomCondition(r, depth-1) + ")"
}

func randomEnv(r *rand.Rand) map[string]any {
	var value func(depth int) any
	value = func(depth int) any {
		if depth > 0 && r.IntN(2) == 0 {
			m := map[string]any{}
			for _, name := range []string{"a", "b", "c"} {
				if r.IntN(3) > 0 {
					m[name] = value(depth - 1)
				}
			}
			return m
		}
		return []any{
			nil, true, false, 1, 2, -1, 2.5, "x", "y", "", uint64(1 << 63), 9007199254740993,
			[]any{"x", 1},
			map[string]any{},
			time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), time.Minute, "2027-01-02T03:04:05Z", "1m",
		}[r.IntN(18)]
	}
	env := map[string]any{
		"first": r.IntN(2) == 0, "target": map[string]any{"path": value(0)}, "now": time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
		"quiet": time.Minute, budgetName: &budget{poll: maxPollSteps},
	}
	for _, name := range []string{"item", "cursor"} {
		if r.IntN(8) > 0 {
			env[name] = value(2)
		}
	}
	return env
}

// TestPlainConditionsHoldAsTheMachineSays runs random conditions by both ways: where the short one knows, it says the
// same, and it never knows what is an error.
func TestPlainConditionsHoldAsTheMachineSays(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	compiled, known, held := 0, 0, 0
	for range 6_000 {
		code := randomCondition(r, 3)
		e := condition(code)
		if e == nil || e.quick == nil {
			continue
		}
		compiled++
		slow := *e
		slow.quick = nil
		for range 10 {
			env := randomEnv(r)
			got, ok := e.quick(env)
			want, err := slow.holds(env)
			if !ok {
				continue
			}
			if known++; got {
				held++
			}
			if err != nil || got != want {
				t.Fatalf("%s with %v: %v, the machine says %v, %v", code, env, got, want, err)
			}
		}
	}
	if compiled < 1000 || known < 4000 || held < 500 || held > known-500 {
		t.Errorf("%d conditions, %d answers, %d of them true: the test says too little", compiled, known, held)
	}
}

// TestPlainExpressionsGiveWhatTheMachineGives: a name or a member is looked up as the machine does it, or not at all.
func TestPlainExpressionsGiveWhatTheMachineGives(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 23))
	known := 0
	for _, code := range []string{"item", "item.a", "item.b.c", `item["a"]`, "cursor.a.b.c", "target.path", "now", "quiet", "first"} {
		for _, mode := range []exprMode{{}, {lenient: true}} {
			e := compiled(code, mode)
			if e == nil || e.plain == nil {
				t.Fatal(code, "is not plain")
			}
			slow := *e
			slow.plain = nil
			for range 200 {
				env := randomEnv(r)
				v, ok := e.plain(env)
				if !ok {
					continue
				}
				known++
				if want, err := slow.run(env); err != nil || !reflect.DeepEqual(v, want) {
					t.Fatalf("%s with %v: %v, the machine says %v, %v", code, env, v, want, err)
				}
			}
		}
	}
	if known < 1000 {
		t.Errorf("only %d answers: the test says too little", known)
	}
	for _, code := range []string{"item?.a", "item.a + 1", "item[0]", "len(item)"} {
		if e := compiled(code, exprMode{}); e == nil || e.plain != nil {
			t.Errorf("%s is plain", code)
		}
	}
}

func TestWhichConditionsArePlain(t *testing.T) {
	for code, want := range map[string]bool{
		`item.event == "stop"`:                                true,
		`item.event == "stop" && item.error == nil || !first`: true,
		`item.n > 3`:                 true,
		`item.kind in ["a", "b"]`:    true,
		`first`:                      true,
		`item.list in cursor.list`:   false, // may be long: its steps count
		`any(item.list, # == 1)`:     false,
		`item.text matches "a+"`:     false,
		`item.event startsWith "st"`: true,
		`item?.event == "stop"`:      false,
		`len(item.list) > 1`:         false,
	} {
		e := condition(code)
		if e == nil {
			t.Fatal(code)
		}
		if got := e.quick != nil; got != want {
			t.Errorf("%s: plain is %v", code, got)
		}
	}
	if deep := condition(strings.Repeat("!", 200) + "first"); deep != nil && deep.quick != nil {
		if got, known := deep.quick(map[string]any{"first": true}); !got || !known {
			t.Error(fmt.Sprint(got, known))
		}
	}
}
