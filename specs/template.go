package specs

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/sessevents/sessevents/internal/value"
)

// template is a string with `${expr}` in it.
type template struct {
	at     text
	pieces []piece
}

// piece is a literal, or an expression.
type piece struct {
	lit string
	e   *expression
}

// span is one piece of a template before it is compiled.
type span struct {
	lit      string
	from, to int // of the expression, in bytes of the whole string
	isExpr   bool
}

// split cuts a string at its `${…}`; `$${` is a literal `${`. bad is the byte of a `${` that does not end, or -1.
func split(s string) (spans []span, bad int) {
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			spans = append(spans, span{lit: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "$${"):
			lit.WriteString("${")
			i += 3
		case strings.HasPrefix(s[i:], "${"):
			end := endOf(s, i+2)
			if end < 0 {
				return spans, i
			}
			flush()
			spans = append(spans, span{from: i + 2, to: end, isExpr: true})
			i = end + 1
		default:
			lit.WriteByte(s[i])
			i++
		}
	}
	flush()
	return spans, -1
}

// endOf finds the brace that closes an expression: braces nest, and in strings they count for nothing.
func endOf(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; c {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case '"', '\'', '`':
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' && c != '`' {
					i++
				}
			}
		}
	}
	return -1
}

// template compiles a string; nil where it has faults or is not set.
func (r *reader) template(t text, sc scope, mode exprMode) *template {
	if !t.set() {
		return nil
	}
	spans, bad := split(t.s)
	if bad >= 0 {
		r.inside(t.n, bad, 2, Error, "template", "`${` without its `}`", "close it, or write `$${` for the two characters")
		return nil
	}
	out := &template{at: t}
	ok := true
	for _, sp := range spans {
		if !sp.isExpr {
			out.pieces = append(out.pieces, piece{lit: sp.lit})
			continue
		}
		if strings.TrimSpace(t.s[sp.from:sp.to]) == "" {
			r.inside(t.n, sp.from, 1, Error, "empty-expression", "an empty `${}`", "name a value in it")
			ok = false
			continue
		}
		e := r.compile(t, sp.from, sp.to, sc, mode)
		ok = ok && e != nil
		out.pieces = append(out.pieces, piece{e: e})
	}
	if !ok {
		return nil
	}
	return out
}

// alone is the expression of a template that is one `${}` and nothing else.
func (t *template) alone() *expression {
	if t != nil && len(t.pieces) == 1 {
		return t.pieces[0].e
	}
	return nil
}

// uses reports whether one of its expressions names one of names.
func (t *template) uses(names ...string) bool {
	if t == nil {
		return false
	}
	for _, p := range t.pieces {
		if p.e.uses(names...) {
			return true
		}
	}
	return false
}

// members are all member names that its expressions spell.
func (t *template) members() map[string]bool {
	all := map[string]bool{}
	if t != nil {
		for _, p := range t.pieces {
			if p.e != nil {
				maps.Copy(all, p.e.members)
			}
		}
	}
	return all
}

// speech renders the template for a reader: env holds spoken values only.
func (t *template) speech(env map[string]any) (string, error) {
	var b strings.Builder
	for _, p := range t.pieces {
		if p.e == nil {
			b.WriteString(p.lit)
			continue
		}
		v, err := p.e.say(env)
		if err != nil {
			return "", err
		}
		b.WriteString(speak(v))
		if b.Len() > maxString {
			break
		}
	}
	return cut(clean(b.String()), maxText), nil
}

// lostName is where the environment of a text notes that a value in it is withheld.
const lostName = "__lost"

// say evaluates an expression of a text. Where a value in it is withheld and so it cannot be evaluated, it is withheld
// as a whole: a value that does not fit must not stop the watch.
func (e *expression) say(env map[string]any) (any, error) {
	v, err := e.run(env)
	var ee *EvalError
	if err != nil && env[lostName] == true && errors.As(err, &ee) && !ee.Endless {
		return withheld, nil
	}
	return v, err
}

// link renders the template as a URL; empty where a part of it is nothing or the whole is not a URL.
func (t *template) link(env map[string]any) (string, error) {
	out, err := t.encoded(env, func(v any) (string, bool) {
		s := speak(v)
		return s, v != nil && s != withheld
	})
	if err != nil {
		if ee := new(linkError); asLink(err, &ee) {
			return "", nil
		}
		return "", err
	}
	if _, ok := plainURL(out); !ok {
		return "", nil
	}
	return out, nil
}

// speak is a value in a text.
func speak(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case time.Duration:
		return speakSpan(v)
	case size:
		return speakSize(v.bytes)
	case map[string]any:
		return withheld
	}
	if vs, ok := asList(v).([]any); ok {
		parts := make([]string, min(len(vs), maxText))
		for i := range parts {
			parts[i] = speak(vs[i])
		}
		return strings.Join(parts, ", ")
	}
	switch n := value.Normalise(goNumber(v)).(type) {
	case int, uint64:
		return fmt.Sprint(n)
	case float64:
		return speakFloat(n)
	}
	return withheld
}

func speakFloat(f float64) string {
	if math.Abs(f) < 1e15 && math.Abs(f) > 1e-6 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func speakSpan(d time.Duration) string {
	if d.Abs() >= time.Second {
		return short(d.Round(time.Second))
	}
	return d.Round(time.Millisecond).String()
}

// speakSize is a count of bytes with a unit, powers of 1000, at most one digit after the point.
func speakSize(v any) string {
	f, err := toFloat(v)
	if err != nil {
		return withheld
	}
	n := f.(float64)
	for _, u := range []struct {
		name string
		of   float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if math.Abs(n) >= u.of {
			return strings.TrimSuffix(strconv.FormatFloat(n/u.of, 'f', 1, 64), ".0") + " " + u.name
		}
	}
	return speakFloatOr0(n) + " B"
}

func speakFloatOr0(f float64) string {
	if f == 0 {
		return "0"
	}
	return speakFloat(f)
}

// plain is a value as text for a fetcher or string(…): whole, exact, and never "none".
func plain(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", wrong("there is nothing to make a text of")
	case string:
		return v, nil
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	case map[string]any, []any:
		b, err := value.Encode(saved(v))
		return string(b), err
	case size:
		return plain(v.bytes)
	}
	if k := reflect.ValueOf(v).Kind(); k == reflect.Func || k == reflect.Struct || k == reflect.Pointer {
		return "", wrong("%s is no text", kindOf(v))
	}
	if s := speak(v); s != withheld {
		return s, nil
	}
	return "", wrong("%s is no text", kindOf(v))
}
