package specs

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// absentIn are the names that stand for nothing where a word of a rule holds.
var absentIn = map[string]string{"gone": "item", "appeared": "cursor", "first": "cursor"}

// ruleDoubts warns of a rule that can never hold, and of one that speaks of what is not there.
func (c *compiler) ruleDoubts(rs ruleSpec, r *rule) {
	if r.when == nil {
		return
	}
	if len(r.when.used) == 0 {
		if holds, err := r.when.holds(map[string]any{budgetName: &budget{poll: maxSteps}}); err == nil && !holds {
			c.warn(rs.when.n, "never-holds", "this never holds", "name something that can change")
		}
		return
	}
	for _, word := range conditions(r.when.tree) {
		name := absentIn[word]
		if name == "" {
			continue
		}
		other := map[string]string{"item": "cursor", "cursor": "item"}[name]
		for _, t := range []*template{r.says.text, c.own(rs, r)} {
			if t == nil {
				continue
			}
			for _, p := range t.pieces {
				if p.e.uses(name) && !strings.Contains(p.e.code, "?") {
					c.inside(t.at.n, p.e.from, len([]rune(p.e.code)), Warning, "absent", fmt.Sprintf("where `%s` holds there is no `%s`: this says `none`", word, name),
						"say what was saved or what came: `"+other+"`")
				}
			}
		}
	}
}

// own is the url of the rule itself; that of the whole spec speaks for all rules.
func (c *compiler) own(rs ruleSpec, r *rule) *template {
	if rs.url.set() {
		return r.says.url
	}
	return nil
}

// conditions are the names that must hold where an expression does: itself, or parts of it that are joined by `and`.
func conditions(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}
	case *ast.BinaryNode:
		if n.Operator == "&&" || n.Operator == "and" {
			return append(conditions(n.Left), conditions(n.Right)...)
		}
	}
	return nil
}
