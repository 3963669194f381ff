package specs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
)

// valueKind is what a value is while an expression runs, as far as it is known before: the types of items, the names
// that every spec has, and what operators give. Empty: it is not known. What does not fit its type stays as it came, but
// an expression that can only be evaluated then is a fault all the same.
type valueKind string

const (
	valBool   valueKind = "a boolean"
	valNumber valueKind = "a number"
	valString valueKind = "a string"
	valTime   valueKind = "a time"
	valSpan   valueKind = "a duration"
	valList   valueKind = "a list"
	valMap    valueKind = "a map"
)

// nameKinds are the kinds of the names that every spec has.
var nameKinds = map[string]valueKind{
	"appeared": valBool, "changed": valBool, "gone": valBool, "first": valBool,
	"quiet": valSpan, "now": valTime, "count": valNumber, "events": valNumber, "waiting": valNumber,
}

var nameShapes = func() map[string]*shape {
	m := map[string]*shape{}
	for name, k := range nameKinds {
		m[name] = &shape{is: k, what: name}
	}
	return m
}()

// typeKinds are the kinds of values of a type. An id may be a number, and a text whatever came: they have none.
var typeKinds = map[typeName]valueKind{
	typeCount: valNumber, typeSize: valNumber, typeBool: valBool, typeTime: valTime, typeDuration: valSpan,
	typeWords: valString, typeURL: valString, typeNames: valMap,
}

// flagKinds are the kinds of values of a flag.
var flagKinds = map[string]valueKind{"string": valString, "word": valString, "int": valNumber, "number": valNumber, "bool": valBool, "duration": valSpan}

func shapeOfKind(k valueKind) *shape {
	if k == "" {
		return anyShape
	}
	return kindShapes[k]
}

var kindShapes = map[valueKind]*shape{
	valBool: {is: valBool}, valNumber: {is: valNumber}, valString: {is: valString}, valTime: {is: valTime},
	valSpan: {is: valSpan}, valList: {is: valList}, valMap: {is: valMap},
}

// kind is what the value is.
func (s *shape) kind() valueKind {
	switch {
	case s == nil:
		return ""
	case s.is != "":
		return s.is
	case s.elem != nil:
		return valList
	case s.typ == nil:
		return ""
	}
	return typeKinds[s.typ.name]
}

// single reports whether the value has no members: it is one word, one number, one time.
func (s *shape) single() bool {
	k := s.kind()
	return k != "" && k != valMap && k != valList || s.typ != nil && (s.typ.name == typeID || s.typ.name == typeText)
}

// called is what a fault calls the value: by its type, where a spec gave it one.
func (s *shape) called() string {
	if s.typ != nil && s.elem == nil {
		switch s.typ.name {
		case typeWords:
			return "a word"
		case typeNames:
		default:
			return article(string(s.typ.name))
		}
	}
	return string(s.kind())
}

// subject begins a sentence about the value.
func (s *shape) subject() string {
	if s.what == "" {
		return "this is " + s.called()
	}
	return "`" + s.what + "` is " + s.called()
}

// extent is where a node begins, in characters, and how wide it is. The library notes numbers at the token behind them.
func extent(n ast.Node) (from, width int) {
	from, to := n.Location().From, n.Location().To
	for m := range inner(n) {
		switch m.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.ConditionalNode:
			continue
		}
		from, to = min(from, m.Location().From), max(to, m.Location().To)
	}
	return from, max(to-from, 1)
}

// inner are the nodes of a tree.
func inner(n ast.Node) func(yield func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		v := visitor{yield: yield, more: true}
		ast.Walk(&n, &v)
	}
}

type visitor struct {
	yield func(ast.Node) bool
	more  bool
}

func (v *visitor) Visit(n *ast.Node) { v.more = v.more && v.yield(*n) }

// misfit notes a value of another kind than its place needs.
func (c *checker) misfit(n ast.Node, message, hint string) {
	from, width := extent(n)
	c.mistakes = append(c.mistakes, mistake{at: from, width: width, code: "value-type", message: message, hint: hint})
}

// condition notes a value that is neither true nor false where a condition must stand.
func (c *checker) condition(n ast.Node, s *shape) {
	if k := s.kind(); k != "" && k != valBool {
		c.misfit(n, s.subject()+", a condition must be true or false", "compare it with something")
	}
}

// methods are the types whose methods an expression can call.
var methods = map[valueKind]reflect.Type{valTime: reflect.TypeFor[time.Time](), valSpan: reflect.TypeFor[time.Duration]()}

