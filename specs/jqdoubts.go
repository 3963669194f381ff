package specs

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// jqConditions are the functions that ask a condition of their last argument.
var jqConditions = []string{"select", "any", "all"}

// loneEquals is where the first `=` stands that is part of no other operator; -1: nowhere.
func loneEquals(program string) int {
	for i := 0; i < len(program); i++ {
		switch {
		case program[i] != '=':
		case i+1 < len(program) && program[i+1] == '=':
			i++
		case i == 0 || strings.IndexByte("!<>|+*/%-", program[i-1]) < 0:
			return i
		}
	}
	return -1
}

// assignments warns where a condition of extract assigns: `select(.level = "error")` lets everything pass.
func (c *compiler) assignments(program text) {
	at, found := loneEquals(program.s), false
	if at < 0 {
		return
	}
	ask := func(q *gojq.Query) { found = found || assigns(q) }
	eachQuery(c.out.extract.tree, func(q *gojq.Query) {
		if q.Term == nil {
			return
		}
		if f := q.Term.Func; f != nil && len(f.Args) > 0 && slices.Contains(jqConditions, f.Name) {
			ask(f.Args[len(f.Args)-1])
		}
		if i := q.Term.If; i != nil {
			ask(i.Cond)
			for _, e := range i.Elif {
				ask(e.Cond)
			}
		}
	})
	if found {
		c.inside(program.n, at, 1, Warning, "assignment", "`=` assigns: as a condition this always holds", "compare with `==`")
	}
}

// assigns reports whether what a condition comes to is an assignment.
func assigns(q *gojq.Query) bool {
	switch {
	case q == nil:
		return false
	case q.Term != nil:
		return q.Term.Type == gojq.TermTypeQuery && len(q.Term.SuffixList) == 0 && assigns(q.Term.Query)
	case q.Op == gojq.OpAnd, q.Op == gojq.OpOr:
		return assigns(q.Left) || assigns(q.Right)
	case q.Op == gojq.OpPipe: // of `| not` the opposite, which is as wrong
		return assigns(q.Left) || assigns(q.Right)
	}
	return q.Op == gojq.OpAssign
}
