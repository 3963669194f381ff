package specs

import (
	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/fetchers"
)

// Source is a compiled spec. It implements [engine.Source] and holds no state of a target, so several goroutines may
// use it at once.
type Source struct {
	info       engine.Info
	target     *targetParser
	several    bool
	stream     bool
	steps      []step
	extract    *query
	item       *itemType
	cursorType *itemType
	key        *expression
	cursor     *expression // nil: the item
	rules      []*rule
	busy       *expression // nil: events > 0
	done       *expression
	summary    []summaryLine
	shape      string
	getenv     func(string) string
	secrets    map[string]*secretCommand
	vault      *vault
}

// step is one question of a poll.
type step struct {
	name     string // as the document is called; empty where there is only one
	fetcher  fetchers.Fetcher
	when     *expression
	options  []option
	failData bool
	narrow   *fetchers.Narrow // what it need not read; nil: it reads everything
}

// rule is a compiled rule.
type rule struct {
	id      string
	when    *expression
	hold    holdSpec
	given   *expression // gives the hold; nil: it stands in the spec
	until   *expression
	says    saying
	cleared *saying
}

// awaits reports whether the rule waits whether something that is gone comes back.
func (r *rule) awaits() bool { return r.hold != holdSpec{} && r.when.uses("gone") }

// stateful reports whether something of the rule is remembered between polls.
func (r *rule) stateful() bool { return r.hold != holdSpec{} || r.until != nil }

// saying is what an event says.
type saying struct {
	kind   string
	level  eventlog.Level
	text   *template
	url    *template
	fields []field
}

type field struct {
	name  string
	value *template
}

type summaryLine struct {
	when *expression
	text *template
}
