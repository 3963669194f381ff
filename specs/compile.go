package specs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/fetchers"
	"gopkg.in/yaml.v3"
)

// Options are what a compiled spec needs from outside.
type Options struct {
	// Fetchers is the registry, by name.
	Fetchers map[string]fetchers.Fetcher
	// Getenv looks up an environment variable; nil means os.Getenv. An empty variable is as good as none.
	Getenv func(string) string

	faultsOnly bool // the source will not be used
}

// compiler turns a spec into a source.
type compiler struct {
	*reader
	spec   *Spec
	out    *Source
	docs   *shape // what `doc` is
	cursor *shape
	item   *shape
	when   scope // of conditions
	said   scope // of texts
	shared map[*yaml.Node]readOption
	told   map[string]bool // members of recorded documents that were found to be none
}

// Compile makes the programs of a spec and gives the source. The diagnostics are those of this stage only; where they
// hold an error, or those of [Parse] did, the source must not be used and is nil.
func Compile(s *Spec, o Options) (*Source, Diagnostics) {
	if s.root == nil {
		return nil, nil
	}
	c := &compiler{reader: &reader{src: s.src, faultsOnly: o.faultsOnly}, spec: s, out: &Source{several: s.several, getenv: o.Getenv}, shared: map[*yaml.Node]readOption{}, told: map[string]bool{}}
	if c.out.getenv == nil {
		c.out.getenv = os.Getenv
	}
	c.out.info = engine.Info{Name: s.Name, Interval: s.Interval, IdleInterval: s.IdleInterval}
	c.out.target = c.compileTarget(s)
	c.out.info.Usage = c.out.target.usage
	c.out.item = s.item
	c.secrets(o.Fetchers)
	c.fetchers(o.Fetchers)
	c.items()
	for _, rs := range s.rules {
		c.rule(rs)
	}
	c.rest()
	c.withoutKey()
	c.tests()
	c.out.shape = c.shape()
	c.narrow()
	found := c.all().Sort()
	if found.HasErrors() {
		return nil, found
	}
	return c.out, found
}

// expr compiles a whole scalar; nil where it is not set or has faults.
func (c *compiler) expr(t text, sc scope, mode exprMode) *expression {
	if !t.set() {
		return nil
	}
	return c.compile(t, 0, len(t.s), sc, mode)
}

const noCursorWithKey = "with `key` there is a cursor for each key: none of them is in scope here"

// fetchers compiles the steps.
func (c *compiler) fetchers(registry map[string]fetchers.Fetcher) {
	names := slices.Sorted(maps.Keys(registry))
	for name, n := range c.spec.defaults {
		if _, ok := registry[name]; !ok {
			c.fault(n, "unknown-fetcher", fmt.Sprintf("there is no fetcher `%s`", name), hintNearest(name, names))
		}
	}
	seen := map[string]*shape{"target": c.out.target.names()}
	why := map[string]string{"item": "what is polled is not known before it was asked for", "doc": "what is polled is not known before it was asked for"}
	if c.spec.key.set() {
		why["cursor"] = noCursorWithKey
	} else {
		seen["cursor"] = anyShape
	}
	c.docs = &shape{what: "doc"}
	if c.spec.several {
		c.docs.fields = map[string]*shape{}
	}
	for _, st := range c.spec.steps {
		sc := scope{names: maps.Clone(seen), why: why}
		doc := c.step(st, registry, names, sc)
		if !c.spec.several {
			c.docs = doc
		}
		if st.as.set() {
			if seen[st.as.s] != nil || st.as.s == "env" || st.as.s == "secret" {
				c.fault(st.as.n, "name", fmt.Sprintf("a step cannot be called `%s`", st.as.s), "the name has another meaning")
			}
			seen[st.as.s] = doc
			c.docs.fields[st.as.s] = doc
		}
	}
}

