package specs

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	exprcheck "github.com/expr-lang/expr/checker"
	exprcompile "github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// exprTables is expr-lang for the expressions of one spec. Its own Compile builds the tables of all functions for each
// expression anew, which is most of what a lint would cost; here they are built once, and what belongs to a scope once
// for each set of names. It is not for several goroutines.
type exprTables struct {
	known []*conf.Config
}

// base holds what no expression changes.
var base = sync.OnceValue(func() *conf.Config {
	c := conf.CreateNew()
	for _, own := range functions() {
		own(c)
	}
	c.Optimize = false
	return c
})

// of is the library for expressions that see names.
func (l *exprTables) of(names map[string]*shape) *conf.Config {
	for _, c := range l.known {
		if env := c.EnvObject.(types.Map); len(env) == len(names)+2 && hasAll(env, names) {
			return c
		}
	}
	env := types.Map{budgetName: types.Any, secretsName: types.Any}
	for name := range names {
		env[name] = types.Any
	}
	c := *base()
	c.WithEnv(env)
	l.known = append(l.known, &c)
	return &c
}

func hasAll(env types.Map, names map[string]*shape) bool {
	for name := range names {
		if _, ok := env[name]; !ok {
			return false
		}
	}
	return true
}

// check finds the type faults that the library knows of a tree as it stands. sure says that with our own numbers it will
// find no others. Of times and durations they know more than the library does.
func (l *exprTables) check(tree *parser.Tree, known *conf.Config, mode exprMode) (sure bool, err error) {
	plain := *known
	plain.Functions = nil
	if mode.bool {
		plain.Expect, plain.ExpectAny = reflect.Bool, true
	}
	if _, err = exprcheck.Check(tree, &plain); err != nil && strings.Contains(err.Error(), "mismatched types") && strings.Contains(err.Error(), "time.") {
		return false, nil
	}
	return err == nil && seenWhole(tree.Node), err
}

// seenWhole reports whether a tree is made only of what the library's check looks at in all its parts: it passes over
// the ends of a slice of an unknown value, until our own function stands there.
func seenWhole(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.NilNode, *ast.IdentifierNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return true
	case *ast.UnaryNode:
		return seenWhole(n.Node)
	case *ast.BinaryNode:
		return seenWhole(n.Left) && seenWhole(n.Right)
	case *ast.MemberNode:
		return seenWhole(n.Node) && seenWhole(n.Property)
	case *ast.ChainNode:
		return seenWhole(n.Node)
	case *ast.SliceNode:
		return seenWhole(n.Node) && isEnd(n.From) && isEnd(n.To)
	case *ast.ConditionalNode:
		return seenWhole(n.Cond) && seenWhole(n.Exp1) && seenWhole(n.Exp2)
	case *ast.ArrayNode:
		return !slices.ContainsFunc(n.Nodes, func(e ast.Node) bool { return !seenWhole(e) })
	}
	return false
}

// isEnd reports whether n is a plain end of a slice.
func isEnd(n ast.Node) bool {
	_, number := n.(*ast.IntegerNode)
	return n == nil || number
}

// program makes a program of a tree that was checked, and changes it: now our own numbers count.
func (l *exprTables) program(tree *parser.Tree, known *conf.Config, p *patcher) (*vm.Program, error) {
	ast.Walk(&tree.Node, p)
	if _, err := exprcheck.Check(tree, known); err != nil {
		return nil, err
	}
	return exprcompile.Compile(tree, known)
}
