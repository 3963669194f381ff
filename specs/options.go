package specs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/fetchers"
	"gopkg.in/yaml.v3"
)

// commonOptions are those of every step, whatever its fetcher.
var commonOptions = []fetchers.Option{
	{Name: "timeout", Help: "How long the question may take.", Type: fetchers.Duration, Default: 30 * time.Second, Min: int64(time.Millisecond), Max: int64(time.Hour)},
	{Name: "failure", Help: "`data` turns \"we could not ask\" into the document `{error: <word>}`; `poll` fails the poll.", Type: fetchers.Word, Words: []string{"poll", "data"}, Default: "poll"},
}

// optionsOf is a fetcher's table with the common options that it does not have itself.
func optionsOf(f fetchers.Fetcher) []fetchers.Option {
	all := append(make([]fetchers.Option, 0, len(f.Options)+len(commonOptions)), f.Options...)
	for _, c := range commonOptions {
		if !slices.ContainsFunc(all, func(o fetchers.Option) bool { return o.Name == c.Name }) {
			all = append(all, c)
		}
	}
	return all
}

// option is one option of a step, ready to be resolved in each poll.
type option struct {
	fetchers.Option
	// fixed is the value where there is nothing to resolve.
	fixed any
	// resolve gives the value; nil leaves the option out.
	resolve func(env map[string]any) (any, error)
	// env are the environment variables that it names.
	env []string
	// secrets are the secrets that it names.
	secrets []string
	// polled says that it is made from what was polled before, so that nothing may quote it.
	polled bool
	// at is where it stands.
	at *yaml.Node
}

// value is the option's value in one poll.
func (o option) value(env map[string]any) (any, error) {
	if o.resolve == nil {
		return o.fixed, nil
	}
	v, err := o.resolve(env)
	if err != nil {
		var ee *EvalError
		if errors.As(err, &ee) {
			return nil, err
		}
		return nil, fmt.Errorf("option %s: %w", o.Name, err)
	}
	return v, nil
}

// optionReader reads the options of one step.
type optionReader struct {
	*reader
	scope   scope
	target  *targetParser
	secrets *shape
	shared  map[*yaml.Node]readOption // of `defaults`, as the first step that has them reads them: those behind it can name the same and more
}

// readOption is what was made of an option as it stands in the spec.
type readOption struct {
	option
	raw any // nil: nothing that a check needs
	ok  bool
}

// options reads a mapping of options by the fetcher's table; raw are the values as they stand, for the fetcher's own
// check.
func (r optionReader) options(f fetchers.Fetcher, n, defaults *yaml.Node) (opts []option, raw map[string]any) {
	table := optionsOf(f)
	names := make([]string, len(table))
	for i, o := range table {
		names[i] = o.Name
	}
	given := map[string]*yaml.Node{}
	read := func(n *yaml.Node, what string) map[string]*yaml.Node {
		m := map[string]*yaml.Node{}
		if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
			return m
		}
		r.pairs(n, what, func(k, v *yaml.Node) {
			if !slices.Contains(names, k.Value) {
				r.unknownKey(k, v, "`"+f.Name+"`", names, map[string]*yaml.Node{})
				return
			}
			m[k.Value] = v
		})
		return m
	}
	if defaults != nil {
		given = read(defaults, "defaults of "+f.Name)
	}
	own := read(n, "`"+f.Name+"`")
	raw, opts = map[string]any{}, make([]option, 0, len(table))
	for _, row := range table {
		base, mine := given[row.Name], own[row.Name]
		var o option
		ok := false
		switch {
		case row.Type == fetchers.Map && base != nil && mine != nil:
			o, ok = r.merged(row, base, mine, raw)
		case mine != nil:
			o, ok = r.option(row, mine, raw)
		case base != nil:
			o, ok = r.sharedOption(row, base, raw)
		case row.Default != nil:
			o, ok = option{Option: row, fixed: row.Default}, true
			raw[row.Name] = row.Default
		}
		if ok {
			opts = append(opts, o)
		}
	}
	return opts, raw
}

// sharedOption is option for a value that other steps have too.
func (r optionReader) sharedOption(row fetchers.Option, n *yaml.Node, raw map[string]any) (option, bool) {
	read, known := r.shared[n]
	if !known {
		read.option, read.ok = r.option(row, n, raw)
		read.raw = raw[row.Name]
		r.shared[n] = read
	} else if read.raw != nil {
		raw[row.Name] = read.raw
	}
	return read.option, read.ok
}

