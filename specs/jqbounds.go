package specs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Between two steps of a jq program the library looks whether it is to stop, but not within one. Most steps are quick
// even on the largest document; those that are not are defined anew here. What bounds them counts work and not time, so
// that a program fails on every machine or on none.
const (
	maxPairs      = 50_000_000 // values that are compared with each other
	maxTransposed = 5_000_000  // of a list that is transposed
	maxOrder      = 100_000    // of a Bessel function
	maxDigits     = 4096       // of a number in a string
	maxBits       = 1 << 14    // of a product
	maxRepeat     = 64 << 20   // bytes of a string that is repeated
)

// tooMuch is what a step panics with that passes a bound: `?` and `try` would make nothing of an error, and nothing
// means that what was watched is gone.
type tooMuch string

// inRun is the variable by which our functions know the run they are in.
const inRun = "$__run"

// jqRun is one run of a program.
type jqRun struct {
	ctx      context.Context
	patterns *patterns
}

// boundedDef is how a function is defined anew; empty where it is the library's own. A name with underscores before it is
// the library's function, kept from before its own name means ours, or one of ours in Go.
func boundedDef(name string, args int) string {
	switch name {
	case "transpose", "tonumber", "fromjson":
		if args == 0 {
			return map[string]string{
				"transpose": `def __transpose: transpose; def transpose: __cells | __transpose;`,
				"tonumber":  `def __tonumber: tonumber; def tonumber: __digits | __tonumber;`,
				"fromjson":  `def __fromjson: fromjson; def fromjson: __fromjson | __numbers;`,
			}[name]
		}
	case "contains", "inside", "indices", "index", "rindex":
		if args == 1 {
			return fmt.Sprintf(`def __%[1]s(x): %[1]s(x); def %[1]s(x): x as $x | __pairs($x; %[1]q) | __%[1]s($x);`, name)
		}
	case "jn", "yn":
		if args == 2 {
			return fmt.Sprintf(`def __%[1]s(n; x): %[1]s(n; x); def %[1]s(n; x): x as $x | n as $n | __order($n) | __%[1]s($n; $x);`, name)
		}
	case "match", "test", "capture", "scan", "splits":
		if args == 1 || args == 2 {
			return patternDefs
		}
	case "sub", "gsub":
		if args == 2 || args == 3 {
			return patternDefs
		}
	case "split": // with one argument it looks for a text
		if args == 2 {
			return patternDefs
		}
	}
	return ""
}

// jqOperators take the place of operators. The right side is the outer loop, as it is there.
var jqOperators = map[gojq.Operator]struct{ name, def string }{
	gojq.OpSub: {"__minus", `def __minus(l; r): r as $r | l as $l | ($l | __pairs($r; "-")) - $r;`},
	gojq.OpMul: {"__times", `def __times(l; r): r as $r | l as $l | __product($l; $r) | $l * $r;`},
}

var jqUpdates = map[gojq.Operator]gojq.Operator{gojq.OpUpdateSub: gojq.OpSub, gojq.OpUpdateMul: gojq.OpMul}

// compileJQ compiles a program within the bounds. bound says that its last variable is the run, a [*jqRun].
func compileJQ(source string, parsed *gojq.Query, vars []string) (code *gojq.Code, bound bool, err error) {
	defs := boundsFor(parsed)
	if defs == "" {
		code, err = gojq.Compile(parsed, gojq.WithVariables(vars))
		return code, false, err
	}
	own, err := gojq.Parse(source) // parsed is read by others, as it was written
	if err != nil {
		return nil, false, err
	}
	eachQuery(own, boundOperator)
	before, err := gojq.Parse(defs + " .")
	if err != nil {
		return nil, false, fmt.Errorf("the bounds of jq: %w", err)
	}
	own.FuncDefs = append(before.FuncDefs, own.FuncDefs...)
	code, err = gojq.Compile(own,
		gojq.WithVariables(append(slices.Clone(vars), inRun)),
		gojq.WithFunction("__pairs", 2, 2, func(v any, args []any) any { return fewPairs(v, args[0], args[1]) }),
		gojq.WithFunction("__cells", 0, 0, func(v any, _ []any) any { return fewCells(v) }),
		gojq.WithFunction("__digits", 0, 0, func(v any, _ []any) any { return fewDigits(v) }),
		gojq.WithFunction("__numbers", 0, 0, func(v any, _ []any) any { return shortNumbers(v) }),
		gojq.WithFunction("__order", 1, 1, func(v any, args []any) any { return lowOrder(v, args[0]) }),
		gojq.WithFunction("__product", 2, 2, func(_ any, args []any) any { return smallProduct(args[0], args[1]) }),
		gojq.WithFunction("__matches", 4, 4, func(v any, args []any) any { return jqMatches(v, args) }),
	)
	return code, true, err
}

// boundsFor are the definitions that a program needs; empty where it uses nothing that must be bounded.
func boundsFor(q *gojq.Query) string {
	used := map[string]bool{}
	eachQuery(q, func(q *gojq.Query) {
		op := q.Op
		if of, ok := jqUpdates[op]; ok {
			op = of
		}
		if o, ok := jqOperators[op]; ok && q.Term == nil {
			used[o.def] = true
		}
		if q.Term != nil && q.Term.Func != nil {
			if def := boundedDef(q.Term.Func.Name, len(q.Term.Func.Args)); def != "" {
				used[def] = true
			}
		}
	})
	return strings.Join(slices.Sorted(maps.Keys(used)), "\n")
}

