package specs

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// withoutKey warns of a list that is watched without a key: each of its items would be compared with the last one, so
// that a rule on `changed` speaks in every poll.
func (c *compiler) withoutKey() {
	s := c.spec
	if c.out.stream || s.key.set() || s.cursor.set() || c.out.extract == nil || c.found.HasErrors() || !several(c.out.extract.tree) {
		return
	}
	compares := func(e *expression) bool { return e.uses("changed", "cursor") }
	if !slices.ContainsFunc(c.out.rules, func(r *rule) bool { return compares(r.when) || compares(r.until) }) {
		return
	}
	hint := "say what each is called, such as `key: item.id`, or make one `cursor` of all `items`"
	if s.item != nil {
		for _, name := range []string{"key", "id", "name", "number", "path", "url"} {
			if s.item.fields[name] != nil {
				hint = strings.Replace(hint, "item.id", "item."+name, 1)
				break
			}
		}
	}
	c.warn(s.extract.n, "no-key", "these are several items without a `key`: each is compared with the last one", hint)
}

// several reports whether a program gives one item for each element of a list, as far as it shows. One that chooses may
// choose a single one.
func several(q *gojq.Query) bool {
	if q == nil || len(q.FuncDefs) > 0 || chooses(q) {
		return false
	}
	return iterates(q)
}

func iterates(q *gojq.Query) bool {
	switch {
	case q == nil:
		return false
	case q.Term == nil:
		return (q.Op == gojq.OpPipe || len(q.Patterns) > 0) && (iterates(q.Left) || iterates(q.Right))
	}
	return slices.ContainsFunc(q.Term.SuffixList, func(s *gojq.Suffix) bool { return s.Iter }) ||
		q.Term.Type == gojq.TermTypeQuery && iterates(q.Term.Query)
}

// choosers are functions that leave items out.
var choosers = []string{"select", "first", "last", "limit", "nth", "until", "empty", "values", "objects"}

// chooses reports whether a step of a pipeline leaves items out.
func chooses(q *gojq.Query) bool {
	switch {
	case q == nil:
		return false
	case q.Term == nil:
		return chooses(q.Left) || chooses(q.Right)
	case q.Term.Type == gojq.TermTypeIf, q.Term.Type == gojq.TermTypeTry:
		return true
	}
	return q.Term.Type == gojq.TermTypeFunc && slices.Contains(choosers, q.Term.Func.Name) || q.Term.Type == gojq.TermTypeQuery && chooses(q.Term.Query)
}
