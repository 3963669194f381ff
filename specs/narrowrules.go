package specs

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/itchyny/gojq"
)

// maxRuleLiterals bounds how many words are looked for in each line for the rules: to look for many of them would cost
// more than it saves.
const maxRuleLiterals = 30

// literals are the groups of words without which a line of a stream does not matter: those that extract tells, and, where
// they tell any, those of the rules.
func (s *Source) literals() [][]string {
	es, _ := s.expressions()
	if !takesLinesAlone(s.extract.tree) && !isLines(s.extract.tree) || slices.ContainsFunc(es, func(e *expression) bool { return e.uses("doc") }) {
		return nil
	}
	var groups [][]string
	if takesLinesAlone(s.extract.tree) {
		groups = leading(s.extract.tree.Right)
	}
	if group := s.ruleLiterals(); group != nil {
		groups = append(groups, group)
	}
	return groups
}

// ruleLiterals is a group of words without which none of the rules can hold on a line; nil: there is none.
//
// It says nothing where a line does more than that: where a rule remembers the lines before, where the spec makes a
// cursor, or where something counts the items or looks at the last one. The cursor that is saved of itself is then that
// of the last line that mattered, and nobody reads it.
func (s *Source) ruleLiterals() []string {
	if len(s.rules) == 0 || s.extract.quick == nil || s.cursor != nil || s.looksBack() {
		return nil
	}
	var group []string
	for _, rl := range s.rules {
		if rl.when == nil || rl.stateful() || rl.given != nil {
			return nil
		}
		tree, err := parser.Parse(rl.when.code)
		if err != nil {
			return nil
		}
		groups := s.ruleDemands(tree.Node)
		if len(groups) == 0 {
			return nil
		}
		group = append(group, slices.MinFunc(groups, func(a, b []string) int { return len(a) - len(b) })...)
	}
	slices.Sort(group)
	if group = slices.Compact(group); len(group) > maxRuleLiterals {
		return nil
	}
	return group
}

// looksBack reports whether anything names more than the line itself: the items of a poll, their number, what was
// saved of earlier ones, the document.
func (s *Source) looksBack() bool {
	names := []string{"doc", "items", "count", "cursor"}
	es, ts := s.expressions()
	for _, st := range s.steps {
		if st.when != nil || slices.ContainsFunc(st.options, func(o option) bool { return o.polled }) {
			return true
		}
	}
	return slices.ContainsFunc(es, func(e *expression) bool { return e.uses(names...) }) ||
		slices.ContainsFunc(ts, func(t *template) bool { return t.uses(names...) })
}

// ruleDemands are groups of literals: where a condition holds, one of each group is a part of a string of the line.
func (s *Source) ruleDemands(n ast.Node) [][]string {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	switch b.Operator {
	case "&&", "and":
		return append(s.ruleDemands(b.Left), s.ruleDemands(b.Right)...)
	case "||", "or":
		left, right := s.ruleDemands(b.Left), s.ruleDemands(b.Right)
		if len(left) > 0 && len(right) > 0 {
			return [][]string{append(slices.Clone(left[0]), right[0]...)}
		}
	case "==":
		for _, side := range [2][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
			if words := stringsOf(side[1]); words != nil && s.isOfLine(side[0]) {
				return [][]string{words}
			}
		}
	case "contains", "startsWith", "endsWith":
		if words := stringsOf(b.Right); words != nil && s.isOfLine(b.Left) {
			return [][]string{words}
		}
	case "in":
		list, isList := b.Right.(*ast.ArrayNode)
		if !isList || len(list.Nodes) == 0 || !s.isOfLine(b.Left) {
			return nil
		}
		var words []string
		for _, e := range list.Nodes {
			w := stringsOf(e)
			if w == nil {
				return nil
			}
			words = append(words, w...)
		}
		return [][]string{words}
	}
	return nil
}

func stringsOf(n ast.Node) []string {
	if s, ok := n.(*ast.StringNode); ok && s.Value != "" {
		return []string{s.Value}
	}
	return nil
}

// isOfLine reports whether a node names a value that is in the line as it stands: not one that extract made, and not
// a time, which has more than one spelling.
func (s *Source) isOfLine(n ast.Node) bool {
	var path []string
	for {
		m, isMember := n.(*ast.MemberNode)
		if !isMember {
			break
		}
		name, isName := m.Property.(*ast.StringNode)
		if !isName || m.Optional || m.Method {
			return false
		}
		path, n = append([]string{name.Value}, path...), m.Node
	}
	if id, ok := n.(*ast.IdentifierNode); !ok || id.Value != "item" {
		return false
	}
	made := madeOf(s.extract.tree)
	if made != nil && (len(path) == 0 || made[path[0]] == nil) {
		return false
	}
	t := s.item
	if t.kind() == typeNames && len(path) > 0 {
		t = t.fields[path[0]]
	}
	return t.kind() != typeTime && t.kind() != typeDuration
}

// madeOf are the members of the object that a plain program makes; nil where it gives a part of the line itself.
func madeOf(q *gojq.Query) map[string][]string {
	for q.Term == nil && q.Op == gojq.OpPipe {
		q = q.Right
	}
	made, _ := members(q)
	return made
}
