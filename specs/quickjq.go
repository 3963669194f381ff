package specs

import (
	"context"

	"github.com/itchyny/gojq"
)

// quickExtract is a program of the form `.lines[] | select(…) | {a, b: .c.d}` as plain functions, or one on a part of the
// document, such as `.body | {a, b}`: the library makes some things on the heap for every step of every line, and has a
// watch kept over it. It stands for nothing else: where a value is not as the program wants it, the library runs the
// whole program, and its answer or its error counts.
type quickExtract struct {
	path    []string // of what it works on
	each    bool     // on each element of that list
	selects []quickTest
	make    quickPart // nil: the line itself
}

// quickPart is what a part of a program makes of a line; ok is false where it cannot tell.
type quickPart func(line any) (v any, ok bool)

// quickTest is the condition of a select.
type quickTest func(line any) (holds, ok bool)

// quickJQ is the program q in this form; nil where it is not one of these.
func quickJQ(q *gojq.Query) *quickExtract {
	if len(q.Imports) > 0 || len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return nil
	}
	out := &quickExtract{}
	rest := out.begin(q)
	for rest != nil {
		cond, next := selecting(rest)
		if cond == nil {
			break
		}
		test := quickCondition(cond)
		if test == nil {
			return nil
		}
		out.selects, rest = append(out.selects, test), next
	}
	if rest == nil {
		return out
	}
	if path, ok := memberPath(rest); ok {
		out.make = func(line any) (any, bool) { return along(line, path) }
		return out
	}
	if out.make = quickObject(rest); out.make == nil {
		return nil
	}
	return out
}

// begin takes the path off the beginning of a program, and returns the rest.
func (x *quickExtract) begin(q *gojq.Query) (rest *gojq.Query) {
	first := q
	if q.Term == nil && q.Op == gojq.OpPipe {
		first, rest = q.Left, q.Right
	}
	if t := first.Term; t != nil && len(t.SuffixList) > 0 && *t.SuffixList[len(t.SuffixList)-1] == (gojq.Suffix{Iter: true}) {
		list := *t
		list.SuffixList = t.SuffixList[:len(t.SuffixList)-1]
		if path, ok := memberPath(&gojq.Query{Term: &list, FuncDefs: first.FuncDefs}); ok {
			x.path, x.each = path, true
			return rest
		}
	}
	if path, ok := memberPath(first); ok && rest != nil {
		x.path = path
		return rest
	}
	return q
}

// run makes the items of a document; ok is false where the library has to.
func (x *quickExtract) run(ctx context.Context, doc any, most int) (items []any, ok bool) {
	of, ok := along(doc, x.path)
	if !ok {
		return nil, false
	}
	lines := []any{of}
	if x.each {
		if lines, ok = of.([]any); !ok || len(lines) > most {
			return nil, false
		}
	}
	if len(x.selects) == 0 {
		items = make([]any, 0, len(lines))
	}
	for i, line := range lines {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, false
		}
		keep := true
		for _, test := range x.selects {
			holds, ok := test(line)
			if !ok {
				return nil, false
			}
			if keep = holds; !keep {
				break
			}
		}
		if !keep {
			continue
		}
		v := line
		if x.make != nil {
			if v, ok = x.make(line); !ok {
				return nil, false
			}
		}
		items = append(items, v)
	}
	return items, true
}

// selecting is the condition of a select at the start of a program, and the program behind it; nil where there is none.
func selecting(q *gojq.Query) (cond, rest *gojq.Query) {
	if len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return nil, nil
	}
	first := q
	if q.Term == nil && q.Op == gojq.OpPipe {
		first, rest = q.Left, q.Right
	}
	t := first.Term
	if len(first.FuncDefs) > 0 || t == nil || t.Type != gojq.TermTypeFunc || t.Func.Name != "select" || len(t.Func.Args) != 1 || len(t.SuffixList) > 0 {
		return nil, nil
	}
	return t.Func.Args[0], rest
}

