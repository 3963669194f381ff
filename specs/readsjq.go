package specs

import (
	"strings"

	"github.com/itchyny/gojq"
)

// tracker follows a jq program and notes what it reads: it knows of each value where in the document it may stand. What
// it does not know counts as reading all that the program could reach there.
type tracker struct{ steps int }

// maxTracked bounds how much of a program is followed: functions are followed anew wherever they are called.
const maxTracked = 10_000

// known are the names that a part of a program knows, the innermost first.
type known struct {
	outer *known
	name  string // $x, or a function without its dollar
	args  int
	at    places      // of a variable
	body  *gojq.Query // of a function without arguments; nil: of one with, or of a variable
	busy  bool        // it is being followed
}

func (k *known) find(name string, args int) *known {
	for ; k != nil; k = k.outer {
		if k.name == name && k.args == args {
			return k
		}
	}
	return nil
}

// everything notes that a part of a program may read all of its input and of its variables.
func everything(in places, k *known) places {
	for ; k != nil; k = k.outer {
		k.at.whole()
	}
	return in.whole()
}

// query follows a query with the input in, and returns where its outputs stand.
func (t *tracker) query(q *gojq.Query, in places, k *known) places {
	if t.steps++; q == nil || t.steps > maxTracked {
		return everything(in, k)
	}
	if len(q.Imports) > 0 {
		return everything(in, k)
	}
	for _, f := range q.FuncDefs {
		k = &known{outer: k, name: f.Name, args: len(f.Args)}
		if len(f.Args) == 0 {
			k.body = f.Body
		}
	}
	if q.Term != nil {
		return t.term(q.Term, in, k)
	}
	left := func() places { return t.query(q.Left, in, k) }
	right := func() places { return t.query(q.Right, in, k) }
	switch {
	case len(q.Patterns) == 1:
		return t.query(q.Right, in, t.bind(q.Patterns[0], left(), k))
	case len(q.Patterns) > 1:
		return everything(left().and(in), k)
	}
	switch q.Op {
	case gojq.OpPipe:
		return t.query(q.Right, left(), k)
	case gojq.OpComma, gojq.OpAlt:
		return left().and(right())
	case gojq.OpAnd, gojq.OpOr: // look at nothing but whether a value is null or false
		left()
		right()
		return nil
	case gojq.OpEq, gojq.OpNe:
		a, b := left(), right()
		if !isNull(q.Left) && !isNull(q.Right) {
			a.whole()
			b.whole()
		}
		return nil
	case gojq.OpAdd, gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		left().whole()
		return right().whole()
	}
	return everything(in, k) // an update reads and gives all of its input
}

func isNull(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeNull && len(q.Term.SuffixList) == 0
}

// bind follows a pattern, and returns what is known behind it.
func (t *tracker) bind(p *gojq.Pattern, at places, k *known) *known {
	switch {
	case p.Name != "":
		return &known{outer: k, name: p.Name, at: at}
	case len(p.Array) > 0:
		for _, e := range p.Array {
			k = t.bind(e, at.each(), k)
		}
		return k
	}
	for _, o := range p.Object {
		name, variable := strings.CutPrefix(o.Key, "$")
		if name == "" && o.KeyString != nil && len(o.KeyString.Queries) == 0 {
			name = o.KeyString.Str
		}
		if name == "" { // a query of its own
			everything(at, k)
			return k
		}
		m := at.member(name)
		if variable {
			k = &known{outer: k, name: o.Key, at: m}
		}
		if o.Val != nil {
			k = t.bind(o.Val, m, k)
		}
	}
	return k
}

func (t *tracker) term(term *gojq.Term, in places, k *known) places {
	p := t.bare(term, in, k)
	for _, s := range term.SuffixList {
		switch {
		case s.Index != nil:
			p = t.index(s.Index, p, in, k)
		case s.Iter:
			p = p.each()
		}
	}
	return p
}

// index is a look into p. Its own queries have the input in.
func (t *tracker) index(i *gojq.Index, p, in places, k *known) places {
	switch {
	case i.IsSlice: // a part of the list, whose elements stand where they stood
		for _, q := range []*gojq.Query{i.Start, i.End} {
			if q != nil {
				t.query(q, in, k).whole()
			}
		}
		p.each()
		return p
	case i.Name != "":
		return p.member(i.Name)
	case i.Str != nil && len(i.Str.Queries) == 0:
		return p.member(i.Str.Str)
	case i.Str != nil:
		t.text(i.Str, in, k)
		return p.each()
	}
	t.query(i.Start, in, k).whole()
	if s, ok := literal(i.Start); ok {
		return p.member(s)
	}
	if isNumber(i.Start) || isText(i.Start) {
		return p.each()
	}
	return p.whole() // to look for a list in a list is to compare its elements
}

// isText reports whether a query is a string, which may be made of other values.
func isText(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeString && len(q.Term.SuffixList) == 0
}

// isNumber reports whether a query is a number as it stands, such as 0 or -1.
func isNumber(q *gojq.Query) bool {
	if q.Term == nil || len(q.FuncDefs) > 0 || len(q.Term.SuffixList) > 0 {
		return false
	}
	t := q.Term
	if t.Type == gojq.TermTypeUnary && len(t.Unary.Term.SuffixList) == 0 {
		t = t.Unary.Term
	}
	return t.Type == gojq.TermTypeNumber
}