// boundOperator puts our functions in the place of an operator.
func boundOperator(q *gojq.Query) {
	if q.Term != nil {
		return
	}
	call := func(op gojq.Operator, l, r *gojq.Query) *gojq.Query {
		return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: jqOperators[op].name, Args: []*gojq.Query{l, r}}}}
	}
	if _, ok := jqOperators[q.Op]; ok {
		of := call(q.Op, q.Left, q.Right)
		q.Term, q.Left, q.Right, q.Op = of.Term, nil, nil, 0
		return
	}
	if op, ok := jqUpdates[q.Op]; ok { // a -= b is b as $x | a |= . - $x
		dot := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}
		x := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "$__x"}}}
		update := &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: call(op, dot, x)}
		q.Left, q.Op, q.Right, q.Patterns = q.Right, gojq.OpPipe, update, []*gojq.Pattern{{Name: "$__x"}}
	}
}

// eachQuery calls do for every part of a program, the inner ones first.
func eachQuery(q *gojq.Query, do func(*gojq.Query)) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				return
			}
			walk(v.Elem())
			if q, ok := v.Interface().(*gojq.Query); ok {
				do(q)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		}
	}
	walk(reflect.ValueOf(q))
}

// fewPairs gives v back where to compare it with x is not too much.
func fewPairs(v, x, name any) any {
	_, text := v.(string)
	_, word := x.(string)
	switch {
	case text && word && name != "contains" && name != "inside":
		if len(v.(string))*len(x.(string)) > maxPairs {
			panic(tooMuch(fmt.Sprintf("%s of texts of %d and %d bytes is too much", name, len(v.(string)), len(x.(string)))))
		}
	case text || word: // which is found in one go
	default:
		if pairs(v, x) > maxPairs {
			panic(tooMuch(fmt.Sprintf("%s would compare more than %d million values", name, maxPairs/1_000_000)))
		}
	}
	return v
}

// pairs is how many values are compared at most.
func pairs(v, x any) int {
	if v, ok := v.(map[string]any); ok {
		x, _ := x.(map[string]any)
		n := len(x)
		for name, e := range x {
			n += pairs(v[name], e)
		}
		return n
	}
	a, b := parts(v, maxPairs), 1
	if _, ok := x.([]any); ok {
		b = parts(x, maxPairs)
	}
	return a * b
}

// parts is how many values v consists of, long strings counted as several; it stops counting at most.
func parts(v any, most int) (n int) {
	n = 1
	switch v := v.(type) {
	case string:
		return 1 + len(v)/64
	case []any:
		for i := 0; i < len(v) && n < most; i++ {
			n += parts(v[i], most-n)
		}
	case map[string]any:
		for _, e := range v {
			if n >= most {
				break
			}
			n += parts(e, most-n)
		}
	}
	return n
}

func fewCells(v any) any {
	rows, _ := v.([]any)
	longest := 0
	for _, r := range rows {
		if r, ok := r.([]any); ok {
			longest = max(longest, len(r))
		}
	}
	if len(rows)*longest > maxTransposed {
		panic(tooMuch(fmt.Sprintf("transpose would make more than %d million values", maxTransposed/1_000_000)))
	}
	return v
}

// jqNumber is the beginning of what the library may take for a number.
var jqNumber = lazily(`\A[-+0-9.eE]+\z`)

var errDigits = errors.New("a number with too many digits")

// fewDigits gives v back, or an error: a number that long is none.
func fewDigits(v any) any {
	if s, ok := v.(string); ok && len(s) > maxDigits && jqNumber().MatchString(s) {
		return errDigits
	}
	return v
}

// shortNumbers gives v back, or an error where it holds a number that is too long to work with.
func shortNumbers(v any) any {
	if longNumber(v) {
		return errDigits
	}
	return v
}

func longNumber(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return len(v) > maxDigits
	case *big.Int:
		return v.BitLen() > 4*maxDigits
	case []any:
		return slices.ContainsFunc(v, longNumber)
	case map[string]any:
		for _, e := range v {
			if longNumber(e) {
				return true
			}
		}
	}
	return false
}

func lowOrder(v, n any) any {
	if f, ok := gojq.ToFloat64(n); ok && (f > maxOrder || f < -maxOrder) {
		panic(tooMuch(fmt.Sprintf("a Bessel function of more than %d", maxOrder)))
	}
	return v
}

func smallProduct(l, r any) any {
	s, of := l.(string)
	n := r
	if !of {
		s, of = r.(string)
		n = l
	}
	if of {
		if times, ok := gojq.ToFloat64(n); ok && times*float64(len(s)) > maxRepeat {
			panic(tooMuch("a text would be repeated to more than " + speakSize(maxRepeat)))
		}
		return nil
	}
	if bits(l)+bits(r) > maxBits {
		panic(tooMuch(fmt.Sprintf("a product of more than %d bits", maxBits)))
	}
	return nil
}

// bits is how long an integer is; only those that are longer than a machine's grow.
func bits(v any) int {
	switch v := v.(type) {
	case *big.Int:
		return v.BitLen()
	case json.Number:
		return 4 * len(v)
	}
	return 64
}
