package specs

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// absentIn are the names that stand for nothing where a word of a rule holds.
var absentIn = map[string]string{"gone": "item", "appeared": "cursor", "first": "cursor"}

// ruleDoubts warns of a rule that can never hold, and of one that speaks of what is not there.
func (c *compiler) ruleDoubts(rs ruleSpec, r *rule) {
	if r.when == nil {
		return
	}
	if len(r.when.used) == 0 {
		if holds, err := r.when.holds(map[string]any{budgetName: &budget{poll: maxSteps}}); err == nil && !holds {
			c.warn(rs.when.n, "never-holds", "this never holds", "name something that can change")
		}
		return
	}
	words := conditions(r.when.tree)
	for _, word := range words {
		if name := absentIn[word]; name != "" && c.neverHolds(rs, r, word, name) {
			return // what it says does not matter
		}
	}
	if n := member(rs.at, "for"); n != nil && (r.hold.polls > 1 || r.hold.time > 0) {
		for _, word := range words {
			if word == "first" || word == "appeared" {
				c.warn(n, "never-holds", fmt.Sprintf("`%s` holds in one poll, never in two in a row", word), "leave out `for`, or name what lasts")
				return
			}
		}
	}
	for _, word := range words {
		name := absentIn[word]
		if name == "" {
			continue
		}
		other := map[string]string{"item": "cursor", "cursor": "item"}[name]
		for _, t := range []*template{r.says.text, c.own(rs, r)} {
			if t == nil {
				continue
			}
			for _, p := range t.pieces {
				if p.e.uses(name) && !strings.Contains(p.e.code, "?") {
					c.inside(t.at.n, p.e.from, len([]rune(p.e.code)), Warning, "absent", fmt.Sprintf("where `%s` holds there is no `%s`: this says `none`", word, name),
						"say what was saved or what came: `"+other+"`")
				}
			}
		}
	}
}

// own is the url of the rule itself; that of the whole spec speaks for all rules.
func (c *compiler) own(rs ruleSpec, r *rule) *template {
	if rs.url.set() {
		return r.says.url
	}
	return nil
}

// neverHolds warns of a part of a condition that needs what is not there where another part, word, holds.
func (c *compiler) neverHolds(rs ruleSpec, r *rule, word, name string) bool {
	for _, n := range joined(r.when.tree) {
		if !needs(n, name) {
			continue
		}
		from, width := extent(n)
		c.inside(rs.when.n, r.when.byteAt(from), width, Warning, "never-holds", fmt.Sprintf("where `%s` holds there is no `%s`: this never holds", word, name), "leave out one of the two")
		return true
	}
	return false
}

// joined are the parts of a condition that must all hold.
func joined(n ast.Node) []ast.Node {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "&&" || b.Operator == "and") {
		return append(joined(b.Left), joined(b.Right)...)
	}
	return []ast.Node{n}
}

// needs reports whether a condition cannot hold while name stands for nothing: a member of nothing is a fault, and one
// in a condition that only an absent value causes makes it not hold.
func needs(n ast.Node, name string) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value == name
	case *ast.UnaryNode:
		return looksInto(n.Node, name)
	case *ast.BinaryNode:
		switch n.Operator {
		case "||", "or":
			return needs(n.Left, name) && needs(n.Right, name)
		case "&&", "and":
			return needs(n.Left, name) || needs(n.Right, name)
		case "??":
			return false
		case "!=":
			if names(n.Left, name) && isNil(n.Right) || isNil(n.Left) && names(n.Right, name) {
				return true
			}
		case "==":
			if names(n.Left, name) && isValue(n.Right) || isValue(n.Left) && names(n.Right, name) {
				return true
			}
		case "<", "<=", ">", ">=":
			if names(n.Left, name) || names(n.Right, name) {
				return true
			}
		}
		return looksInto(n.Left, name) || looksInto(n.Right, name)
	case *ast.MemberNode:
		return looksInto(n, name)
	}
	return false
}

// looksInto reports whether evaluating n asks for a member of name, come what may.
func looksInto(n ast.Node, name string) bool {
	switch n := n.(type) {
	case *ast.MemberNode:
		return !n.Optional && names(n.Node, name) || looksInto(n.Node, name)
	case *ast.UnaryNode:
		return looksInto(n.Node, name)
	case *ast.BinaryNode:
		switch n.Operator {
		case "||", "or", "&&", "and", "??":
			return looksInto(n.Left, name)
		}
		return looksInto(n.Left, name) || looksInto(n.Right, name)
	}
	return false
}

func names(n ast.Node, name string) bool {
	id, ok := n.(*ast.IdentifierNode)
	return ok && id.Value == name
}

func isNil(n ast.Node) bool { _, ok := n.(*ast.NilNode); return ok }

// isValue reports whether n is a literal that is something.
func isValue(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return true
	}
	return false
}

// conditions are the names that must hold where an expression does: itself, or parts of it that are joined by `and`.
func conditions(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}
	case *ast.BinaryNode:
		if n.Operator == "&&" || n.Operator == "and" {
			return append(conditions(n.Left), conditions(n.Right)...)
		}
	}
	return nil
}
