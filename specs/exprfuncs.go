package specs

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/sessevents/sessevents/internal/value"
)

// opError is an operator or function that its values do not suit. It names kinds, never values.
type opError struct {
	text string
	// endless says that a bound was hit.
	endless bool
}

func (e *opError) Error() string { return e.text }

func wrong(format string, args ...any) error { return &opError{text: fmt.Sprintf(format, args...)} }

// kindOf names what a value is.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("a string of %d bytes", len(v))
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return "a map"
	case bool:
		return "a boolean"
	case time.Time:
		return "a time"
	case time.Duration:
		return "a duration"
	case size:
		return "a size"
	}
	if value.IsNumber(value.Normalise(v)) {
		return "a number"
	}
	return fmt.Sprintf("a %T", v)
}

// operators are the functions that stand for the library's own operators, which round and wrap numbers.
var operators = map[string]string{
	"==": "__equal", "!=": "__differ", "<": "__less", "<=": "__atMost", ">": "__more", ">=": "__atLeast",
	"+": "__add", "-": "__sub", "*": "__mul", "/": "__div", "%": "__mod", "**": "__pow", "^": "__pow", "in": "__in",
}

// replaced are the builtins that have a function of our own, called by the same name after two underscores.
var replaced = map[string]bool{
	"sum": true, "max": true, "min": true, "mean": true, "median": true, "sort": true, "uniq": true, "abs": true,
	"int": true, "float": true, "string": true, "toJSON": true, "fromJSON": true, "replace": true, "indexOf": true,
}

// functions are the options that make our operators known to the library.
func functions() []expr.Option {
	fn := func(name string, f func(...any) (any, error)) expr.Option { return expr.Function(name, f) }
	two := func(name string, f func(a, b any) (any, error)) expr.Option {
		return fn(name, func(args ...any) (any, error) { return f(args[0], args[1]) })
	}
	one := func(name string, f func(v any) (any, error)) expr.Option {
		return fn(name, func(args ...any) (any, error) {
			if len(args) != 1 {
				return nil, wrong("%s takes one value, not %d", strings.TrimPrefix(name, "__"), len(args))
			}
			return f(args[0])
		})
	}
	arith := func(name, op string) expr.Option {
		return two(name, func(a, b any) (any, error) { return compute(op, a, b) })
	}
	order := func(name string, holds func(c int) bool) expr.Option {
		return two(name, func(a, b any) (any, error) { return ordered(strings.TrimPrefix(name, "__"), a, b, holds) })
	}
	list := func(name string, f func(vs []any) (any, error)) expr.Option {
		return fn(name, func(args ...any) (any, error) {
			vs, err := flat(args)
			if err != nil {
				return nil, err
			}
			return f(vs)
		})
	}
	return []expr.Option{
		two("__equal", func(a, b any) (any, error) { return equal(a, b), nil }),
		two("__differ", func(a, b any) (any, error) { return !equal(a, b), nil }),
		order("__less", func(c int) bool { return c < 0 }),
		order("__atMost", func(c int) bool { return c <= 0 }),
		order("__more", func(c int) bool { return c > 0 }),
		order("__atLeast", func(c int) bool { return c >= 0 }),
		arith("__add", "+"), arith("__sub", "-"), arith("__mul", "*"), arith("__div", "/"), arith("__mod", "%"), arith("__pow", "**"),
		one("__negate", func(v any) (any, error) { return compute("-", zeroOf(v), v) }),
		fn("__in", func(args ...any) (any, error) { return in(args[0].(*budget), args[1], args[2]) }),
		fn("__slice", func(args ...any) (any, error) { return slice(args[0], args[1], args[2]) }),
		one("__truth", func(v any) (any, error) {
			if b, ok := v.(bool); ok || v == nil {
				return b, nil
			}
			return nil, wrong("must be true or false, it is %s", kindOf(v))
		}),
		two("__step", func(b, v any) (any, error) { return v, b.(*budget).spend(1) }),
		list("__sum", sum),
		list("__max", func(vs []any) (any, error) { return best(vs, 1) }),
		list("__min", func(vs []any) (any, error) { return best(vs, -1) }),
		list("__mean", mean),
		list("__median", median),
		fn("__sort", func(args ...any) (any, error) { return sortList(args[0], args[0], args[1:]) }),
		fn("__sortBy", func(args ...any) (any, error) { return sortList(args[0], args[1], args[2:]) }),
		one("__uniq", uniq),
		one("__abs", func(v any) (any, error) {
			if c, ok := value.Compare(bare(v), bare(zeroOf(v))); ok && c < 0 {
				return compute("-", zeroOf(v), v)
			}
			return v, nil
		}),
		one("__int", toInt),
		one("__float", toFloat),
		one("__string", func(v any) (any, error) { return plain(v) }),
		one("__toJSON", func(v any) (any, error) {
			b, err := value.Encode(saved(v))
			return string(b), err
		}),
		one("__fromJSON", fromJSON),
		fn("__replace", replace),
		two("__indexOf", func(s, sub any) (any, error) {
			a, okA := s.(string)
			b, okB := sub.(string)
			if !okA || !okB {
				return nil, wrong("indexOf takes two strings, not %s and %s", kindOf(s), kindOf(sub))
			}
			return strings.Index(a, b), nil
		}),
	}
}