func (t *tracker) text(s *gojq.String, in places, k *known) {
	for _, q := range s.Queries {
		t.query(q, in, k).whole()
	}
}

// bare follows a term without its suffixes.
func (t *tracker) bare(term *gojq.Term, in places, k *known) places {
	switch term.Type {
	case gojq.TermTypeIdentity:
		return in
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber, gojq.TermTypeBreak:
		return nil
	case gojq.TermTypeIndex:
		return t.index(term.Index, in, in, k)
	case gojq.TermTypeQuery:
		return t.query(term.Query, in, k)
	case gojq.TermTypeString:
		t.text(term.Str, in, k)
		return nil
	case gojq.TermTypeUnary:
		return t.term(term.Unary.Term, in, k).whole()
	case gojq.TermTypeArray:
		if term.Array.Query == nil {
			return nil
		}
		return t.query(term.Array.Query, in, k).whole()
	case gojq.TermTypeObject:
		t.object(term.Object, in, k)
		return nil
	case gojq.TermTypeFunc:
		return t.call(term.Func, in, k)
	case gojq.TermTypeIf:
		return t.choice(term.If, in, k)
	case gojq.TermTypeTry:
		if term.Try.Catch == nil { // else it sees the error, which quotes values
			return t.query(term.Try.Body, in, k)
		}
	case gojq.TermTypeLabel:
		return t.query(term.Label.Body, in, k)
	}
	return everything(in, k)
}

func (t *tracker) choice(i *gojq.If, in places, k *known) places {
	t.query(i.Cond, in, k)
	p := t.query(i.Then, in, k)
	for _, e := range i.Elif {
		t.query(e.Cond, in, k)
		p = p.and(t.query(e.Then, in, k))
	}
	if i.Else == nil {
		return p.and(in)
	}
	return p.and(t.query(i.Else, in, k))
}

func (t *tracker) object(o *gojq.Object, in places, k *known) {
	for _, kv := range o.KeyVals {
		switch {
		case kv.KeyQuery != nil:
			t.query(kv.KeyQuery, in, k).whole()
		case kv.KeyString != nil:
			t.text(kv.KeyString, in, k)
		}
		switch {
		case kv.Val != nil:
			t.query(kv.Val, in, k).whole()
		case kv.KeyString != nil:
			t.index(&gojq.Index{Str: kv.KeyString}, in, in, k).whole()
		case strings.HasPrefix(kv.Key, "$"):
			t.call(&gojq.Func{Name: kv.Key}, in, k).whole()
		case kv.Key != "":
			in.member(kv.Key).whole()
		default:
			everything(in, k)
		}
	}
}

// call is a function or a variable.
func (t *tracker) call(f *gojq.Func, in places, k *known) places {
	if of := k.find(f.Name, len(f.Args)); of != nil {
		return t.own(of, in, k)
	}
	if strings.HasPrefix(f.Name, "$") { // $now and the like
		return nil
	}
	arg := func(i int, in places) places { return t.query(f.Args[i], in, k) }
	switch builtin := [2]any{f.Name, len(f.Args)}; builtin {
	case [2]any{"empty", 0}, [2]any{"now", 0}, [2]any{"not", 0}, [2]any{"type", 0}:
		return nil
	case [2]any{"values", 0}, [2]any{"nulls", 0}, [2]any{"objects", 0}, [2]any{"arrays", 0}, [2]any{"iterables", 0},
		[2]any{"scalars", 0}, [2]any{"strings", 0}, [2]any{"numbers", 0}, [2]any{"booleans", 0}:
		return in // some of its input, by what kind of value it is
	case [2]any{"length", 0}, [2]any{"keys", 0}, [2]any{"keys_unsorted", 0}, [2]any{"any", 0}, [2]any{"all", 0}:
		in.each()
		return nil
	case [2]any{"first", 0}, [2]any{"last", 0}:
		return in.each()
	case [2]any{"select", 1}:
		arg(0, in)
		return in
	case [2]any{"first", 1}, [2]any{"last", 1}:
		return arg(0, in)
	case [2]any{"map", 1}:
		return arg(0, in.each()).whole()
	case [2]any{"any", 1}, [2]any{"all", 1}:
		arg(0, in.each())
		return nil
	case [2]any{"any", 2}, [2]any{"all", 2}:
		arg(1, arg(0, in))
		return nil
	case [2]any{"has", 1}:
		arg(0, in).whole()
		in.each()
		return nil
	case [2]any{"error", 1}: // nothing says of an error what it says
		return arg(0, in).whole()
	case [2]any{"limit", 2}:
		arg(0, in).whole()
		return arg(1, in)
	}
	in.whole()
	for i := range f.Args { // an argument may have another input than this one: a part of it, or what was made
		arg(i, in).whole()
	}
	return nil
}

// own is a function or a variable of the program's own.
func (t *tracker) own(of *known, in places, k *known) places {
	switch {
	case strings.HasPrefix(of.name, "$"):
		return of.at
	case of.body == nil || of.busy:
		return everything(in, k)
	}
	of.busy = true
	defer func() { of.busy = false }()
	return t.query(of.body, in, of)
}
