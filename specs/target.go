package specs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/internal/value"
	"gopkg.in/yaml.v3"
)

// targetParser turns the words after `watch` into a target.
type targetParser struct {
	args    []argParser
	flags   []flagParser
	require []requirement
	checks  []func(values map[string]any) error
	usage   []string
	shape   *shape   // of `target`, once it is asked for
	lost    bool     // not all names are known
	groups  []string // of patterns that do not compile
}

type argParser struct {
	name    string
	pattern *regexp.Regexp
	help    string
}

type flagParser struct {
	flagSpec
	def any // the value without the flag
}

type requirement struct {
	that   *expression
	orElse string
}

// names are the names that `target` has. It is asked for when they are all known.
func (p *targetParser) names() *shape {
	if p.shape != nil {
		return p.shape
	}
	s := &shape{what: "target", fields: map[string]*shape{}}
	word := func(name string) *shape { return &shape{is: valString, what: "target." + name} }
	for _, a := range p.args {
		s.fields[a.name] = word(a.name)
		if a.pattern != nil {
			for _, g := range a.pattern.SubexpNames() {
				if g != "" {
					s.fields[g] = word(g)
				}
			}
		}
	}
	for _, f := range p.flags {
		s.fields[f.name.s] = &shape{is: flagKinds[f.typ], what: "target." + f.name.s}
	}
	for _, g := range p.groups {
		s.fields[g] = word(g)
	}
	if p.lost { // any name may be there
		s.fields = nil
	}
	p.shape = s
	return s
}

// compileTarget makes the parser, and reports what is wrong with it.
func (r *reader) compileTarget(s *Spec) *targetParser {
	p := &targetParser{usage: slices.Clone(s.Usage), lost: s.target.lost}
	for _, a := range s.target.args {
		if !a.name.set() {
			continue
		}
		ap := argParser{name: a.name.s, help: a.help}
		if a.pattern.set() {
			ap.pattern = regexp.MustCompile(`\A(?:` + a.pattern.s + `)\z`)
		}
		if a.text != "" && ap.pattern == nil { // what it would give is still known
			for _, g := range groupName().FindAllStringSubmatch(a.text, -1) {
				p.groups = append(p.groups, g[1])
			}
		}
		p.args = append(p.args, ap)
		if a.help != "" {
			p.usage = append(p.usage, fmt.Sprintf("  <%s>  %s", a.name.s, a.help))
		}
	}
	r.clashes(s.target, p.args)
	for _, f := range s.target.flags {
		fp := flagParser{flagSpec: f}
		if f.def != nil && f.typ != "" {
			fp.def = r.flagDefault(f)
		} else if f.typ == "bool" {
			fp.def = false
		}
		p.flags = append(p.flags, fp)
		p.usage = append(p.usage, f.usage())
	}
	sc := scope{names: map[string]*shape{"target": p.names()}}
	for _, q := range s.target.require {
		if !q.that.set() || !q.orElse.set() {
			continue
		}
		if e := r.compile(q.that, 0, len(q.that.s), sc, exprMode{bool: true}); e != nil {
			p.require = append(p.require, requirement{e, q.orElse.s})
		}
	}
	return p
}

// clashes notes the names that two parts of a target have: one of their values would be lost. Two arguments or two flags
// of one name were noted when they were read.
func (r *reader) clashes(t targetSpec, args []argParser) {
	owner := map[string]string{}
	for _, a := range args {
		owner[a.name] = "an argument"
	}
	note := func(n *yaml.Node, at int, what, name string) {
		if first := owner[name]; first != "" {
			r.inside(n, at, len(name), Error, "name", fmt.Sprintf("%s `%s` has the name of %s", what, name, first), "call one of them differently")
		}
	}
	for i, a := range args {
		if a.pattern == nil {
			continue
		}
		at := named(t.args, i)
		for _, g := range a.pattern.SubexpNames() {
			if g != "" {
				note(at.n, strings.Index(at.s, "<"+g+">")+1, "the group", g)
				owner[g] = "a group of `" + a.name + "`"
			}
		}
	}
	for _, f := range t.flags {
		if f.name.set() {
			note(f.name.n, 0, "the flag", f.name.s)
		}
	}
}

// named is the pattern of the argument that is number i of those with a name.
func named(args []argSpec, i int) text {
	for _, a := range args {
		if a.name.set() {
			if i == 0 {
				return a.pattern
			}
			i--
		}
	}
	return text{}
}

var groupName = lazily(`\(\?P?<(\w+)>`)

func (f flagSpec) usage() string {
	s := "  --" + f.name.s
	switch f.typ {
	case "bool":
	case "word":
		s += " " + strings.Join(f.words, "|")
	default:
		s += " <" + f.typ + ">"
	}
	if f.help != "" {
		s += "  " + f.help
	}
	if f.def != nil && f.def.Kind == yaml.ScalarNode && f.typ != "bool" {
		s += " (default " + f.def.Value + ")"
	}
	return s
}

func (r *reader) flagDefault(f flagSpec) any {
	n := f.def
	if n.Kind != yaml.ScalarNode {
		r.fault(n, "type", "a default is one value, this is "+describe(n), "")
		return nil
	}
	if n.Tag == "!!null" {
		return nil
	}
	if (f.typ == "string" || f.typ == "word") && n.Tag != "!!str" {
		return r.str(n).s
	}
	v, err := f.parse(n.Value)
	if err != nil {
		hint := ""
		if f.typ == "duration" {
			hint = durationHint(n.Value)
		}
		r.fault(n, "flag-default", fmt.Sprintf("the default of `--%s` is not fit: %v", f.name.s, err), hint)
	}
	return v
}

