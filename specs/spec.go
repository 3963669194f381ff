// Package specs is the spec language: YAML in, diagnostics with their places out, and a compiled [engine.Source].
//
// Three stages, three types: [Parse] reads the YAML into a [Spec] and costs next to nothing (a command that needs
// only the name stops there); [Compile] makes the jq and expr programs and gives a [Source]; [Source.Poll] runs them.
// What passed a stage is not checked again.
package specs

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"
)

// Spec is one parsed spec: every value with its place. It is good for [Compile] only where its diagnostics hold no
// error, but Compile takes any, so that all faults of a file can be told at once.
type Spec struct {
	File string
	// Name, Interval, IdleInterval and Usage are what a client command needs without compiling anything.
	Name         string
	Interval     time.Duration
	IdleInterval time.Duration
	Usage        []string

	src      *source
	root     *yaml.Node
	version  int
	target   targetSpec
	defaults map[string]*yaml.Node
	secrets  []secretSpec
	steps    []stepSpec
	fetchAt  *yaml.Node
	several  bool // fetch is a list
	extract  text
	item     *itemType
	key      text
	cursor   text
	url      text
	rules    []ruleSpec
	busy     text
	done     text
	summary  []summarySpec
	tests    []testSpec
	idleSet  bool
}

// text is a string of a spec with its place.
type text struct {
	s string
	n *yaml.Node
}

func (t text) set() bool { return t.n != nil }

type targetSpec struct {
	args    []argSpec
	flags   []flagSpec
	require []requireSpec
	lost    bool // a name could not be read
}

type argSpec struct {
	name    text
	pattern text
	help    string
	text    string // of the pattern, also where it is none
}

type flagSpec struct {
	name  text
	typ   string   // one of flagTypes, or word
	words []string // of a word
	def   *yaml.Node
	help  string
}

type requireSpec struct {
	that   text
	orElse text
}

type secretSpec struct {
	name    text
	command *yaml.Node
	keep    time.Duration
}

type stepSpec struct {
	as      text
	when    text
	fetcher text
	options *yaml.Node
	at      *yaml.Node
}

type ruleSpec struct {
	at      *yaml.Node
	when    text
	hold    holdSpec
	until   text
	cleared *clearedSpec
	kind    text
	level   string
	text    text
	url     text
	fields  []fieldSpec
}

// holdSpec is `for`: a number of polls, a duration, or what the target gives. All zero: at once.
type holdSpec struct {
	polls int
	time  time.Duration
	from  text
}

// String names it in the saved state.
func (h holdSpec) String() string { return fmt.Sprintf("{%d %d}%s", h.polls, int64(h.time), h.from.s) }

type clearedSpec struct {
	at    *yaml.Node
	kind  text
	level string
	text  text
}

type fieldSpec struct {
	name  text
	value text
}

type summarySpec struct {
	when text
	text text
}

type testSpec struct {
	at     *yaml.Node
	name   text
	target []string
	env    map[string]string
	polls  []pollSpec
}

type pollSpec struct {
	at     *yaml.Node
	fetch  *yaml.Node
	fails  bool
	after  time.Duration
	events *yaml.Node
	expect []*yaml.Node
	busy   *bool
	done   *bool
}
