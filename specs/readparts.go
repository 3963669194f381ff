package specs

import (
	"fmt"
	"slices"
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
	"gopkg.in/yaml.v3"
)

// pairs walks over a mapping with free names, each one once.
func (r *reader) pairs(n *yaml.Node, what string, each func(k, v *yaml.Node)) {
	if !r.mapping(n, what) {
		return
	}
	if plainPairs(n.Content) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			each(n.Content[i], n.Content[i+1])
		}
		return
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k, v := n.Content[i], n.Content[i+1]; r.once(seen, k, v) {
			each(k, v)
		}
	}
}

// plainPairs reports whether once has nothing to say of a short mapping: most of a spec is that.
func plainPairs(content []*yaml.Node) bool {
	if len(content) > 32 {
		return false
	}
	for i := 0; i+1 < len(content); i += 2 {
		if k := content[i]; k.Kind != yaml.ScalarNode || k.Tag == "!!merge" || content[i+1].Kind == yaml.AliasNode {
			return false
		}
		for j := 0; j < i; j += 2 {
			if content[j].Value == content[i].Value {
				return false
			}
		}
	}
	return true
}

func (r *reader) defaults(n *yaml.Node) map[string]*yaml.Node {
	m := map[string]*yaml.Node{}
	r.pairs(n, "defaults", func(k, v *yaml.Node) { m[k.Value] = v })
	return m
}

func (r *reader) env(n *yaml.Node) map[string]string {
	m := map[string]string{}
	r.pairs(n, "env", func(k, v *yaml.Node) { m[k.Value] = r.str(v).s })
	return m
}

func (r *reader) secrets(n *yaml.Node) []secretSpec {
	var secrets []secretSpec
	r.pairs(n, "secrets", func(k, v *yaml.Node) {
		s := secretSpec{name: r.ident(k), keep: 5 * time.Minute}
		object(r, v, "secret", secretKeys(), &s)
		if s.name.set() && s.command != nil {
			secrets = append(secrets, s)
		}
	})
	return secrets
}

func (r *reader) keep(n *yaml.Node) time.Duration {
	d := r.duration(n)
	if d != 0 && (d < time.Second || d > 24*time.Hour) {
		r.fault(n, "range", "`keep` is 1s to 24h, this is "+n.Value, "")
	}
	return d
}

// fetch reads one step, or a list of steps.
func (r *reader) fetch(n *yaml.Node, s *Spec) {
	s.fetchAt = n
	if n.Kind != yaml.SequenceNode {
		if st, ok := r.step(n, false); ok {
			s.steps = []stepSpec{st}
		}
		return
	}
	s.several = true
	names := map[string]bool{}
	for _, c := range r.sequence(n, "fetch") {
		st, ok := r.step(c, true)
		if !ok {
			continue
		}
		if st.as.set() && names[st.as.s] {
			r.fault(st.as.n, "duplicate-key", fmt.Sprintf("two steps are called `%s`", st.as.s), "")
		}
		names[st.as.s] = true
		s.steps = append(s.steps, st)
	}
	if len(n.Content) == 0 {
		r.fault(n, "missing-key", "fetch has no step", "")
	}
}