// bare is a number without its unit.
func bare(v any) any {
	if s, ok := v.(size); ok {
		return s.bytes
	}
	return value.Normalise(goNumber(v))
}

// goNumber makes a number of what Go's own types give, such as a month.
func goNumber(v any) any {
	switch v.(type) {
	case nil, time.Duration, time.Time, string, bool, []any, map[string]any, int, float64, uint64:
		return v
	}
	switch rv := reflect.ValueOf(v); {
	case rv.CanInt():
		return rv.Int()
	case rv.CanUint():
		return rv.Uint()
	case rv.CanFloat():
		return rv.Float()
	}
	return v
}

func zeroOf(v any) any {
	switch v.(type) {
	case time.Duration:
		return time.Duration(0)
	case size:
		return size{0}
	}
	return 0
}

func equal(a, b any) bool { return value.Equal(bare(asList(a)), bare(asList(b))) }

// asList is a list as JSON has it: some functions of the library give lists of one kind.
func asList(v any) any {
	switch v.(type) {
	case nil, []any, string, map[string]any:
		return v
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice {
		return v
	}
	vs := make([]any, rv.Len())
	for i := range vs {
		vs[i] = rv.Index(i).Interface()
	}
	return vs
}

// ordered compares. With nothing on one side no order holds: a field that is not there is neither more nor less.
func ordered(what string, a, b any, holds func(int) bool) (any, error) {
	if a == nil || b == nil {
		return false, nil
	}
	c, ok := value.Compare(bare(a), bare(b))
	if !ok {
		return nil, wrong("there is no order between %s and %s", kindOf(a), kindOf(b))
	}
	return holds(c), nil
}

// maxString bounds a string that an expression makes.
const maxString = 1 << 20

var errLong = &opError{text: "it makes a string of more than a megabyte", endless: true}

func compute(op string, a, b any) (any, error) {
	if v, done, err := computeTimes(op, a, b); done {
		return v, err
	}
	if s, ok := a.(string); ok && op == "+" {
		if t, ok := b.(string); ok {
			if len(s)+len(t) > maxString {
				return nil, errLong
			}
			return s + t, nil
		}
	}
	v, ok, err := value.Arith(op, bare(a), bare(b))
	if err != nil {
		return nil, wrong("%v", err)
	}
	if !ok {
		hint := ""
		if op == "+" {
			hint = " (a number becomes text with string(…))"
		}
		return nil, wrong("cannot compute %s %s %s%s", kindOf(a), op, kindOf(b), hint)
	}
	_, sizeA := a.(size)
	_, sizeB := b.(size)
	if sizeA && (sizeB && (op == "+" || op == "-") || !sizeB && (op == "*" || op == "/")) {
		return size{v}, nil
	}
	return v, nil
}

// computeTimes knows times and durations; done is false where there are none.
func computeTimes(op string, a, b any) (v any, done bool, err error) {
	t, isTime := a.(time.Time)
	u, otherTime := b.(time.Time)
	d, isSpan := a.(time.Duration)
	e, otherSpan := b.(time.Duration)
	factor := func(n any) (float64, bool) {
		f, err := toFloat(bare(n))
		x, ok := f.(float64)
		return x, err == nil && ok && value.IsNumber(bare(n))
	}
	switch {
	case isTime && otherTime && op == "-":
		return t.Sub(u), true, nil
	case isTime && otherSpan && op == "-":
		return t.Add(-e), true, nil
	case isTime && otherSpan && op == "+":
		return t.Add(e), true, nil
	case isSpan && otherTime && op == "+":
		return u.Add(d), true, nil
	case isSpan && otherSpan && op == "+":
		return d + e, true, nil
	case isSpan && otherSpan && op == "-":
		return d - e, true, nil
	case isSpan && otherSpan && op == "/":
		if e == 0 {
			return nil, true, wrong("%v", value.ErrDivide)
		}
		return value.Normalise(float64(d) / float64(e)), true, nil
	case isSpan && (op == "*" || op == "/"):
		if f, ok := factor(b); ok && (op == "*" || f != 0) {
			if op == "/" {
				f = 1 / f
			}
			return time.Duration(float64(d) * f), true, nil
		}
	case otherSpan && op == "*":
		if f, ok := factor(a); ok {
			return time.Duration(float64(e) * f), true, nil
		}
	}
	if isTime || otherTime || isSpan || otherSpan {
		return nil, true, wrong("cannot compute %s %s %s", kindOf(a), op, kindOf(b))
	}
	return nil, false, nil
}

func in(b *budget, v, where any) (any, error) {
	switch w := asList(where).(type) {
	case nil:
		return false, nil
	case []any:
		if err := b.spend(len(w)/8 + 1); err != nil {
			return nil, err
		}
		return slices.ContainsFunc(w, func(e any) bool { return equal(v, e) }), nil
	case map[string]any:
		s, ok := v.(string)
		_, has := w[s]
		return ok && has, nil
	}
	return nil, wrong("`in` looks into a list or a map, not into %s", kindOf(where))
}

// slice cuts a string by characters, or a list. What is withheld stays whole.
func slice(v, from, to any) (any, error) {
	cutAt := func(n int) (int, int, error) {
		a, b := 0, n
		for _, p := range []struct {
			v  any
			to *int
		}{{from, &a}, {to, &b}} {
			if p.v == nil {
				continue
			}
			i, ok := bare(p.v).(int)
			if !ok {
				return 0, 0, wrong("a slice goes from a number to a number, not %s", kindOf(p.v))
			}
			if i < 0 {
				i += n
			}
			*p.to = min(max(i, 0), n)
		}
		return min(a, b), b, nil
	}
	switch v := asList(v).(type) {
	case nil:
		return nil, nil
	case string:
		if v == withheld {
			return v, nil
		}
		rs := []rune(v)
		a, b, err := cutAt(len(rs))
		if err != nil {
			return nil, err
		}
		return string(rs[a:b]), nil
	case []any:
		a, b, err := cutAt(len(v))
		if err != nil {
			return nil, err
		}
		return v[a:b], nil
	}
	return nil, wrong("cannot slice %s", kindOf(v))
}

// flat are the values of lists and single values, in order. nil is no value: it is left out.
func flat(args []any) ([]any, error) {
	var vs []any
	for _, a := range args {
		switch l := asList(a).(type) {
		case nil:
		case []any:
			inner, err := flat(l)
			if err != nil {
				return nil, err
			}
			vs = append(vs, inner...)
		default:
			vs = append(vs, a)
		}
	}
	return vs, nil
}

func sum(vs []any) (any, error) {
	if len(vs) == 0 {
		return 0, nil
	}
	total, err := vs[0], error(nil)
	for _, v := range vs[1:] {
		if total, err = compute("+", total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// best is the largest (sign 1) or the least (sign -1) value. Of no values there is none: that is an error, so that a
// watermark is not lost to an empty list.
func best(vs []any, sign int) (any, error) {
	if len(vs) == 0 {
		return nil, wrong("there is no largest or least of an empty list")
	}
	top := vs[0]
	for _, v := range vs[1:] {
		c, ok := value.Compare(bare(v), bare(top))
		if !ok {
			return nil, wrong("there is no order between %s and %s", kindOf(v), kindOf(top))
		}
		if c*sign > 0 {
			top = v
		}
	}
	return top, nil
}

func mean(vs []any) (any, error) {
	if len(vs) == 0 {
		return nil, wrong("there is no mean of an empty list")
	}
	total, err := sum(vs)
	if err != nil {
		return nil, err
	}
	return compute("/", total, len(vs))
}

func median(vs []any) (any, error) {
	if len(vs) == 0 {
		return nil, wrong("there is no median of an empty list")
	}
	sorted, err := sortList(vs, vs, nil)
	if err != nil {
		return nil, err
	}
	list := sorted.([]any)
	if mid := len(list) / 2; len(list)%2 == 1 {
		return list[mid], nil
	} else if v, err := compute("+", list[mid-1], list[mid]); err == nil {
		return compute("/", v, 2)
	}
	return nil, wrong("there is no median of these values")
}

// sortList sorts a list by the values of another one, which belong to its elements; equal ones keep their order.
func sortList(list, by any, order []any) (any, error) {
	vs, ok := asList(list).([]any)
	keys, okKeys := asList(by).([]any)
	if !ok || !okKeys || len(vs) != len(keys) {
		return nil, wrong("sort takes a list, not %s", kindOf(list))
	}
	sign := 1
	if len(order) > 0 && order[0] == "desc" {
		sign = -1
	}
	at := make([]int, len(vs))
	for i := range at {
		at[i] = i
	}
	var err error
	slices.SortStableFunc(at, func(i, j int) int {
		c, ok := value.Compare(bare(keys[i]), bare(keys[j]))
		switch {
		case keys[i] == nil && keys[j] != nil: // what is not there comes first
			c = -1
		case keys[i] != nil && keys[j] == nil:
			c = 1
		case !ok && keys[i] != nil:
			err = wrong("there is no order between %s and %s", kindOf(keys[i]), kindOf(keys[j]))
		}
		return c * sign
	})
	if err != nil {
		return nil, err
	}
	out := make([]any, len(vs))
	for i, j := range at {
		out[i] = vs[j]
	}
	return out, nil
}

func uniq(v any) (any, error) {
	vs, ok := asList(v).([]any)
	if !ok {
		return nil, wrong("uniq takes a list, not %s", kindOf(v))
	}
	seen := map[string]bool{}
	out := []any{}
	for _, e := range vs {
		b, err := value.Encode(saved(e))
		if err != nil {
			return nil, wrong("uniq cannot compare %s", kindOf(e))
		}
		if !seen[string(b)] {
			seen[string(b)] = true
			out = append(out, e)
		}
	}
	return out, nil
}

func toInt(v any) (any, error) {
	switch v := bare(v).(type) {
	case int, uint64:
		return v, nil
	case float64:
		return value.Normalise(math.Trunc(v)), nil
	case string:
		if n, err := value.Decode([]byte(v)); err == nil && value.IsNumber(n) {
			return toInt(n)
		}
	}
	return nil, wrong("%s is no number", kindOf(v))
}

func toFloat(v any) (any, error) {
	switch v := bare(v).(type) {
	case int:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f, nil
		}
	}
	return nil, wrong("%s is no number", kindOf(v))
}

func fromJSON(v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, wrong("fromJSON takes a string, not %s", kindOf(v))
	}
	out, err := value.Decode([]byte(s))
	if err != nil {
		return nil, wrong("%s is not JSON", kindOf(v))
	}
	return out, nil
}

func replace(args ...any) (any, error) {
	if len(args) != 3 {
		return nil, wrong("replace takes three strings")
	}
	var s [3]string
	for i, a := range args {
		var ok bool
		if s[i], ok = a.(string); !ok {
			return nil, wrong("replace takes three strings, not %s", kindOf(a))
		}
	}
	if n := strings.Count(s[0], s[1]); len(s[0])+n*len(s[2]) > maxString {
		return nil, errLong
	}
	return strings.ReplaceAll(s[0], s[1], s[2]), nil
}

// saved is a value as JSON can hold it: times and durations as text, all else behind the border.
func saved(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return v.String()
	case size:
		return v.bytes
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = saved(e)
		}
		return out
	}
	if vs, ok := asList(v).([]any); ok {
		out := make([]any, len(vs))
		for i, e := range vs {
			out[i] = saved(e)
		}
		return out
	}
	switch n := value.Normalise(goNumber(v)).(type) {
	case nil, bool, int, uint64, float64, string:
		return n
	}
	return nil
}