// method notes a call of what a value does not have.
func (c *checker) method(of *shape, m *ast.MemberNode) {
	name, literal := m.Property.(*ast.StringNode)
	if !literal {
		return
	}
	if t := methods[of.kind()]; t != nil {
		var names []string
		for i := range t.NumMethod() {
			names = append(names, t.Method(i).Name)
		}
		if !slices.Contains(names, name.Value) {
			c.noMember(of, name, nearest(name.Value, names))
		}
		return
	}
	if of.single() {
		c.noMember(of, name, "")
	}
}

// noMember notes a member of a value that has none.
func (c *checker) noMember(of *shape, name *ast.StringNode, near string) {
	hint := ""
	switch {
	case near != "":
		hint = "did you mean `" + near + "`?"
	case of.elem != nil && of.what != "":
		hint = "ask for one of them: `any(" + of.what + ", ." + name.Value + " == …)`"
	case of.what != "":
		hint = "write `" + of.what + "`"
	}
	c.fault(name, len([]rune(name.Value)), "unknown-name", of.subject()+": it has no `"+name.Value+"`", hint)
}

// unary is the kind of `!a` and `-a`.
func (c *checker) unary(n *ast.UnaryNode, of *shape) *shape {
	if n.Operator == "!" || n.Operator == "not" {
		c.condition(n.Node, of)
		return shapeOfKind(valBool)
	}
	if k := of.kind(); n.Operator == "-" && k != "" && k != valNumber && k != valSpan {
		c.misfit(n, of.subject()+": there is no `-` of it", "")
		return anyShape
	}
	return shapeOfKind(of.kind())
}

// binary is the kind of what an operator gives; operands that it can never take are noted.
func (c *checker) binary(n *ast.BinaryNode, left, right *shape) *shape {
	a, b := left.kind(), right.kind()
	known := a != "" && b != ""
	switch n.Operator {
	case "<", "<=", ">", ">=", "==", "!=":
		before := len(c.mistakes)
		c.told(n.Right, a)
		c.told(n.Left, b)
		if n.Operator[1:] == "=" && n.Operator[0] != '<' && n.Operator[0] != '>' { // that can be asked, and is never so
			for i := before; i < len(c.mistakes); i++ {
				c.mistakes[i].code, c.mistakes[i].warn = "never-holds", true
			}
		}
	}
	switch n.Operator {
	case "&&", "and", "||", "or":
		c.condition(n.Left, left)
		c.condition(n.Right, right)
	case "<", "<=", ">", ">=":
		if known && (!comparable(a, b) || a == valList || a == valMap) {
			c.operands(n, left, right, "there is no order between "+left.called()+" and "+right.called())
		}
	case "contains", "startsWith", "endsWith", "matches":
		for _, side := range []struct {
			n ast.Node
			s *shape
		}{{n.Left, left}, {n.Right, right}} {
			if k := side.s.kind(); k != "" && k != valString {
				c.misfit(side.n, fmt.Sprintf("%s, `%s` takes strings", side.s.subject(), n.Operator), "")
			}
		}
	case "in", "not in":
		if b != "" && b != valList && b != valMap {
			c.misfit(n.Right, right.subject()+", `in` looks into a list or a map", "")
		}
	case "==", "!=":
	case "..":
		return shapeOfKind(valList)
	case "+", "-", "*", "/", "%", "**", "^":
		if !known {
			return anyShape
		}
		k := computed(n.Operator, a, b)
		if k == "" {
			c.operands(n, left, right, fmt.Sprintf("cannot compute %s %s %s", left.called(), n.Operator, right.called()))
		}
		return shapeOfKind(k)
	default:
		return anyShape
	}
	return shapeOfKind(valBool)
}

// operands notes two values that do not go together, at the operator between them.
func (c *checker) operands(n *ast.BinaryNode, left, right *shape, message string) {
	hint := ""
	switch a, b := left.kind(), right.kind(); {
	case a == valSpan && b == valNumber, a == valNumber && b == valSpan:
		hint = "write the duration with its unit: `duration(\"5m\")`"
	case n.Operator == "+" && a == valTime && b == valString, n.Operator == "-" && a == valTime && b == valString:
		hint = "a duration is written `duration(\"5m\")`"
	case n.Operator == "+" && (a == valString || b == valString):
		hint = "a value becomes text with `string(…)`"
	case a == valTime || b == valTime:
		hint = "a time is compared with a time: `now`, `date(\"2026-01-31T00:00:00Z\")`"
	}
	c.mistakes = append(c.mistakes, mistake{at: n.Location().From, width: len(n.Operator), code: "value-type", message: message, hint: hint})
}

