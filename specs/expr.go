package specs

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

const (
	// maxSteps bounds the loops of one expression, maxPollSteps those of one poll: about 0.2 s and 2 s.
	maxSteps     = 1_000_000
	maxPollSteps = 10_000_000
	// maxCells bounds the lists that one expression makes.
	maxCells = 2_000_000
	// maxExpr bounds the text of an expression, maxExprs how many a spec may have.
	maxExpr  = 10_000
	maxExprs = 3_000
)

// budget is what is left of the steps of one expression and of one poll. An expression has no clock: the same poll
// ends the same way on a slow machine.
type budget struct{ one, poll int }

// errBudget is what an expression comes to that does not end.
var errBudget = errors.New("it does not end: more than a million steps")

func (b *budget) spend(n int) error {
	b.one -= n
	b.poll -= n
	if b.one < 0 || b.poll < 0 {
		return errBudget
	}
	return nil
}

// budgetName is where the environment holds the budget. No spec can name it: names that begin so are refused.
const budgetName = "__budget"

// expression is one compiled expression. It may be run by several goroutines at once.
type expression struct {
	src     *source
	at      text // the scalar it stands in
	from    int  // byte of the scalar where it begins
	code    string
	program *vm.Program
	later   func() error // makes the program, where only the faults were asked for; nil: it is made
	tree    ast.Node     // of a condition, as it was written
	quick   quick        // the condition, where it is a plain one
	plain   quickValue   // another expression, where it is a name or a member of one
	shape   *shape
	used    map[string]bool
	members map[string]bool
	paths   map[string]bool
	env     []string
	secrets []string
}

// uses reports whether the expression names one of names.
func (e *expression) uses(names ...string) bool {
	return e != nil && slices.ContainsFunc(names, func(n string) bool { return e.used[n] })
}

// exprMode is how an expression is compiled.
type exprMode struct {
	bool    bool // it must give a boolean
	lenient bool // a member of nothing is nothing, as a text needs it
}

// compile makes an expression of the bytes from..to of a scalar; nil where it has faults, which are noted.
func (r *reader) compile(t text, from, to int, sc scope, mode exprMode) *expression {
	code := t.s[from:to]
	e := &expression{src: r.src, at: t, from: from, code: code}
	if len(code) > maxExpr {
		r.inside(t.n, from, 1, Error, "expr", fmt.Sprintf("an expression has at most %d bytes", maxExpr), "")
		return nil
	}
	if r.compiled++; r.compiled > maxExprs {
		if r.compiled == maxExprs+1 {
			r.inside(t.n, from, 1, Error, "size", fmt.Sprintf("a spec has at most %d expressions", maxExprs), "")
		}
		return nil
	}
	known := r.exprTables.of(sc.names)
	tree, err := parser.ParseWithConfig(code, known)
	if err != nil {
		e.report(r, err)
		return nil
	}
	c := newChecker(sc)
	e.shape = c.walk(tree.Node)
	if mode.bool && len(c.mistakes) == 0 {
		c.condition(tree.Node, e.shape)
	}
	e.used, e.members, e.paths, e.env, e.secrets = c.used, c.members, c.paths, c.env, c.secrets
	bad := false
	for _, m := range c.mistakes {
		severity := Error
		if m.warn {
			severity = Warning
		}
		bad = bad || !m.warn
		r.inside(t.n, e.byteAt(m.at), m.width, severity, m.code, m.message, m.hint)
	}
	if bad {
		return nil
	}
	switch tree.Node.(type) {
	case *ast.IdentifierNode, *ast.MemberNode:
		e.plain = quickOperand(tree.Node)
	}
	if mode.bool {
		e.tree, e.quick, e.plain = tree.Node, quickly(tree.Node), nil
	}
	sure, err := r.exprTables.check(tree, known, mode)
	if err != nil {
		e.report(r, err)
		return nil
	}
	made := func(of *parser.Tree) (err error) {
		e.program, err = r.exprTables.program(of, known, &patcher{lenient: mode.lenient, secret: sc.names["secret"] != nil})
		return err
	}
	anew := func() error { // from a tree of its own
		own, err := parser.ParseWithConfig(code, known)
		if err == nil {
			_, err = r.exprTables.check(own, known, mode)
		}
		if err == nil {
			err = made(own)
		}
		return err
	}
	switch {
	case r.faultsOnly && sure: // all has been said that can be
		e.later = anew
	case mode.bool: // whose tree is kept as it was written
		err = anew()
	default:
		err = made(tree)
	}
	if err != nil {
		e.report(r, err)
		return nil
	}
	if !r.faultsOnly {
		r.expressions = append(r.expressions, e)
	}
	return e
}

