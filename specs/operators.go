package specs

import (
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/sessevents/sessevents/internal/value"
)

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

// match reports whether a string matches a pattern; nothing matches nothing.
func match(v, pattern any) (any, error) {
	if v == nil || pattern == nil {
		return false, nil
	}
	s, ok := v.(string)
	if !ok {
		return nil, wrong("`matches` looks at a string, not at %s", kindOf(v))
	}
	switch p := pattern.(type) {
	case *regexp.Regexp:
		return p.MatchString(s), nil
	case string:
		re, err := regexp.Compile(p)
		if err != nil || len(p) > maxExpr {
			return nil, wrong("the pattern does not compile")
		}
		return re.MatchString(s), nil
	}
	return nil, wrong("a pattern is a string, not %s", kindOf(pattern))
}
