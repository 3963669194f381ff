package specs

import (
	"slices"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/itchyny/gojq"
	"github.com/sessevents/sessevents/fetchers"
)

// reads is what programs read of a value: a tree that grows while they are followed. Where one looks into a value, there
// is a node for it, so that it sees at least whether it is an object, a list or nothing: that decides what is an error.
type reads struct {
	all     bool // all of it, and what is below
	members map[string]*reads
	each    *reads // elements of a list, or members of an object by names that are not known here
}

// places are where a value of a program may stand in the document. None says that it stands nowhere: it was made from
// what has been noted already.
type places []*reads

// maxPlaces bounds them; a value that may stand in more is taken to be read whole.
const maxPlaces = 16

// whole notes that all of a value is read.
func (p places) whole() places {
	for _, r := range p {
		r.all = true
	}
	return nil
}

// member is where the member of a name stands.
func (p places) member(name string) places {
	if !utf8.ValidString(name) { // no document has it, and how it would compare is the library's business
		return p.whole()
	}
	var out places
	for _, r := range p {
		if r.all {
			continue
		}
		if r.members == nil {
			r.members = map[string]*reads{}
		}
		if r.members[name] == nil {
			r.members[name] = &reads{}
		}
		out = append(out, r.members[name])
	}
	return out
}

// each is where the elements stand, or the members. To ask for it is to count them.
func (p places) each() places {
	var out places
	for _, r := range p {
		if r.all {
			continue
		}
		if r.each == nil {
			r.each = &reads{}
		}
		out = append(out, r.each)
	}
	return out
}

// and are the places of a value that may be one or another.
func (p places) and(others places) places {
	if len(others) == 0 {
		return p
	}
	out := slices.Clone(p)
	for _, r := range others {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if len(out) > maxPlaces {
		return out.whole()
	}
	return out
}

// maxWants bounds a want: where names and "each" meet on many levels, there are many ways to join them.
const maxWants = 5_000

// want is what is read at all of p, as a fetcher takes it. left counts down; at its end everything is wanted.
func (p places) want(left *int) *fetchers.Want {
	if *left--; *left < 0 || slices.ContainsFunc(p, func(r *reads) bool { return r.all }) {
		return nil
	}
	w := &fetchers.Want{}
	var each places
	for _, r := range p {
		if r.each != nil {
			each = append(each, r.each)
		}
	}
	if len(each) > 0 {
		if w.Each = each.want(left); w.Each == nil {
			return nil
		}
	}
	for _, r := range p {
		for name := range r.members {
			if _, done := w.Members[name]; done {
				continue
			}
			if w.Members == nil {
				w.Members = map[string]*fetchers.Want{}
			}
			both := slices.Clone(each)
			for _, r := range p {
				if m := r.members[name]; m != nil {
					both = append(both, m)
				}
			}
			w.Members[name] = both.want(left)
		}
	}
	return w
}

// wantOf is the part of the document that extract and the expressions read; nil: it may be all. The document of a step
// is the member of its name.
func wantOf(extract *gojq.Query, es []*expression, steps []string) *fetchers.Want {
	root := &reads{}
	t := &tracker{}
	t.query(extract, places{root}, nil).whole()
	if t.steps > maxTracked {
		return nil
	}
	for _, e := range es {
		names := map[string]places{}
		for _, name := range append([]string{"doc"}, steps...) {
			if !e.uses(name) {
				continue
			}
			if name == "doc" {
				names[name] = places{root}
			}
			if slices.Contains(steps, name) {
				names[name] = names[name].and(places{root}.member(name))
			}
		}
		if len(names) > 0 && !readsOf(e.code, names) {
			return nil
		}
	}
	left := maxWants
	return places{root}.want(&left)
}

// readsOf notes what an expression reads of the values that names stand for; false where that is not known.
func readsOf(code string, names map[string]places) bool {
	tree, err := parser.Parse(code)
	if err != nil {
		return false
	}
	v := &exprReads{names: names, at: map[ast.Node]places{}}
	ast.Walk(&tree.Node, v)
	for _, p := range v.at {
		p.whole()
	}
	return true
}

// exprReads walks over an expression from its leaves up. A value that nothing else is known of in the end is read whole.
type exprReads struct {
	names map[string]places
	at    map[ast.Node]places // of values that are parts of the document
}

// Visit is [ast.Visitor.Visit].
func (v *exprReads) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if p := v.names[n.Value]; p != nil {
			v.at[n] = p
		}
	case *ast.ChainNode:
		v.move(n.Node, n, func(p places) places { return p })
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok {
			v.move(n.Node, n, func(p places) places { return p.member(name.Value) })
		}
	case *ast.BinaryNode:
		if n.Operator != "==" && n.Operator != "!=" {
			return
		}
		if _, ok := n.Right.(*ast.NilNode); ok {
			delete(v.at, n.Left) // whether it is there
		}
		if _, ok := n.Left.(*ast.NilNode); ok {
			delete(v.at, n.Right)
		}
	}
}

func (v *exprReads) move(from, to ast.Node, step func(places) places) {
	if p, ok := v.at[from]; ok {
		delete(v.at, from)
		v.at[to] = step(p)
	}
}
