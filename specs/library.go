package specs

import (
	"reflect"
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

// library is expr-lang for the expressions of one spec. Its own Compile builds the tables of all functions for each
// expression anew, which is most of what a lint would cost; here they are built once, and what belongs to a scope once
// for each set of names. It is not for several goroutines.
type library struct {
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
func (l *library) of(names map[string]*shape) *conf.Config {
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

// program makes a program of a tree, which is changed. First the tree is checked as it stands, for the type faults that
// the library knows; then with our own numbers, which know more of times and durations than the library does.
func (l *library) program(tree *parser.Tree, known *conf.Config, mode exprMode, p *patcher) (*vm.Program, error) {
	plain := *known
	plain.Functions = nil
	if mode.bool {
		plain.Expect, plain.ExpectAny = reflect.Bool, true
	}
	if _, err := exprcheck.Check(tree, &plain); err != nil && !(strings.Contains(err.Error(), "mismatched types") && strings.Contains(err.Error(), "time.")) {
		return nil, err
	}
	ast.Walk(&tree.Node, p)
	if _, err := exprcheck.Check(tree, known); err != nil {
		return nil, err
	}
	return exprcompile.Compile(tree, known)
}
