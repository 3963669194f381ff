package specs

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"github.com/sessevents/sessevents/fetchers"
)

// narrow proves what a jq program reads of the lines of a stream, so that the fetcher may leave out the rest: nil where
// it may need everything. The program must take each line alone (`.lines[] | …`); what this proof does not know counts
// as reading all of its input.
func narrow(q *gojq.Query) *fetchers.Narrow {
	if !takesLinesAlone(q) {
		return nil
	}
	r := &readings{}
	r.whole(r.query(q.Right, place{}))
	if r.all {
		r.paths = nil
	}
	literals := leading(q.Right)
	if r.paths == nil && literals == nil {
		return nil
	}
	return &fetchers.Narrow{Paths: r.paths, Literals: literals}
}

// takesLinesAlone reports whether a program is `.lines[] | …`: what it makes of one line has nothing to do with the
// others.
func takesLinesAlone(q *gojq.Query) bool {
	return q != nil && q.Op == gojq.OpPipe && len(q.FuncDefs) == 0 && len(q.Imports) == 0 && len(q.Patterns) == 0 && isLines(q.Left)
}

// isLines reports whether a query is `.lines[]`.
func isLines(q *gojq.Query) bool {
	t := q.Term
	return t != nil && len(q.FuncDefs) == 0 && t.Type == gojq.TermTypeIndex && t.Index.Name == "lines" &&
		len(t.SuffixList) == 1 && t.SuffixList[0].Iter
}

// place is where a value of the program stands in the line; made says that it stands nowhere: it was made from what has
// been noted already.
type place struct {
	path []string
	made bool
}

var madeHere = place{made: true}

// readings are the members that a program reads.
type readings struct {
	paths [][]string
	all   bool
}

// whole notes that all of a value is read.
func (r *readings) whole(p place) place {
	switch {
	case p.made:
	case len(p.path) == 0:
		r.all = true
	case !slices.ContainsFunc(r.paths, func(q []string) bool { return slices.Equal(p.path, q) }):
		r.paths = append(r.paths, p.path)
	}
	return madeHere
}

// query follows a query whose input stands at in, and returns where its output stands.
func (r *readings) query(q *gojq.Query, in place) place {
	if q == nil {
		return in
	}
	if len(q.FuncDefs) > 0 || len(q.Imports) > 0 {
		return r.whole(in)
	}
	if q.Term != nil {
		return r.term(q.Term, in)
	}
	switch {
	case len(q.Patterns) > 0:
		r.whole(r.query(q.Left, in))
		for _, p := range q.Patterns {
			if p.Name == "" { // a pattern may hold queries of its own
				r.whole(in)
			}
		}
		return r.query(q.Right, in)
	case q.Op == gojq.OpPipe:
		return r.query(q.Right, r.query(q.Left, in))
	case slices.Contains(plainOperators, q.Op):
		r.whole(r.query(q.Left, in))
		return r.whole(r.query(q.Right, in))
	}
	return r.whole(in) // an update reads and gives all of its input
}

// plainOperators make a value of two others.
var plainOperators = []gojq.Operator{
	gojq.OpComma, gojq.OpAdd, gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod, gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt,
	gojq.OpGe, gojq.OpLe, gojq.OpAnd, gojq.OpOr, gojq.OpAlt,
}

func (r *readings) term(t *gojq.Term, in place) place {
	p := r.bare(t, in)
	for _, s := range t.SuffixList {
		switch {
		case s.Index != nil:
			p = r.index(s.Index, p, in)
		case s.Iter: // of a list or of an object: of which is not known here
			p = r.whole(p)
		}
	}
	return p
}

// index is `.name`, or another look into a value, which reads all of it.
func (r *readings) index(i *gojq.Index, p, in place) place {
	name := i.Name
	if name == "" && i.Str != nil && len(i.Str.Queries) == 0 {
		name = i.Str.Str
	}
	r.whole(r.optional(i.Start, in))
	r.whole(r.optional(i.End, in))
	if name == "" || i.IsSlice {
		if i.Str != nil {
			r.str(i.Str, in)
		}
		return r.whole(p)
	}
	if p.made {
		return p
	}
	return place{path: append(slices.Clone(p.path), name)}
}

// optional follows a query that need not be there.
func (r *readings) optional(q *gojq.Query, in place) place {
	if q == nil {
		return madeHere
	}
	return r.query(q, in)
}

func (r *readings) str(s *gojq.String, in place) place {
	for _, q := range s.Queries {
		r.whole(r.query(q, in))
	}
	return madeHere
}