// byteAt is the byte of the scalar where character n of the expression stands.
func (e *expression) byteAt(n int) int {
	at := e.from
	for rest := e.code; n > 0 && rest != ""; n-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest, at = rest[size:], at+size
	}
	return at
}

// report notes a fault that the library found, in its own words.
func (e *expression) report(r *reader, err error) {
	var fe *file.Error
	if !errors.As(err, &fe) {
		r.inside(e.at.n, e.from, 1, Error, "expr", strings.SplitN(err.Error(), "\n", 2)[0], "")
		return
	}
	message, code := strings.SplitN(fe.Message, "\n", 2)[0], "expr"
	if strings.HasPrefix(message, notBool) {
		code = "value-type"
	}
	r.inside(e.at.n, e.byteAt(fe.From), max(fe.To-fe.From, 1), Error, code, message, exprHint(message, e.code))
}

// notBool begins what the library says of a condition that it knows to be no boolean.
const notBool = "expected bool, but got"

// EvalError is an expression or a jq program that failed while it ran. Its text names the place and the kinds of the
// values, never a value: they come from the polled system.
type EvalError struct {
	Place  string // file:line:column
	Reason string
	// Endless says that a bound was hit: no missing value excuses that.
	Endless bool
}

func (e *EvalError) Error() string { return e.Place + ": " + e.Reason }

// run evaluates the expression in env, which must hold a budget.
func (e *expression) run(env map[string]any) (any, error) {
	if e.plain != nil {
		if v, known := e.plain(env); known {
			return v, nil
		}
	}
	b := env[budgetName].(*budget)
	b.one = maxSteps
	if e.program == nil {
		if err := e.later(); err != nil {
			return nil, err
		}
	}
	machine := vm.VM{MemoryBudget: maxCells}
	v, err := machine.Run(e.program, env)
	if err == nil {
		return v, nil
	}
	ee := &EvalError{Reason: "cannot be evaluated", Endless: errors.Is(err, errBudget)}
	at := e.from
	var fe *file.Error
	if errors.As(err, &fe) {
		at = e.byteAt(fe.From)
		if strings.Contains(fe.Message, "memory budget exceeded") {
			ee.Endless, ee.Reason = true, "it makes a list that is too long"
		}
		ee.Reason = e.reason(fe, ee.Reason)
		var own *opError
		ee.Endless = ee.Endless || errors.As(err, &own) && own.endless
	}
	line, column := e.src.inside(e.at.n, at)
	ee.Place = fmt.Sprintf("%s:%d:%d", e.src.file, line, column)
	return nil, ee
}

// safeReasons are the messages of the library that hold kinds of values, not values.
var safeReasons = lazily(`\A(?:interface conversion: interface \{\} is [\w.\[\]{}* ]+, not [\w.\[\]{}* ]+|index out of range: -?\d+ \(array length is \d+\)|runtime error: [a-z ]+|invalid argument for \w+ \(type [\w.\[\]{}* ]+\))\z`)

func (e *expression) reason(fe *file.Error, otherwise string) string {
	var own *opError
	switch {
	case errors.Is(fe, errBudget):
		return errBudget.Error()
	case errors.As(fe, &own):
		return own.text
	case strings.HasPrefix(fe.Message, "cannot fetch "):
		if strings.HasSuffix(fe.Message, " from <nil>") {
			return "there is nothing to look into"
		}
		return "there is no such member"
	case strings.HasPrefix(fe.Message, "invalid operation: int(string)"):
		return "a list or a string has no members by name; where an item is a list, `extract` may need `[]`"
	case strings.HasPrefix(fe.Message, "time: "):
		return "this is no duration or no time"
	case strings.HasPrefix(fe.Message, "invalid date "):
		return "this is no time"
	case safeReasons().MatchString(fe.Message):
		return fe.Message
	}
	return otherwise
}

// holds evaluates a condition; nothing is false.
func (e *expression) holds(env map[string]any) (bool, error) {
	if e.quick != nil {
		if holds, known := e.quick(env); known {
			return holds, nil
		}
	}
	v, err := e.run(env)
	if err != nil {
		return false, err
	}
	if v == nil {
		return false, nil
	}
	b, ok := v.(bool)
	if !ok {
		line, column := e.src.inside(e.at.n, e.from)
		return false, &EvalError{Place: fmt.Sprintf("%s:%d:%d", e.src.file, line, column), Reason: "must be true or false, it is " + kindOf(v)}
	}
	return b, nil
}

