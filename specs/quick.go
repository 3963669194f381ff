package specs

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

// quick is a condition as plain functions: most conditions only compare members with words and numbers, and a stream
// runs them on every line. known is false where it cannot tell, such as for every error: then the library's machine
// runs the whole expression, and its answer counts. Where it is known it is the same as that of the machine.
type quick func(env map[string]any) (holds, known bool)

// quickValue is a part of a condition; known is false where it cannot tell.
type quickValue func(env map[string]any) (v any, known bool)

// quickly is the condition of an expression as it was written; nil where it is none of the plain ones.
func quickly(n ast.Node) quick {
	switch n := n.(type) {
	case *ast.BinaryNode:
		return quickBinary(n)
	case *ast.UnaryNode:
		if n.Operator != "!" && n.Operator != "not" {
			return nil
		}
		of := quickly(n.Node)
		if of == nil {
			return nil
		}
		return func(env map[string]any) (bool, bool) {
			holds, known := of(env)
			return !holds, known
		}
	case *ast.BoolNode, *ast.IdentifierNode, *ast.MemberNode:
		of := quickOperand(n)
		if of == nil {
			return nil
		}
		return func(env map[string]any) (bool, bool) {
			v, known := of(env)
			b, isBool := v.(bool)
			return b, known && (isBool || v == nil) // nothing is false
		}
	}
	return nil
}

func quickBinary(n *ast.BinaryNode) quick {
	switch n.Operator {
	case "&&", "and", "||", "or":
		a, b := quickly(n.Left), quickly(n.Right)
		if a == nil || b == nil {
			return nil
		}
		decided := n.Operator == "||" || n.Operator == "or"
		return func(env map[string]any) (bool, bool) {
			holds, known := a(env)
			if !known || holds == decided {
				return holds, known
			}
			return b(env)
		}
	}
	a, b := quickOperand(n.Left), quickOperand(n.Right)
	if a == nil || b == nil {
		return nil
	}
	compare := quickComparison(n.Operator)
	if _, isList := n.Right.(*ast.ArrayNode); compare == nil || n.Operator == "in" && !isList { // a long list spends more than a word is worth
		return nil
	}
	return func(env map[string]any) (bool, bool) {
		x, known := a(env)
		if !known {
			return false, false
		}
		y, known := b(env)
		if !known {
			return false, false
		}
		return compare(env, x, y)
	}
}

// quickComparison are the operators, each by the function that the machine calls for it.
func quickComparison(operator string) func(env map[string]any, a, b any) (holds, known bool) {
	order := func(wanted func(c int) bool) func(map[string]any, any, any) (bool, bool) {
		return func(_ map[string]any, a, b any) (bool, bool) {
			v, err := ordered("", a, b, wanted)
			return v == true, err == nil
		}
	}
	switch operator {
	case "==":
		return func(_ map[string]any, a, b any) (bool, bool) { return quickEqual(a, b), true }
	case "!=":
		return func(_ map[string]any, a, b any) (bool, bool) { return !quickEqual(a, b), true }
	case "<":
		return order(func(c int) bool { return c < 0 })
	case "<=":
		return order(func(c int) bool { return c <= 0 })
	case ">":
		return order(func(c int) bool { return c > 0 })
	case ">=":
		return order(func(c int) bool { return c >= 0 })
	case "contains":
		return quickText(strings.Contains)
	case "startsWith":
		return quickText(strings.HasPrefix)
	case "endsWith":
		return quickText(strings.HasSuffix)
	case "in":
		return func(env map[string]any, v, where any) (bool, bool) {
			b := env[budgetName].(*budget)
			b.one = maxSteps
			holds, err := in(b, v, where)
			return holds == true, err == nil
		}
	}
	return nil
}

// quickText is an operator on two strings.
func quickText(holds func(s, t string) bool) func(env map[string]any, a, b any) (bool, bool) {
	return func(_ map[string]any, a, b any) (bool, bool) {
		s, first := a.(string)
		t, second := b.(string)
		return first && second && holds(s, t), first && second
	}
}

// quickEqual is equal, with a short way for two words.
func quickEqual(a, b any) bool {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			return s == t
		}
	}
	return equal(a, b)
}

// quickOperand is a constant, a name, or a member of a map; nil where it is something else.
func quickOperand(n ast.Node) quickValue {
	constant := func(v any) quickValue { return func(map[string]any) (any, bool) { return v, true } }
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(nil)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.IntegerNode:
		return constant(n.Value)
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.ArrayNode:
		return quickWords(n)
	case *ast.IdentifierNode:
		name := n.Value
		return func(env map[string]any) (any, bool) {
			v, there := env[name]
			return v, there
		}
	case *ast.MemberNode:
		of, name, ok := quickMember(n)
		if !ok {
			return nil
		}
		return func(env map[string]any) (any, bool) {
			v, known := of(env)
			m, isMap := v.(map[string]any)
			return m[name], known && isMap
		}
	}
	return nil
}

func quickMember(n *ast.MemberNode) (of quickValue, name string, ok bool) {
	property, isName := n.Property.(*ast.StringNode)
	if !isName || n.Optional || n.Method {
		return nil, "", false
	}
	switch n.Node.(type) {
	case *ast.IdentifierNode, *ast.MemberNode:
		of = quickOperand(n.Node)
	}
	return of, property.Value, of != nil
}

// quickWords is a list of constants.
func quickWords(n *ast.ArrayNode) quickValue {
	list := make([]any, len(n.Nodes))
	for i, e := range n.Nodes {
		switch e := e.(type) {
		case *ast.StringNode:
			list[i] = e.Value
		case *ast.IntegerNode:
			list[i] = e.Value
		case *ast.BoolNode:
			list[i] = e.Value
		default:
			return nil
		}
	}
	return func(map[string]any) (any, bool) { return list, true }
}