// memberPath is the path of `.a.b`: names alone, without a `?`.
func memberPath(q *gojq.Query) ([]string, bool) {
	if !isMember(q) {
		return nil, false
	}
	path := []string{q.Term.Index.Name}
	for _, s := range q.Term.SuffixList {
		if s.Index == nil || s.Optional {
			return nil, false
		}
		path = append(path, s.Index.Name)
	}
	return path, true
}

// along follows a path; what is no object cannot be looked into.
func along(v any, path []string) (any, bool) {
	for _, name := range path {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case nil:
		default:
			return nil, false
		}
	}
	return v, true
}

// members are the names and paths of `{a, b: .c.d}`; ok is false where something else is in it.
func members(q *gojq.Query) (paths map[string][]string, ok bool) {
	t := q.Term
	if t == nil || len(q.FuncDefs) > 0 || t.Type != gojq.TermTypeObject || len(t.SuffixList) > 0 {
		return nil, false
	}
	paths = map[string][]string{}
	for _, kv := range t.Object.KeyVals {
		name := kv.Key
		if kv.KeyString != nil && len(kv.KeyString.Queries) == 0 {
			name = kv.KeyString.Str
		}
		if name == "" || name[0] == '$' || kv.KeyQuery != nil || paths[name] != nil {
			return nil, false
		}
		path := []string{name}
		if kv.Val != nil {
			if path, ok = memberPath(kv.Val); !ok {
				return nil, false
			}
		}
		paths[name] = path
	}
	return paths, true
}

func quickObject(q *gojq.Query) quickPart {
	paths, ok := members(q)
	if !ok {
		return nil
	}
	flat := true
	for name, path := range paths {
		flat = flat && len(path) == 1 && path[0] == name
	}
	return func(line any) (any, bool) {
		if m, ok := line.(map[string]any); ok && flat && isWhole(m, paths) {
			return m, true // nothing is left of such a line but what the program asks for
		}
		out := make(map[string]any, len(paths))
		for name, path := range paths {
			v, ok := along(line, path)
			if !ok {
				return nil, false
			}
			out[name] = v
		}
		return out, true
	}
}

// isWhole reports whether m has these names and no others.
func isWhole(m map[string]any, names map[string][]string) bool {
	if len(m) != len(names) {
		return false
	}
	for name := range names {
		if _, there := m[name]; !there {
			return false
		}
	}
	return true
}

// quickCondition is a condition on members and words.
func quickCondition(q *gojq.Query) quickTest {
	if len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return nil
	}
	if t := q.Term; t != nil {
		if t.Type == gojq.TermTypeQuery && len(t.SuffixList) == 0 {
			return quickCondition(t.Query)
		}
		path, ok := memberPath(q)
		if !ok {
			return nil
		}
		return func(line any) (bool, bool) {
			v, ok := along(line, path)
			return v != nil && v != false, ok
		}
	}
	switch q.Op {
	case gojq.OpAnd, gojq.OpOr:
		a, b := quickCondition(q.Left), quickCondition(q.Right)
		if a == nil || b == nil {
			return nil
		}
		decided := q.Op == gojq.OpOr
		return func(line any) (bool, bool) {
			holds, ok := a(line)
			if !ok || holds == decided {
				return holds, ok
			}
			return b(line)
		}
	case gojq.OpEq, gojq.OpNe:
		return quickWord(q)
	}
	return nil
}

// quickWord compares a member with a word.
func quickWord(q *gojq.Query) quickTest {
	for _, side := range [2][2]*gojq.Query{{q.Left, q.Right}, {q.Right, q.Left}} {
		path, isPath := memberPath(side[0])
		word, isWord := literal(side[1])
		if !isPath || !isWord || len(side[1].FuncDefs) > 0 {
			continue
		}
		wanted := q.Op == gojq.OpEq
		return func(line any) (bool, bool) {
			v, ok := along(line, path)
			s, isText := v.(string)
			return (isText && s == word) == wanted, ok
		}
	}
	return nil
}
