package specs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// tests checks what the spec's own tests expect: an event that no rule can give fails the test only when it runs, and a
// test without a poll never fails.
func (c *compiler) tests() {
	if len(c.spec.tests) == 0 {
		return
	}
	known := c.speakers()
	for _, ts := range c.spec.tests {
		if n := member(ts.at, "polls"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			c.fault(n, "missing-key", "a test without a poll shows nothing", "write one: `- {fetch: …, events: []}`")
		}
		for _, p := range ts.polls {
			c.recorded(p)
			for _, n := range p.expect {
				c.expected(n, known)
			}
		}
	}
}

// recorded checks the document of a poll, and that a poll that must fail expects nothing else.
func (c *compiler) recorded(p pollSpec) {
	if p.fails {
		for _, name := range []string{"events", "busy", "done"} {
			if n := member(p.at, name); n != nil {
				c.fault(n, "test", fmt.Sprintf("a poll that fails has no `%s`", name), "leave out one of the two")
			}
		}
	}
	switch {
	case p.fetch == nil && !p.fails && !c.spec.several:
		c.put(Diagnostic{Line: p.at.Line, Column: p.at.Column, Code: "missing-key", Message: "a poll has no `fetch`", Hint: "write the document, or `fails: true`"})
	case p.fetch != nil && !c.spec.several:
		c.recordedDoc(p.fetch, c.docs)
	case p.fetch != nil && c.spec.several:
		var names []string
		for _, st := range c.spec.steps {
			names = append(names, st.as.s)
		}
		c.pairs(p.fetch, "fetch of several steps", func(k, v *yaml.Node) {
			c.recordedDoc(v, c.docs.fields[k.Value])
			if !slices.Contains(names, k.Value) {
				c.fault(k, "unknown-name", fmt.Sprintf("there is no step `%s`", k.Value), hintNearest(k.Value, names))
			}
		})
	}
}

// speakers are the kinds of events that the spec can give, in order, each with the names of its fields.
type speakers struct {
	kinds  []string
	fields map[string][]string
}

// speakers is nil where a kind could not be read.
func (c *compiler) speakers() *speakers {
	known := map[string][]string{}
	for _, rs := range c.spec.rules {
		if !isName(rs.kind.s) || rs.cleared != nil && !isName(rs.cleared.kind.s) {
			return nil
		}
		known[rs.kind.s] = append(known[rs.kind.s], fieldNames(rs)...)
		if rs.cleared != nil {
			known[rs.cleared.kind.s] = slices.Clip(known[rs.cleared.kind.s]) // of the same kind: keep its fields
		}
	}
	if c.spec.done.set() {
		known["done"] = slices.Clip(known["done"])
	}
	return &speakers{slices.Sorted(maps.Keys(known)), known}
}

// fieldsOf are the fields of the events of a kind; of all, where the kind is none.
func (s *speakers) fieldsOf(kind *yaml.Node) []string {
	if kind != nil {
		if fields, known := s.fields[kind.Value]; known {
			return fields
		}
	}
	return slices.Concat(slices.Collect(maps.Values(s.fields))...)
}

func fieldNames(rs ruleSpec) []string {
	names := make([]string, len(rs.fields))
	for i, f := range rs.fields {
		names[i] = f.name.s
	}
	return names
}

// expected checks one event that a test wants.
func (c *compiler) expected(n *yaml.Node, known *speakers) {
	c.pairs(n, "event", func(k, v *yaml.Node) {
		switch k.Value {
		case "kind":
			if t := c.str(v); t.set() && known != nil && !slices.Contains(known.kinds, t.s) {
				c.fault(v, "word", fmt.Sprintf("no rule gives an event of the kind `%s`", t.s), hintNearest(t.s, known.kinds))
			}
		case "level":
			c.word(v, levels)
		case "text":
			c.str(v)
		case "url":
			if v.Tag != "!!null" {
				c.str(v)
			}
		default:
			if known == nil {
				return
			}
			if fields := known.fieldsOf(member(n, "kind")); !slices.Contains(fields, k.Value) {
				fields = append([]string{"kind", "level", "text", "url"}, fields...)
				slices.Sort(fields[4:])
				c.unknownKey(k, v, "event", slices.Compact(fields), map[string]*yaml.Node{})
			}
		}
	})
}

// faultOf is where a fetcher's own check points: at the option that its words begin with, and in a list or a mapping at
// the part that they name.
func (c *compiler) faultOf(st stepSpec, message string) *yaml.Node {
	option, rest, named := strings.Cut(message, ": ")
	if !named {
		return st.fetcher.n
	}
	for _, of := range []*yaml.Node{st.options, c.spec.defaults[st.fetcher.s]} {
		n := member(of, option)
		if n == nil {
			continue
		}
		words := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' })
		for i, part := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 {
				continue
			}
			if slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(strings.Trim(w, `"`), part.Value) }) {
				return part
			}
		}
		return n
	}
	return st.fetcher.n
}
