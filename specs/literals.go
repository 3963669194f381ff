package specs

import (
	"fmt"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// told checks a string that stands in an expression where a duration or a time is told: what it is not now it is never,
// and every poll would fail.
func (c *checker) told(n ast.Node, as valueKind) {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return
	}
	switch as {
	case valSpan:
		if _, err := time.ParseDuration(s.Value); err != nil {
			c.untold(s, "a duration", durationHint(s.Value))
		}
	case valTime:
		if _, ok := parseTime(s.Value); !ok {
			c.untold(s, "a time", "write it as `2026-01-31T00:00:00Z`")
		}
	}
}

// toldDate checks what `date` takes: it knows more forms than an item.
func (c *checker) toldDate(n *ast.BuiltinNode) {
	s, ok := n.Arguments[0].(*ast.StringNode)
	if i, known := builtin.Index["date"]; ok && known && len(n.Arguments) == 1 {
		if _, err := builtin.Builtins[i].Func(s.Value); err != nil {
			c.untold(s, "a time", "write it as `2026-01-31T00:00:00Z`")
		}
	}
}

func (c *checker) untold(s *ast.StringNode, what, hint string) {
	c.fault(s, len([]rune(s.Value))+2, "value-type", fmt.Sprintf("%q is not %s", s.Value, what), hint)
}