// step compiles a step and gives the shape of its document.
func (c *compiler) step(st stepSpec, registry map[string]fetchers.Fetcher, names []string, sc scope) *shape {
	f, ok := registry[st.fetcher.s]
	if !ok {
		c.fault(st.fetcher.n, "unknown-fetcher", fmt.Sprintf("there is no fetcher `%s`", st.fetcher.s), hintNearest(st.fetcher.s, names))
		return anyShape
	}
	if f.Stream {
		c.out.stream = true
		switch {
		case c.spec.several:
			c.fault(st.fetcher.n, "stream-step", fmt.Sprintf("`%s` is a stream, it cannot be one of several steps", f.Name), "write `fetch: {"+f.Name+": {…}}`")
		case c.spec.key.set():
			c.fault(c.spec.key.n, "stream-key", "a stream has no key: its lines come and do not stay", "leave `key` out")
		}
	}
	out := step{name: st.as.s, fetcher: f, when: c.expr(st.when, sc, exprMode{bool: true})}
	before := len(c.found)
	opts, raw := optionReader{reader: c.reader, scope: sc, target: c.out.target, secrets: c.out.secretNames(), shared: c.shared}.options(f, st.options, c.spec.defaults[f.Name])
	for _, o := range opts {
		if o.Name == "failure" {
			out.failData = o.fixed == "data"
		}
		if slices.ContainsFunc(f.Options, func(own fetchers.Option) bool { return own.Name == o.Name }) {
			out.options = append(out.options, o)
		}
	}
	if f.Check != nil && !c.found[before:].HasErrors() {
		if err := f.Check(raw); err != nil {
			c.fault(c.faultOf(st, err.Error()), "fetch", err.Error(), "")
		}
	}
	c.out.steps = append(c.out.steps, out)
	what := "doc"
	if st.as.set() {
		what = st.as.s
	}
	if c.found[before:].HasErrors() { // one fault is enough
		return anyShape
	}
	return docShape(f, what, raw[f.Listed] != nil, out.failData)
}

// items compiles extract, key and cursor.
func (c *compiler) items() {
	s := c.spec
	vars, why := []string{"$target", "$now"}, map[string]string{}
	if s.key.set() {
		why["$cursor"] = noCursorWithKey
	} else {
		vars = append(vars, "$cursor")
	}
	program := s.extract
	if !program.set() {
		program = text{s: ".", n: s.fetchAt}
		if c.out.stream {
			program.s = ".lines[]"
		}
	}
	if program.n != nil {
		c.out.extract = c.jq(program, vars, why)
		if c.out.extract != nil {
			c.assignments(program)
			c.readsOfDoc(program)
		}
	}
	c.item = shapeOf(s.item, "item")
	c.out.key = c.expr(s.key, scope{names: map[string]*shape{"item": c.item, "target": c.out.target.names()}}, exprMode{})
	c.mustBe(c.out.key, "key", valString, valNumber)
	names := c.names("item", "items", "doc", "target", "now")
	names["cursor"] = anyShape
	c.out.cursor = c.expr(s.cursor, scope{names: names}, exprMode{})
	c.out.cursorType = s.item
	if s.cursor.set() {
		c.out.cursorType = nil
		if c.out.cursor != nil && c.out.cursor.shape.typ != nil {
			c.out.cursorType = c.out.cursor.shape.typ
		}
	}
	c.cursor = shapeOf(c.out.cursorType, "cursor")
}

// names are shapes of the names that expressions know.
func (c *compiler) names(names ...string) map[string]*shape {
	m := make(map[string]*shape, len(names))
	for _, n := range names {
		switch n {
		case "item":
			m[n] = c.item
		case "items":
			m[n] = &shape{what: "items", elem: c.item}
		case "cursor":
			m[n] = c.cursor
		case "target":
			m[n] = c.out.target.names()
		case "doc":
			m[n] = c.docs
		default:
			m[n] = nameShapes[n]
		}
	}
	return m
}

func (c *compiler) whenScope() scope {
	if c.when.names == nil {
		c.when = scope{names: c.names("item", "cursor", "appeared", "changed", "gone", "first", "items", "quiet", "doc", "target", "now")}
	}
	return c.when
}

func (c *compiler) textScope() scope {
	if c.said.names != nil {
		return c.said
	}
	c.said = scope{
		names: c.names("target", "item", "cursor", "count", "quiet", "now"), text: true,
		why: map[string]string{
			"doc":   "`doc` is what the polled system said: a text never quotes it",
			"items": "`items` is not in scope in a text: `count` is how many there are",
		},
	}
	return c.said
}

