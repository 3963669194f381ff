package specs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// shape is what is known of a value before anything ran: its type, where it has one, and the names that it has.
type shape struct {
	typ    *itemType         // nil: nothing is known
	fields map[string]*shape // nil: any name may be there
	elem   *shape            // of a list
	is     valueKind         // what it is, where that is known without a type
	what   string            // how faults call it, such as `item`
	// of the document of a fetcher
	content string // where in it stands what the other side said
	failure bool   // with `failure: data` it would have `error` too
	small   bool   // its names are written small
}

var anyShape = &shape{}

// shapeOf is the shape of a typed value.
func shapeOf(t *itemType, what string) *shape {
	s := &shape{typ: t, what: what}
	if t == nil {
		return s
	}
	if t.name == typeNames {
		s.fields = map[string]*shape{}
		for name, ft := range t.fields {
			s.fields[name] = shapeOf(ft, what+"."+name)
		}
	}
	if t.elem != nil {
		s.elem = shapeOf(t.elem, what+"[]")
	}
	return s
}

// scope are the names that an expression sees. text says that it stands in a text, where only what speaks is there.
type scope struct {
	names map[string]*shape
	text  bool
	// why explains names that are not here but somewhere else in a spec.
	why map[string]string
}

// mistake is a fault inside an expression: at is a character of it.
type mistake struct {
	at, width           int
	code, message, hint string
	warn                bool
}

// checker walks over an expression: it finds names that are not there, and what the expression is made from.
type checker struct {
	scope    scope
	inner    []*shape          // what `#` and `.name` mean, innermost last
	locals   map[string]*shape // names made by `let`
	mistakes []mistake
	used     map[string]bool // names of the scope that it uses
	members  map[string]bool // member names and strings that it spells: all that it can look up
	paths    map[string]bool // `item.name` and the like
	env      []string        // names of environment variables
	secrets  []string        // names of secrets
}

func newChecker(sc scope) *checker {
	return &checker{scope: sc, locals: map[string]*shape{}, used: map[string]bool{}, members: map[string]bool{}, paths: map[string]bool{}}
}

func (c *checker) fault(n ast.Node, width int, code, message, hint string) {
	c.mistakes = append(c.mistakes, mistake{at: n.Location().From, width: max(width, 1), code: code, message: message, hint: hint})
}

func (c *checker) walkAll(nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil {
			c.walk(n)
		}
	}
}

// walk checks a node and returns its shape.
func (c *checker) walk(n ast.Node) *shape {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.PointerNode:
		if len(c.inner) > 0 && (n.Name == "" || n.Name == "acc") {
			if n.Name == "acc" {
				return anyShape
			}
			return c.inner[len(c.inner)-1]
		}
	case *ast.StringNode:
		c.members[n.Value] = true
		return shapeOfKind(valString)
	case *ast.IntegerNode, *ast.FloatNode:
		return shapeOfKind(valNumber)
	case *ast.BoolNode:
		return shapeOfKind(valBool)
	case *ast.UnaryNode:
		return c.unary(n, c.walk(n.Node))
	case *ast.BinaryNode:
		left := c.walk(n.Left)
		right := c.walk(n.Right)
		c.compared(n, left, right)
		if n.Operator == "&&" || n.Operator == "and" {
			c.excluded(n)
		}
		if n.Operator == "??" {
			return either(left, right)
		}
		return c.binary(n, left, right)
	case *ast.ChainNode:
		return c.walk(n.Node)
	case *ast.SliceNode:
		s := c.walk(n.Node)
		c.walkAll(n.From, n.To)
		if k := s.kind(); k != "" && k != valString && k != valList {
			c.misfit(n.Node, s.subject()+": there is no part of it", "")
		}
		return s
	case *ast.CallNode:
		c.call(n)
	case *ast.BuiltinNode:
		return c.builtin(n)
	case *ast.ConditionalNode:
		c.condition(n.Cond, c.walk(n.Cond))
		return either(c.walk(n.Exp1), c.walk(n.Exp2))
	case *ast.VariableDeclaratorNode:
		was, had := c.locals[n.Name]
		c.locals[n.Name] = c.walk(n.Value)
		s := c.walk(n.Expr)
		delete(c.locals, n.Name)
		if had {
			c.locals[n.Name] = was
		}
		return s
	case *ast.SequenceNode:
		s := anyShape
		for _, e := range n.Nodes {
			s = c.walk(e)
		}
		return s
	case *ast.ArrayNode:
		c.walkAll(n.Nodes...)
		return shapeOfKind(valList)
	case *ast.MapNode:
		return c.mapping(n)
	case *ast.PredicateNode:
		return c.walk(n.Node)
	}
	return anyShape
}