// merged is a map of the defaults with the step's own names over it.
func (r optionReader) merged(row fetchers.Option, base, mine *yaml.Node, raw map[string]any) (option, bool) {
	if base.Kind != yaml.MappingNode || mine.Kind != yaml.MappingNode {
		return r.option(row, mine, raw)
	}
	both := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: mine.Line, Column: mine.Column}
	for i := 0; i+1 < len(base.Content); i += 2 {
		if member(mine, base.Content[i].Value) == nil {
			both.Content = append(both.Content, base.Content[i], base.Content[i+1])
		}
	}
	both.Content = append(both.Content, mine.Content...)
	return r.option(row, both, raw)
}

// option reads one value by its row.
func (r optionReader) option(row fetchers.Option, n *yaml.Node, raw map[string]any) (option, bool) {
	before := len(r.found)
	o := option{Option: row, at: n}
	switch row.Type {
	case fetchers.String:
		t := r.optionText(row, n)
		raw[row.Name] = t.s
		r.stringOption(&o, t)
	case fetchers.Word:
		o.fixed = r.word(n, row.Words)
	case fetchers.Int:
		o.fixed = r.number(n, row)
	case fetchers.Bool:
		o.fixed = r.bool(n)
	case fetchers.Duration:
		if isTemplate(n) {
			r.givenOption(&o, n)
			break
		}
		d := r.duration(n)
		if d != 0 && (row.Min != 0 || row.Max != 0) && (int64(d) < row.Min || int64(d) > row.Max) {
			r.fault(n, "range", fmt.Sprintf("`%s` is %s to %s, this is %s", row.Name, short(time.Duration(row.Min)), short(time.Duration(row.Max)), n.Value), "")
		}
		o.fixed = d
	case fetchers.Size:
		o.fixed = r.size(n, row)
	case fetchers.Ints:
		o.fixed = r.numbers(n, row)
	case fetchers.Strings:
		raw[row.Name] = r.stringsOption(&o, n)
	case fetchers.Map:
		raw[row.Name] = r.mapOption(&o, n)
	case fetchers.JSON:
		raw[row.Name] = plainJSON(n)
		o.resolve = r.jsonOption(&o, n)
	case fetchers.Pages:
		o.fixed = r.pages(n)
	}
	if o.resolve == nil && o.fixed != nil {
		raw[row.Name] = o.fixed
	}
	return o, len(r.found) == before || !r.found[before:].HasErrors()
}

// givenOption is a duration that the target gives.
func (r optionReader) givenOption(o *option, n *yaml.Node) {
	e := r.given(n, o.Name, "duration", r.scope.names["target"], valSpan)
	if e == nil {
		return
	}
	least, most := time.Duration(max(o.Min, 1)), time.Duration(o.Max)
	what := "`" + o.Name + "`"
	o.resolve = func(env map[string]any) (any, error) { return givenDuration(e, what, least, most, env) }
	r.target.check(func(values map[string]any) error { _, err := o.resolve(targetEnv(values)); return err })
}

// optionText is a string; numbers are taken as they stand, for in a URL or an argument a number is a number.
func (r optionReader) optionText(row fetchers.Option, n *yaml.Node) text {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!int" && decimal().MatchString(n.Value) {
		return text{s: n.Value, n: n}
	}
	return r.str(n)
}

var decimal = lazily(`^(?:0|[1-9][0-9]*)$`)

// optionTemplate compiles a string by what `${}` means in this option.
func (r optionReader) optionTemplate(o *option, t text) *template {
	if !t.set() {
		return nil
	}
	if o.Template == fetchers.NoTemplate {
		if at := strings.Index(t.s, "${"); at >= 0 {
			r.inside(t.n, at, 2, Error, "no-template", fmt.Sprintf("`%s` has no `${}`", o.Name), noTemplateHint(o.Name))
		}
		return &template{at: t, pieces: []piece{{lit: t.s}}}
	}
	sc := scope{names: maps.Clone(r.scope.names), why: maps.Clone(r.scope.why)}
	if o.Env {
		sc.names["env"], sc.names["secret"] = anyShape, r.secrets
	} else {
		for _, name := range []string{"env", "secret"} {
			sc.why[name] = fmt.Sprintf("`%s` is not legal in `%s`: a secret would stand there in the clear", name, o.Name)
		}
	}
	tpl := r.template(t, sc, exprMode{})
	if tpl != nil {
		for _, p := range tpl.pieces {
			if p.e != nil {
				o.env = append(o.env, p.e.env...)
				o.secrets = append(o.secrets, p.e.secrets...)
				for name := range r.scope.names {
					o.polled = o.polled || name != "target" && p.e.uses(name)
				}
			}
		}
	}
	return tpl
}