// patcher puts our own operators in the place of the library's, and a step into every loop.
type patcher struct {
	lenient bool
	secret  bool // `secret` is a name
}

func call(name string, args ...ast.Node) *ast.CallNode {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
}

// Visit changes one node; its children have been changed before.
func (p *patcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if name, ok := operators[n.Operator]; ok {
			args := []ast.Node{n.Left, n.Right}
			if n.Operator == "in" {
				args = append([]ast.Node{&ast.IdentifierNode{Value: budgetName}}, args...)
			}
			ast.Patch(node, call(name, args...))
		}
		if n.Operator == "matches" {
			p.matches(node, n)
		}
		if logical[n.Operator] {
			n.Left, n.Right = truth(n.Left), truth(n.Right)
		}
	case *ast.ConditionalNode:
		n.Cond = truth(n.Cond)
	case *ast.UnaryNode:
		switch n.Operator {
		case "-":
			ast.Patch(node, call("__negate", n.Node))
		case "!", "not":
			n.Node = truth(n.Node)
		}
	case *ast.SliceNode:
		from, to := n.From, n.To
		if from == nil {
			from = &ast.NilNode{}
		}
		if to == nil {
			to = &ast.NilNode{}
		}
		ast.Patch(node, call("__slice", n.Node, from, to))
	case *ast.PredicateNode:
		body := call("__step", &ast.IdentifierNode{Value: budgetName}, n.Node)
		body.SetLocation(n.Node.Location())
		n.Node = body
	case *ast.BuiltinNode:
		p.builtin(node, n)
	case *ast.MemberNode:
		if id, ok := n.Node.(*ast.IdentifierNode); ok && p.secret && id.Value == "secret" { // asked for only when it is needed
			ast.Patch(node, call("__secret", &ast.IdentifierNode{Value: secretsName}, n.Property))
		} else if p.lenient {
			n.Optional = true
			ast.Patch(node, &ast.ChainNode{Node: n})
		}
	case *ast.CallNode:
		if c, ok := n.Callee.(*ast.ChainNode); ok && p.lenient { // a method: it must be there
			n.Callee = c.Node
			if m, ok := c.Node.(*ast.MemberNode); ok {
				m.Optional = false
			}
		}
	}
}

// matches compiles a pattern that stands in the spec once, not in every evaluation.
func (p *patcher) matches(node *ast.Node, n *ast.BinaryNode) {
	right := n.Right
	if s, ok := right.(*ast.StringNode); ok {
		re, err := regexp.Compile(s.Value)
		if err != nil {
			return // the library reports it
		}
		right = &ast.ConstantNode{Value: re}
	}
	ast.Patch(node, call("__matches", n.Left, right))
}

// truth makes a condition of a value: nothing is false.
func truth(n ast.Node) ast.Node {
	c := call("__truth", n)
	c.SetLocation(n.Location())
	return c
}

// logical are the operators whose sides are conditions, choosing the builtins whose predicate is one.
var (
	logical  = map[string]bool{"&&": true, "and": true, "||": true, "or": true}
	choosing = map[string]bool{"all": true, "none": true, "any": true, "one": true, "filter": true, "count": true, "find": true, "findIndex": true, "findLast": true, "findLastIndex": true}
)

func (p *patcher) builtin(node *ast.Node, n *ast.BuiltinNode) {
	if choosing[n.Name] && len(n.Arguments) == 2 {
		if pn, ok := n.Arguments[1].(*ast.PredicateNode); ok {
			pn.Node = truth(pn.Node)
		}
	}
	switch {
	case n.Name == "sum" && len(n.Arguments) == 2:
		ast.Patch(node, call("__sum", p.mapped(n)))
	case n.Name == "sortBy":
		args := append([]ast.Node{n.Arguments[0], p.mapped(n)}, n.Arguments[2:]...)
		ast.Patch(node, call("__sortBy", args...))
	case replaced[n.Name]:
		ast.Patch(node, call("__"+n.Name, n.Arguments...))
	}
}

// mapped is the list of what a predicate gives for each element.
func (p *patcher) mapped(n *ast.BuiltinNode) ast.Node {
	m := &ast.BuiltinNode{Name: "map", Arguments: n.Arguments[:2]}
	m.SetLocation(n.Location())
	return m
}
