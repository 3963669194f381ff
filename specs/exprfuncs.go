package specs

import (
	"fmt"
	"math"
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
		two("__matches", match),
		two("__secret", func(asker, name any) (any, error) { return asker.(*secretAsker).get(name.(string)) }),
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
			if value.TooDeep(v) {
				return nil, wrong("toJSON takes no value that is %s", value.ErrTooDeep)
			}
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