func (s *shape) same(o *shape) bool {
	return s != nil && o != nil && s.typ != nil && o.typ != nil && s.typ.String() == o.typ.String()
}

// either is what one of two values is.
func either(a, b *shape) *shape {
	switch {
	case a.same(b):
		return a
	case a.kind() == b.kind():
		return shapeOfKind(a.kind())
	}
	return anyShape
}

func (c *checker) identifier(n *ast.IdentifierNode) *shape {
	if s, ok := c.locals[n.Value]; ok {
		return s
	}
	if s, ok := c.scope.names[n.Value]; ok {
		c.used[n.Value] = true
		if n.Value == "secret" {
			c.fault(n, len(n.Value), "env-name", "a secret must be named: `secret.NAME`", "")
		}
		if c.scope.text && s.typ != nil && s.typ.name == typeText {
			c.fault(n, len(n.Value), "text-speaks", fmt.Sprintf("`%s` has the type text, which does not speak", s.what), "name where to look (a url, an id, a count), not what stands there")
		}
		return s
	}
	if why, ok := c.scope.why[n.Value]; ok {
		hint := ""
		if c.scope.text && n.Value == "doc" {
			hint = "name `item` or `cursor`: they speak by their types"
		}
		c.fault(n, len(n.Value), c.scope.code(n.Value), why, hint)
		return anyShape
	}
	c.fault(n, len(n.Value), "unknown-name", fmt.Sprintf("there is no `%s` here", n.Value), c.scope.hint(n.Value))
	return anyShape
}

func (sc scope) code(name string) string {
	if sc.text && name == "doc" {
		return "doc-in-text"
	}
	return "unknown-name"
}

func (c *checker) member(n *ast.MemberNode) *shape {
	prop, literal := n.Property.(*ast.StringNode)
	if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "env" && c.scope.names["env"] != nil {
		if !literal {
			c.fault(n, 1, "env-name", "an environment variable must be named: `env.NAME`", "")
			return anyShape
		}
		c.used["env"] = true
		c.env = append(c.env, prop.Value)
		return &shape{is: valString, what: "env." + prop.Value}
	}
	if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "secret" && c.scope.names["secret"] != nil && literal {
		return c.secret(prop)
	}
	of := c.walk(n.Node)
	if !literal {
		c.walk(n.Property)
		if of.elem != nil {
			return of.elem
		}
		if c.scope.text && of.fields != nil {
			c.fault(n.Property, 1, "computed-name", "in a text a name must stand as it is: `"+of.what+".name`", "")
		}
		if k := of.kind(); k != valString && k != "" && of.single() {
			c.misfit(n.Node, of.subject()+": there is no part of it", "")
		}
		return anyShape
	}
	c.members[prop.Value] = true
	if of.what != "" {
		c.paths[of.what+"."+prop.Value] = true
	}
	if of.single() || of.elem != nil {
		c.noMember(of, prop, "")
		return anyShape
	}
	if !of.has(prop.Value) {
		c.fault(prop, len([]rune(prop.Value)), "unknown-name", fmt.Sprintf("`%s` has no `%s`", of.what, prop.Value), of.hint(prop.Value, of.what))
		return anyShape
	}
	if of.fields == nil {
		return anyShape
	}
	f := of.fields[prop.Value]
	if c.scope.text && f.typ.kind() == typeText && f.typ != nil {
		c.fault(prop, len([]rune(prop.Value)), "text-speaks", fmt.Sprintf("`%s` has the type text, which does not speak", f.what), "name where to look (a url, an id, a count), not what stands there")
	}
	return f
}

// secret is `secret.NAME`.
func (c *checker) secret(name *ast.StringNode) *shape {
	known := c.scope.names["secret"].fields
	if known[name.Value] == nil {
		hint := hintNearest(name.Value, slices.Sorted(maps.Keys(known)))
		if len(known) == 0 {
			hint = "say where it comes from: `secrets: {" + name.Value + ": {command: […]}}`"
		}
		c.fault(name, len([]rune(name.Value)), "unknown-name", fmt.Sprintf("there is no secret `%s`", name.Value), hint)
	}
	c.used["secret"] = true
	c.secrets = append(c.secrets, name.Value)
	return &shape{is: valString, what: "secret." + name.Value}
}