func noTemplateHint(name string) string {
	if name == "shell" {
		return "use `command`, where each `${}` stays one argument, or read the value from the environment"
	}
	return ""
}

func (r optionReader) stringOption(o *option, t text) {
	tpl := r.optionTemplate(o, t)
	if tpl == nil {
		return
	}
	if lit, ok := tpl.literal(); ok {
		o.fixed = lit
		return
	}
	if o.Template == fetchers.InURL {
		o.resolve = func(env map[string]any) (any, error) { return tpl.encoded(env, whole) }
		return
	}
	if o.Template == fetchers.InGlob {
		o.resolve = func(env map[string]any) (any, error) { return tpl.joinedAs(env, fetchers.GlobLiteral) }
		return
	}
	o.resolve = func(env map[string]any) (any, error) { return tpl.joined(env) }
}

// literal is the text of a template without expressions.
func (t *template) literal() (string, bool) {
	var s string
	for _, p := range t.pieces {
		if p.e != nil {
			return "", false
		}
		s += p.lit
	}
	return s, true
}

// whole is a value as a fetcher gets it.
func whole(v any) (string, bool) {
	s, err := plain(v)
	return s, err == nil
}

// joined renders a template for a fetcher: values whole, and none may be nothing.
func (t *template) joined(env map[string]any) (string, error) {
	return t.joinedAs(env, func(_, value string) string { return value })
}

// joinedAs is joined where a value is written by what stands before it.
func (t *template) joinedAs(env map[string]any, write func(before, value string) string) (string, error) {
	var b strings.Builder
	for _, p := range t.pieces {
		if p.e == nil {
			b.WriteString(p.lit)
			continue
		}
		v, err := p.e.run(env)
		if err != nil {
			return "", err
		}
		s, err := plain(v)
		if err != nil {
			return "", fmt.Errorf("`${%s}`: %w", strings.TrimSpace(p.e.code), err)
		}
		b.WriteString(write(b.String(), s))
	}
	return b.String(), nil
}

func (r optionReader) stringsOption(o *option, n *yaml.Node) []string {
	var tpls []*template
	var raw []string
	fixed := true
	if n.Kind == yaml.ScalarNode {
		hint := listHint(n)
		if words := strings.Fields(n.Value); len(words) > 1 && hint != "" && !strings.Contains(n.Value, "${ ") {
			for i := range words {
				words[i] = listed(words[i])
			}
			hint = "no shell splits it into words: write `[" + strings.Join(words, ", ") + "]`"
		}
		r.fault(n, "type", "`"+o.Name+"` is a list, this is "+describe(n), hint)
		return nil
	}
	for _, c := range r.sequence(n, "`"+o.Name+"`") {
		t := r.optionText(o.Option, c)
		tpl := r.optionTemplate(o, t)
		if tpl == nil {
			continue
		}
		_, lit := tpl.literal()
		fixed = fixed && lit
		tpls, raw = append(tpls, tpl), append(raw, t.s)
	}
	all := func(env map[string]any) (any, error) {
		out := make([]string, len(tpls))
		for i, t := range tpls {
			var err error
			if out[i], err = t.joined(env); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if fixed {
		o.fixed, _ = all(nil)
	} else {
		o.resolve = all
	}
	return raw
}

func (r optionReader) mapOption(o *option, n *yaml.Node) map[string]string {
	tpls, raw := map[string]*template{}, map[string]string{}
	r.pairs(n, "`"+o.Name+"`", func(k, v *yaml.Node) {
		t := r.optionText(o.Option, v)
		raw[k.Value] = t.s
		if tpl := r.optionTemplate(o, t); tpl != nil {
			tpls[k.Value] = tpl
		}
	})
	o.resolve = func(env map[string]any) (any, error) {
		out := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(tpls)) {
			t := tpls[name]
			if e := t.alone(); e != nil {
				v, err := e.run(env)
				if err != nil {
					return nil, err
				}
				if v == nil {
					continue
				}
				if out[name], err = plain(v); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				continue
			}
			s, err := t.joined(env)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = s
		}
		return out, nil
	}
	return raw
}
