package specs

import (
	"slices"

	"github.com/itchyny/gojq"
)

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