// bare follows a term without its suffixes.
func (r *readings) bare(t *gojq.Term, in place) place {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return in
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
		return madeHere
	case gojq.TermTypeIndex:
		return r.index(t.Index, in, in)
	case gojq.TermTypeQuery:
		return r.query(t.Query, in)
	case gojq.TermTypeString:
		return r.str(t.Str, in)
	case gojq.TermTypeUnary:
		return r.whole(r.term(t.Unary.Term, in))
	case gojq.TermTypeArray:
		return r.whole(r.optional(t.Array.Query, in))
	case gojq.TermTypeObject:
		return r.object(t.Object, in)
	case gojq.TermTypeFunc:
		return r.call(t.Func, in)
	case gojq.TermTypeIf:
		r.whole(r.query(t.If.Cond, in))
		r.whole(r.query(t.If.Then, in))
		for _, e := range t.If.Elif {
			r.whole(r.query(e.Cond, in))
			r.whole(r.query(e.Then, in))
		}
		return r.whole(r.query(t.If.Else, in)) // without an else it gives its input
	}
	return r.whole(in)
}

func (r *readings) object(o *gojq.Object, in place) place {
	for _, kv := range o.KeyVals {
		switch {
		case kv.KeyQuery != nil:
			r.whole(r.query(kv.KeyQuery, in))
		case kv.KeyString != nil && len(kv.KeyString.Queries) > 0:
			return r.whole(in)
		case kv.Val == nil && kv.KeyString != nil:
			r.whole(r.index(&gojq.Index{Str: kv.KeyString}, in, in))
		case kv.Val == nil && !strings.HasPrefix(kv.Key, "$"):
			r.whole(r.index(&gojq.Index{Name: kv.Key}, in, in))
		}
		if kv.Val != nil {
			r.whole(r.query(kv.Val, in))
		}
	}
	return madeHere
}

// call is a function. select gives its input on; a variable and empty look at nothing; of any other it is taken that
// it reads all of its input, and so all that its arguments may read.
func (r *readings) call(f *gojq.Func, in place) place {
	switch {
	case f.Name == "select" && len(f.Args) == 1:
		r.whole(r.query(f.Args[0], in))
		return in
	case strings.HasPrefix(f.Name, "$") && f.Name != "$__prog_args", f.Name == "empty" && len(f.Args) == 0:
		return madeHere
	}
	return r.whole(in)
}

// leading are the literals that a line must hold to pass the selects at the beginning of a program.
func leading(q *gojq.Query) [][]string {
	var groups [][]string
	for q != nil && len(q.FuncDefs) == 0 && len(q.Patterns) == 0 {
		first, rest := q, (*gojq.Query)(nil)
		if q.Term == nil && q.Op == gojq.OpPipe {
			first, rest = q.Left, q.Right
		}
		t := first.Term
		if t == nil || t.Type != gojq.TermTypeFunc || t.Func.Name != "select" || len(t.Func.Args) != 1 || len(t.SuffixList) > 0 {
			break
		}
		groups = append(groups, demands(t.Func.Args[0])...)
		q = rest
	}
	return groups
}

// demands are groups of literals: where a condition holds, one of each group is a string of the line.
func demands(q *gojq.Query) [][]string {
	if len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return nil
	}
	if t := q.Term; t != nil {
		if t.Type == gojq.TermTypeQuery && len(t.SuffixList) == 0 {
			return demands(t.Query)
		}
		return nil
	}
	switch q.Op {
	case gojq.OpAnd:
		return append(demands(q.Left), demands(q.Right)...)
	case gojq.OpOr:
		a, b := demands(q.Left), demands(q.Right)
		if len(a) > 0 && len(b) > 0 {
			return [][]string{append(slices.Clone(a[0]), b[0]...)}
		}
	case gojq.OpEq:
		for _, side := range [][2]*gojq.Query{{q.Left, q.Right}, {q.Right, q.Left}} {
			if s, ok := literal(side[1]); ok && isMember(side[0]) {
				return [][]string{{s}}
			}
		}
	case gojq.OpPipe:
		if f := q.Right.Term; f != nil && f.Type == gojq.TermTypeFunc && f.Func.Name == "IN" && len(f.Func.Args) == 1 && len(f.SuffixList) == 0 && isMember(q.Left) {
			if words, ok := literals(f.Func.Args[0]); ok {
				return [][]string{words}
			}
		}
	}
	return nil
}

// isMember reports whether a query is `.a.b`: a member of the line itself.
func isMember(q *gojq.Query) bool {
	t := q.Term
	if t == nil || len(q.FuncDefs) > 0 || t.Type != gojq.TermTypeIndex || t.Index.Name == "" {
		return false
	}
	return !slices.ContainsFunc(t.SuffixList, func(s *gojq.Suffix) bool { return s.Iter || s.Index != nil && s.Index.Name == "" })
}

func literal(q *gojq.Query) (string, bool) {
	t := q.Term
	if t == nil || t.Type != gojq.TermTypeString || len(t.Str.Queries) > 0 || len(t.SuffixList) > 0 || t.Str.Str == "" {
		return "", false
	}
	return t.Str.Str, true
}

// literals are the strings of `"a", "b"`.
func literals(q *gojq.Query) ([]string, bool) {
	if s, ok := literal(q); ok {
		return []string{s}, true
	}
	if q.Term != nil || q.Op != gojq.OpComma || len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return nil, false
	}
	a, okA := literals(q.Left)
	b, okB := literals(q.Right)
	return append(a, b...), okA && okB
}
