package specs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// compared warns where a value of a list of words is compared with another word: that never holds.
func (c *checker) compared(n *ast.BinaryNode, left, right *shape) {
	check := func(s *shape, n ast.Node) {
		str, ok := n.(*ast.StringNode)
		if ok && s.typ != nil && slices.Contains(wordless, s.typ.name) {
			c.mistakes = append(c.mistakes, mistake{
				at: str.Location().From, width: len([]rune(str.Value)) + 2, code: "never-holds", warn: true,
				message: fmt.Sprintf("`%s` is a %s, never a string", s.what, s.typ.name), hint: "compare it with a value of its type",
			})
			return
		}
		if !ok || s.typ == nil || s.typ.name != typeWords || c.scope.text && str.Value == "other" || slices.Contains(s.typ.words, str.Value) {
			return
		}
		c.mistakes = append(c.mistakes, mistake{
			at: str.Location().From, width: len([]rune(str.Value)) + 2, code: "never-holds", warn: true,
			message: fmt.Sprintf("`%s` is one of %s, never %q", s.what, strings.Join(s.typ.words, ", "), str.Value),
			hint:    hintNearest(str.Value, s.typ.words),
		})
	}
	switch n.Operator {
	case "==", "!=":
		before := len(c.mistakes)
		check(left, n.Right)
		check(right, n.Left)
		if a, b := left.kind(), right.kind(); a != "" && b != "" && !comparable(a, b) && len(c.mistakes) == before {
			c.mistakes = append(c.mistakes, mistake{
				at: n.Location().From, width: 2, code: "never-holds", warn: true, message: left.subject() + ", never " + right.called(), hint: "compare it with a value of its type",
			})
		}
	case "in", "not in":
		if list, ok := n.Right.(*ast.ArrayNode); ok {
			for _, e := range list.Nodes {
				check(left, e)
			}
		}
	}
}

// excluded warns of two conditions of one run that exclude each other, joined by `and`.
func (c *checker) excluded(n *ast.BinaryNode) {
	var found []*ast.IdentifierNode
	var collect func(n ast.Node)
	collect = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BinaryNode:
			if n.Operator == "&&" || n.Operator == "and" {
				collect(n.Left)
				collect(n.Right)
			}
		case *ast.IdentifierNode:
			if slices.Contains(exclusive, n.Value) {
				found = append(found, n)
			}
		}
	}
	collect(n)
	for _, id := range found {
		if first := found[0]; id.Value != first.Value {
			m := mistake{at: id.Location().From, width: len(id.Value), code: "never-holds", warn: true, message: fmt.Sprintf("`%s` and `%s` never hold together", first.Value, id.Value), hint: "join them by `||`, or leave one out"}
			if !slices.Contains(c.mistakes, m) {
				c.mistakes = append(c.mistakes, m)
			}
		}
	}
}

// wordless are the types whose values are no strings.
var wordless = []typeName{typeCount, typeBool, typeSize}

// exclusive are conditions of which at most one holds.
var exclusive = []string{"appeared", "changed", "gone", "first"}