// step reads one way to ask: `as` and `when` belong to a list of steps, the other key is the fetcher. Whether there
// is such a fetcher is known when the spec is compiled.
func (r *reader) step(n *yaml.Node, several bool) (st stepSpec, ok bool) {
	st.at = n
	what := "fetch"
	if several {
		what = "a step"
	}
	var extra bool
	r.pairs(n, what, func(k, v *yaml.Node) {
		meant := ""
		if several && len(n.Content) > 4 { // one of them may be a word of the step itself, misspelled
			meant = nearest(k.Value, []string{"as", "when"})
		}
		if w := foreignStepKeys[k.Value]; several && w != "" {
			meant = w
		}
		switch {
		case meant != "" && meant != k.Value && member(n, meant) == nil:
			r.fault(k, "unknown-key", fmt.Sprintf("a step has no key `%s`", k.Value), "did you mean `"+meant+"`?")
			if meant == "as" {
				st.as = r.ident(v)
			} else {
				st.when = r.expr(v)
			}
		case several && k.Value == "as":
			st.as = r.ident(v)
		case several && k.Value == "when":
			st.when = r.expr(v)
		case st.fetcher.set():
			extra = true
			r.fault(k, "two-fetchers", fmt.Sprintf("two fetchers in one step: `%s` and `%s`", st.fetcher.s, k.Value), "make a list of steps: `- {as: name, "+k.Value+": {…}}`")
		default:
			st.fetcher, st.options = text{s: k.Value, n: k}, v
		}
	})
	if n.Kind != yaml.MappingNode || extra {
		return st, false
	}
	if !st.fetcher.set() {
		r.fault(n, "missing-key", what+" names no fetcher", "")
		return st, false
	}
	if several && !st.as.set() {
		r.fault(n, "missing-key", "a step of a list has no `as`: the name of its document", "")
	}
	return st, true
}

// args reads the words of a target: each a name, or a mapping. lost is set where a name of the target is not known.
func (r *reader) args(n *yaml.Node, lost *bool) []argSpec {
	*lost = *lost || n.Kind != yaml.SequenceNode
	var args []argSpec
	seen := map[string]bool{}
	for _, c := range r.sequence(n, "args") {
		var a argSpec
		if c.Kind == yaml.MappingNode {
			object(r, c, "argument", argKeys(), &a)
		} else {
			a.name = r.ident(c)
		}
		if a.name.set() && seen[a.name.s] {
			r.fault(a.name.n, "duplicate-key", fmt.Sprintf("two arguments are called `%s`", a.name.s), "")
		}
		seen[a.name.s] = true
		*lost = *lost || !usable(a.name.s)
		args = append(args, a)
	}
	return args
}

func (r *reader) flags(n *yaml.Node, lost *bool) []flagSpec {
	*lost = *lost || n.Kind != yaml.MappingNode
	var flags []flagSpec
	r.pairs(n, "flags", func(k, v *yaml.Node) {
		f := flagSpec{name: r.ident(k), typ: "string"}
		if slices.Contains(ownFlags, k.Value) {
			r.fault(k, "name", fmt.Sprintf("`--%s` is a flag of sessevents itself", k.Value), "give it another name")
		}
		object(r, v, "flag", flagKeys(), &f)
		*lost = *lost || !usable(f.name.s)
		flags = append(flags, f)
	})
	return flags
}

// ownFlags are the flags of the command line that a source cannot have.
var ownFlags = []string{"id", "pid", "spec", "help", "json", "interval", "mode", "since", "timeout", "all", "version"}

var flagTypes = []string{"string", "int", "number", "bool", "duration"}

func (r *reader) flagType(n *yaml.Node, f *flagSpec) {
	if n.Kind == yaml.SequenceNode {
		f.typ, f.words = "word", r.strings(n)
		return
	}
	f.typ = r.word(n, flagTypes)
}

func (r *reader) rule(n *yaml.Node) ruleSpec {
	v := ruleSpec{at: n}
	object(r, n, "rule", ruleKeys(), &v)
	if v.cleared != nil && !v.until.set() {
		r.fault(member(n, "cleared"), "missing-key", "`cleared` without `until` is never emitted", "say when: `until: …`")
	}
	return v
}

func (r *reader) fields(n *yaml.Node) []fieldSpec {
	var fields []fieldSpec
	r.pairs(n, "fields", func(k, v *yaml.Node) {
		switch {
		case eventlog.Reserved(k.Value):
			r.fault(k, "name", fmt.Sprintf("`%s` belongs to the event itself", k.Value), "give the field another name")
			return
		case !isIdent(k.Value):
			r.fault(k, "name", fmt.Sprintf("a field cannot be called %q", k.Value), "a letter, then letters, digits and _")
			return
		}
		if t := r.str(v); t.set() {
			fields = append(fields, fieldSpec{name: text{s: k.Value, n: k}, value: t})
		}
	})
	return fields
}