var stringOperators = []string{"contains", "startsWith", "endsWith", "matches"}

// call refuses calls of what is no function.
func (c *checker) call(n *ast.CallNode) {
	if id, ok := n.Callee.(*ast.IdentifierNode); ok && c.scope.names[id.Value] != nil {
		c.fault(id, len(id.Value), "unknown-name", fmt.Sprintf("`%s` is a value here, not a function", id.Value), "write `"+id.Value+"`")
	}
	if id, ok := n.Callee.(*ast.IdentifierNode); ok && c.scope.names[id.Value] == nil && c.locals[id.Value] == nil {
		hint := ""
		if w := nearest(id.Value, slices.Concat(stringOperators, builtin.Names)); slices.Contains(stringOperators, w) {
			hint = "it is an operator: `a " + w + " b`"
		} else if w != "" {
			hint = "did you mean `" + w + "`?"
		}
		c.fault(id, len(id.Value), "unknown-name", fmt.Sprintf("there is no function `%s`", id.Value), hint)
	}
	if m, ok := n.Callee.(*ast.MemberNode); ok {
		c.method(c.walk(m.Node), m)
	}
	c.walkAll(n.Arguments...)
}

// kept are the builtins whose result has the shape of their list; picked those that give one of its elements.
var (
	kept   = []string{"filter", "sort", "sortBy", "reverse", "uniq", "take", "concat"}
	picked = []string{"find", "findLast", "first", "last", "max", "min"}
)

// unmaking are the builtins that can make a sentence of a value that is safe as it is.
var unmaking = []string{"fromBase64", "fromJSON", "replace", "split", "splitAfter"}

func (c *checker) builtin(n *ast.BuiltinNode) *shape {
	if n.Name == "now" {
		c.fault(n, 3, "unknown-name", "there is no function `now`: a poll has one time", "write `now`, where it is in scope")
	}
	if c.scope.text && slices.Contains(unmaking, n.Name) {
		c.fault(n, len(n.Name), "unsafe-function", fmt.Sprintf("`%s` in a text could make words of what is one word", n.Name), "say the value as it is, or let `extract` make what you need")
	}
	of, body := anyShape, anyShape
	for i, a := range n.Arguments {
		p, isPredicate := a.(*ast.PredicateNode)
		if !isPredicate {
			s := c.walk(a)
			if i == 0 {
				of = s
			}
			continue
		}
		elem := of.elem
		if elem == nil {
			elem = anyShape
		}
		c.inner = append(c.inner, elem)
		body = c.walk(p.Node)
		if choosing[n.Name] {
			c.condition(p.Node, body)
		}
		c.inner = c.inner[:len(c.inner)-1]
	}
	c.takes(n, of)
	if len(n.Arguments) > 0 {
		switch n.Name {
		case "duration":
			c.told(n.Arguments[0], valSpan)
		case "date":
			c.toldDate(n)
		}
	}
	switch {
	case n.Name == "map" && body.typ != nil:
		return &shape{elem: body, typ: &itemType{name: typeAuto, elem: body.typ}, what: "a list"}
	case slices.Contains(kept, n.Name) && of != anyShape:
		return of
	case slices.Contains(picked, n.Name) && of.elem != nil:
		return of.elem
	}
	return shapeOfKind(builtinKinds[n.Name].gives)
}

// mapping is `{a: item.b}`: a cursor of this form speaks with the types of its parts.
func (c *checker) mapping(n *ast.MapNode) *shape {
	s := &shape{fields: map[string]*shape{}, typ: &itemType{name: typeNames, fields: map[string]*itemType{}}, what: "a map"}
	for _, p := range n.Pairs {
		pair, ok := p.(*ast.PairNode)
		if !ok {
			continue
		}
		v := c.walk(pair.Value)
		k, literal := pair.Key.(*ast.StringNode)
		if !literal {
			c.walk(pair.Key)
			s.fields = nil
			continue
		}
		if s.fields != nil {
			s.fields[k.Value] = v
			s.typ.fields[k.Value] = v.typ
		}
	}
	if s.fields == nil {
		return shapeOfKind(valMap)
	}
	return s
}