// comparable reports whether two kinds can be compared. A string that tells a time or a duration is read as one.
func comparable(a, b valueKind) bool {
	timed := func(k valueKind) bool { return k == valTime || k == valSpan }
	return a == b || a == valString && timed(b) || timed(a) && b == valString
}

// computed is what an operator makes of two values; empty where it cannot.
func computed(op string, a, b valueKind) valueKind {
	switch {
	case a == valNumber && b == valNumber:
		return valNumber
	case a == valString && b == valString && op == "+":
		return valString
	case a == valTime && b == valTime && op == "-":
		return valSpan
	case a == valTime && b == valSpan && (op == "-" || op == "+"), a == valSpan && b == valTime && op == "+":
		return valTime
	case a == valSpan && b == valSpan && op == "/":
		return valNumber
	case a == valSpan && b == valSpan && (op == "+" || op == "-"),
		a == valSpan && b == valNumber && (op == "*" || op == "/"), a == valNumber && b == valSpan && op == "*":
		return valSpan
	}
	return ""
}

// builtinKind is what a function of the library takes first and what it gives; empty: any, or not known.
type builtinKind struct {
	takes []valueKind
	gives valueKind
}

var (
	aList    = []valueKind{valList}
	aMap     = []valueKind{valMap}
	aString  = []valueKind{valString}
	aNumber  = []valueKind{valNumber}
	measured = []valueKind{valString, valList, valMap}
)

var builtinKinds = map[string]builtinKind{
	"all": {aList, valBool}, "none": {aList, valBool}, "any": {aList, valBool}, "one": {aList, valBool},
	"filter": {aList, valList}, "map": {aList, valList}, "find": {aList, ""}, "findIndex": {aList, valNumber}, "findLast": {aList, ""}, "findLastIndex": {aList, valNumber},
	"count": {aList, valNumber}, "groupBy": {aList, valMap}, "sortBy": {aList, valList}, "reduce": {aList, ""},
	"len": {measured, valNumber}, "type": {nil, valString}, "ceil": {aNumber, valNumber}, "floor": {aNumber, valNumber}, "round": {aNumber, valNumber},
	"int": {[]valueKind{valNumber, valString}, valNumber}, "float": {[]valueKind{valNumber, valString}, valNumber}, "string": {nil, valString},
	"trim": {aString, valString}, "trimPrefix": {aString, valString}, "trimSuffix": {aString, valString}, "upper": {aString, valString}, "lower": {aString, valString},
	"split": {aString, valList}, "splitAfter": {aString, valList}, "replace": {aString, valString}, "repeat": {aString, valString}, "join": {aList, valString},
	"indexOf": {aString, valNumber}, "lastIndexOf": {aString, valNumber}, "hasPrefix": {aString, valBool}, "hasSuffix": {aString, valBool},
	"toJSON": {nil, valString}, "fromJSON": {aString, ""}, "toBase64": {aString, valString}, "fromBase64": {aString, valString},
	"duration": {aString, valSpan}, "take": {aList, valList}, "date": {nil, valTime},
	"keys": {aMap, valList}, "values": {aMap, valList}, "toPairs": {aMap, valList}, "fromPairs": {aList, valMap},
	"reverse": {aList, valList}, "uniq": {aList, valList}, "concat": {aList, valList}, "flatten": {aList, valList}, "sort": {aList, valList},
}

// takes notes a first argument that a function can never take.
func (c *checker) takes(n *ast.BuiltinNode, first *shape) {
	want := builtinKinds[n.Name].takes
	if k := first.kind(); len(n.Arguments) > 0 && k != "" && len(want) > 0 && !slices.Contains(want, k) {
		words := make([]string, len(want))
		for i, w := range want {
			words[i] = string(w)
		}
		c.misfit(n.Arguments[0], fmt.Sprintf("%s, `%s` takes %s", first.subject(), n.Name, strings.Join(words, " or ")), "")
	}
}

// mustBe notes an expression whose value can be none of kinds; what is what it is for.
func (r *reader) mustBe(e *expression, what string, kinds ...valueKind) {
	if e == nil {
		return
	}
	if k := e.shape.kind(); k != "" && !slices.Contains(kinds, k) {
		words := make([]string, len(kinds))
		for i, w := range kinds {
			words[i] = string(w)
		}
		r.inside(e.at.n, e.from, len([]rune(strings.TrimSpace(e.code))), Error, "value-type", fmt.Sprintf("%s, `%s` is %s", e.shape.subject(), what, strings.Join(words, " or ")), "")
	}
}