func (c *compiler) rule(rs ruleSpec) {
	out := &rule{hold: rs.hold}
	if rs.hold.from.set() {
		if out.given = c.given(rs.hold.from.n, "for", "hold", c.out.target.names(), valNumber, valSpan); out.given != nil {
			c.out.target.check(func(values map[string]any) error { _, err := out.hold.of(out.given, values); return err })
		}
	}
	out.when = c.expr(rs.when, c.whenScope(), exprMode{bool: true})
	out.until = c.expr(rs.until, c.whenScope(), exprMode{bool: true})
	out.says = c.saying(rs.kind.s, rs.level, rs.text, rs.url, rs.fields)
	if rs.cleared != nil {
		cleared := c.saying(rs.cleared.kind.s, rs.cleared.level, rs.cleared.text, rs.url, nil)
		out.cleared = &cleared
	}
	if c.out.stream && out.when != nil {
		for _, name := range []string{"appeared", "changed", "gone"} {
			if out.when.uses(name) {
				c.warn(rs.when.n, "never-holds", fmt.Sprintf("in a stream `%s` never holds: a line comes once", name), "leave it out")
			}
		}
	}
	c.ruleDoubts(rs, out)
	out.id = c.ruleID(rs)
	c.out.rules = append(c.out.rules, out)
}

// ruleID names a rule in the saved state: the same rule has the same name after the spec was edited around it.
func (c *compiler) ruleID(rs ruleSpec) string {
	id := digest(rs.kind.s, rs.when.s, rs.hold.String(), rs.until.s)
	for i := 2; slices.ContainsFunc(c.out.rules, func(r *rule) bool { return r.id == id }); i++ {
		id = digest(id, fmt.Sprint(i))
	}
	return id
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

func (c *compiler) saying(kind, level string, says, url text, fields []fieldSpec) saying {
	out := saying{kind: kind, level: eventlog.Alert}
	if level == "note" {
		out.level = eventlog.Note
	}
	mode := exprMode{lenient: true}
	out.text = c.template(says, c.textScope(), mode)
	c.wholeNames(out.text)
	if !url.set() {
		url = c.spec.url
	}
	out.url = c.template(url, c.textScope(), mode)
	for _, f := range fields {
		if t := c.template(f.value, c.textScope(), mode); t != nil {
			out.fields = append(out.fields, field{f.name.s, t})
		}
	}
	return out
}

// wholeNames refuses `${item}` where the item has names: a mapping says nothing.
func (c *compiler) wholeNames(t *template) {
	if t == nil {
		return
	}
	for _, p := range t.pieces {
		if p.e != nil && p.e.shape != nil && p.e.shape.fields != nil && p.e.shape.what != "" {
			c.inside(p.e.at.n, p.e.from, len([]rune(p.e.code)), Error, "text-speaks", fmt.Sprintf("`%s` has names: it says nothing as a whole", p.e.shape.what),
				partsHint(p.e.shape))
		}
	}
}

// partsHint names the parts of a value that speak.
func partsHint(s *shape) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		if f := s.fields[name]; f.typ == nil || f.typ.name != typeText && f.typ.name != typeNames {
			parts = append(parts, "`"+s.what+"."+name+"`")
		}
	}
	if len(parts) == 0 {
		return "give one of its parts a type that speaks"
	}
	return "name a part of it: " + strings.Join(parts, ", ")
}

// rest compiles what follows the rules.
func (c *compiler) rest() {
	s := c.spec
	names := c.names("items", "target")
	names["cursor"] = c.cursor
	if s.key.set() {
		names["cursor"] = anyShape // all of them, by key
	}
	c.out.done = c.expr(s.done, scope{names: names}, exprMode{bool: true})
	names = maps.Clone(names)
	names["events"], names["waiting"] = nameShapes["events"], nameShapes["waiting"]
	c.out.busy = c.expr(s.busy, scope{names: names}, exprMode{bool: true})
	why := map[string]string{"item": "a summary stands between polls: it knows `cursor` and `target`"}
	for _, l := range s.summary {
		line := summaryLine{
			when: c.expr(l.when, scope{names: c.names("cursor", "target"), why: why}, exprMode{bool: true}),
			text: c.template(l.text, scope{names: c.names("cursor", "target"), why: why, text: true}, exprMode{lenient: true}),
		}
		c.out.summary = append(c.out.summary, line)
	}
}

// shape says what the saved cursors are: where it is another one, they mean nothing any more.
func (c *compiler) shape() string {
	s := c.spec
	return digest(s.key.s, s.item.shape(), s.cursor.s, fmt.Sprint(c.out.stream))
}
