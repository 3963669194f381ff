package specs

import (
	"slices"

	"github.com/sessevents/sessevents/fetchers"
)

// narrow tells each step what it need not read of its document, and of a stream which lines.
func (c *compiler) narrow() {
	if c.faultsOnly || c.out.extract == nil || c.found.HasErrors() {
		return
	}
	if c.out.stream && len(c.out.steps) != 1 {
		return
	}
	want := wantOf(c.out.extract.tree, c.expressions, c.out.stepNames())
	for i := range c.out.steps {
		n := fetchers.Narrow{Want: want}
		if c.out.several {
			n.Want = want.Member(c.out.steps[i].name)
		}
		if c.out.stream {
			n.Literals = c.out.literals()
		}
		if n.Want != nil || n.Literals != nil {
			c.out.steps[i].narrow = &n
		}
	}
}

// stepNames are the names that expressions have for the documents of steps.
func (s *Source) stepNames() []string {
	var names []string
	for _, st := range s.steps {
		if s.several {
			names = append(names, st.name)
		}
	}
	return names
}

// wide is the source for who wants to see all of each document.
func (s *Source) wide() *Source {
	all := *s
	all.steps = slices.Clone(s.steps)
	for i := range all.steps {
		all.steps[i].narrow = nil
	}
	return &all
}