// parse reads what was typed for a flag.
func (f flagSpec) parse(s string) (any, error) {
	switch f.typ {
	case "int":
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", s)
		}
		return n, nil
	case "number":
		n, err := value.Decode([]byte(s))
		if err != nil || !value.IsNumber(n) {
			return nil, fmt.Errorf("%q is not a number", s)
		}
		return n, nil
	case "bool":
		switch s {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is not true or false", s)
	case "duration":
		d, err := parseDuration(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not a duration (5s, 10m, 1h30m)", s)
		}
		return d, nil
	case "word":
		if !slices.Contains(f.words, s) {
			return nil, fmt.Errorf("%q is not one of %s", s, strings.Join(f.words, ", "))
		}
	}
	return s, nil
}

// maxWord bounds a word that the user typed.
const maxWord = 4096

// parse is [engine.Source.ParseTarget].
func (p *targetParser) parse(words []string) (engine.Target, error) {
	var t engine.Target
	positional, flags, err := p.sort(words)
	if err != nil {
		return t, err
	}
	if len(positional) < len(p.args) {
		return t, p.refuse("watch needs <%s>", p.args[len(positional)].name)
	}
	if len(positional) > len(p.args) {
		return t, p.refuse("unexpected argument: %s", positional[len(p.args)])
	}
	values := map[string]any{}
	for _, f := range p.flags {
		values[f.name.s] = f.def
	}
	for i, a := range p.args {
		if err := p.match(a, positional[i], values); err != nil {
			return t, err
		}
	}
	for name, v := range flags {
		values[name] = v
	}
	for _, q := range p.require {
		ok, err := q.that.holds(targetEnv(values))
		if err != nil {
			return t, fmt.Errorf("check the target: %w", err)
		}
		if !ok {
			return t, p.refuse("%s", q.orElse)
		}
	}
	for _, fits := range p.checks {
		if err := fits(values); err != nil {
			return t, p.refuse("%v", err)
		}
	}
	t.Text = strings.Join(positional, " ")
	raw, err := value.Encode(saved(values))
	t.Value = json.RawMessage(raw)
	return t, err
}

func (p *targetParser) refuse(format string, args ...any) error {
	return &engine.UsageError{Text: fmt.Sprintf(format, args...), Hint: strings.Join(p.usage, "\n")}
}

// sort parts words into arguments and flags. After `--` all are arguments.
func (p *targetParser) sort(words []string) (positional []string, flags map[string]any, err error) {
	flags = map[string]any{}
	for i := 0; i < len(words); i++ {
		if !utf8.ValidString(words[i]) {
			return nil, nil, p.refuse("a word of the target is not UTF-8: %q", words[i])
		}
		w := cleanWord(words[i])
		if len(w) > maxWord {
			return nil, nil, p.refuse("a word of the target is longer than %d bytes", maxWord)
		}
		if w == "--" {
			for _, rest := range words[i+1:] {
				if !utf8.ValidString(rest) {
					return nil, nil, p.refuse("a word of the target is not UTF-8: %q", rest)
				}
				positional = append(positional, cleanWord(rest))
			}
			break
		}
		if !strings.HasPrefix(w, "-") || w == "-" {
			positional = append(positional, w)
			continue
		}
		name, v, inline := strings.Cut(strings.TrimPrefix(w, "--"), "=")
		at := slices.IndexFunc(p.flags, func(f flagParser) bool { return "--"+f.name.s == "--"+name && strings.HasPrefix(w, "--") })
		if at < 0 {
			return nil, nil, p.refuse("unknown option: %s", w)
		}
		f := p.flags[at]
		switch {
		case !inline && f.typ == "bool":
			v = "true"
		case !inline && i+1 < len(words):
			i++
			v = cleanWord(words[i])
		case !inline:
			return nil, nil, p.refuse("--%s needs a value", name)
		}
		parsed, err := f.parse(v)
		if err != nil {
			return nil, nil, p.refuse("--%s: %v", name, err)
		}
		flags[name] = parsed
	}
	return positional, flags, nil
}

// match puts an argument and the named groups of its pattern into values; a group that took no part is nil.
func (p *targetParser) match(a argParser, word string, values map[string]any) error {
	if word == "" {
		return p.refuse("<%s> is empty", a.name)
	}
	values[a.name] = word
	if a.pattern == nil {
		return nil
	}
	m := a.pattern.FindStringSubmatchIndex(word)
	if m == nil {
		if len(p.usage) > 0 {
			return p.refuse("%q is not a target of this source", word)
		}
		return p.refuse("%q does not match %s", word, strings.TrimSuffix(strings.TrimPrefix(a.pattern.String(), `\A(?:`), `)\z`))
	}
	for i, g := range a.pattern.SubexpNames() {
		if g == "" {
			continue
		}
		if values[g] == nil {
			values[g] = nil
			if m[2*i] >= 0 {
				values[g] = word[m[2*i]:m[2*i+1]]
			}
		}
	}
	return nil
}

// values are the parsed target as expressions see it.
func (p *targetParser) values(raw json.RawMessage) (map[string]any, error) {
	v, err := value.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read the saved target: %w", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read the saved target: it is no object")
	}
	for _, f := range p.flags {
		if s, ok := m[f.name.s].(string); ok && f.typ == "duration" {
			if d, err := time.ParseDuration(s); err == nil {
				m[f.name.s] = d
			}
		}
	}
	// A name that came into the spec after the target was watched is nothing, or its default.
	for _, f := range p.flags {
		if _, ok := m[f.name.s]; !ok {
			m[f.name.s] = f.def
		}
	}
	return m, nil
}
