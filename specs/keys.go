package specs

import "gopkg.in/yaml.v3"

// kind is what a value of a spec is, as the JSON Schema and the reference say it.
type kind string

const (
	kindString   kind = "string"
	kindName     kind = "name"
	kindExpr     kind = "expr"
	kindJQ       kind = "jq"
	kindTemplate kind = "template"
	kindDuration kind = "duration"
	kindVersion  kind = "version"
	kindWord     kind = "word"
	kindBool     kind = "bool"
	kindAny      kind = "any"
	kindStrings  kind = "strings" // one string or a list of them
	kindWords    kind = "words"   // a list of strings
	kindHold     kind = "hold"    // a count of polls or a duration
	kindItem     kind = "item"
	kindFetch    kind = "fetch"
	kindDefaults kind = "defaults"
	kindFlagType kind = "flag type"
	kindMapOf    kind = "map of"    // any names, each with the rows of sub
	kindListOf   kind = "list of"   // a list of mappings with the rows of sub
	kindObject   kind = "object"    // one mapping with the rows of sub
	kindArgs     kind = "args"      // a list of names or of mappings with the rows of sub
	kindTexts    kind = "templates" // any names, each with a template
	kindEnv      kind = "env"       // any names, each with a string
)

// row is one key of the language as a table shows it.
type row struct {
	name  string
	help  string
	kind  kind
	need  bool
	words []string
	sub   func() []row
}

// keyOf is one key of a mapping that is read into a T. The JSON Schema and the reference are made from the same rows.
type keyOf[T any] struct {
	row
	read func(*reader, *yaml.Node, *T)
}

func rowsOf[T any](keys []keyOf[T]) []row {
	rows := make([]row, len(keys))
	for i, k := range keys {
		rows[i] = k.row
	}
	return rows
}

func specKeys() []keyOf[Spec] {
	return []keyOf[Spec]{
		{row{name: "version", kind: kindVersion, need: true, help: "The version of the language: 1."}, func(r *reader, n *yaml.Node, s *Spec) { s.version = r.version(n) }},
		{row{name: "name", kind: kindName, need: true, help: "What the source is called: `[a-z0-9-]`, at most 40 characters. It is the stem of file names and the sender's name."}, func(r *reader, n *yaml.Node, s *Spec) { s.Name = r.name(n) }},
		{row{name: "interval", kind: kindDuration, need: true, help: "The wait between polls while something goes on: 1s to 24h, whole seconds."}, func(r *reader, n *yaml.Node, s *Spec) { s.Interval = r.interval(n) }},
		{row{name: "idleInterval", kind: kindDuration, help: "The longest wait: each quiet poll doubles the wait from `interval` up to it. Default: `interval`."}, func(r *reader, n *yaml.Node, s *Spec) { s.IdleInterval, s.idleSet = r.interval(n), true }},
		{row{name: "usage", kind: kindStrings, help: "Lines that end `--help`: the form of a target."}, func(r *reader, n *yaml.Node, s *Spec) { s.Usage = r.lines(n) }},
		{row{name: "target", kind: kindObject, help: "What the words after `watch` are.", sub: func() []row { return rowsOf(targetKeys()) }}, func(r *reader, n *yaml.Node, s *Spec) {
			object(r, n, "target", targetKeys(), &s.target)
			s.target.lost = s.target.lost || n.Kind != yaml.MappingNode
		}},
		{row{name: "defaults", kind: kindDefaults, help: "Options that every step of a fetcher shares: `{http: {headers: {…}}}`."}, func(r *reader, n *yaml.Node, s *Spec) { s.defaults = r.defaults(n) }},
		{row{name: "secrets", kind: kindMapOf, help: "Commands that print a secret, by its name: options that take `${env.NAME}` take `${secret.NAME}` too.", sub: func() []row { return rowsOf(secretKeys()) }}, func(r *reader, n *yaml.Node, s *Spec) { s.secrets = r.secrets(n) }},
		{row{name: "fetch", kind: kindFetch, need: true, help: "How to ask the world: one fetcher with its options, or a list of steps `{as: name, when?: expr, <fetcher>: {…}}`."}, func(r *reader, n *yaml.Node, s *Spec) { r.fetch(n, s) }},
		{row{name: "extract", kind: kindJQ, help: "A jq program from the document to a stream of items. Default: `.`, and `.lines[]` for a stream."}, func(r *reader, n *yaml.Node, s *Spec) { s.extract = r.expr(n) }},
		{row{name: "item", kind: kindItem, help: "The type of an item, or names with types: what it may say in a text."}, func(r *reader, n *yaml.Node, s *Spec) { s.item = r.itemType(n, true) }},
		{row{name: "key", kind: kindExpr, help: "The identity of an item, a string or a number: a cursor is kept per key."}, func(r *reader, n *yaml.Node, s *Spec) { s.key = r.expr(n) }},
		{row{name: "cursor", kind: kindExpr, help: "What is remembered for the next poll: any JSON value. Default: `item`."}, func(r *reader, n *yaml.Node, s *Spec) { s.cursor = r.expr(n) }},
		{row{name: "url", kind: kindTemplate, help: "The URL of every event that has none of its own."}, func(r *reader, n *yaml.Node, s *Spec) { s.url = r.says(n) }},
		{row{name: "rules", kind: kindListOf, need: true, help: "When an event happens, and what it says.", sub: func() []row { return rowsOf(ruleKeys()) }}, func(r *reader, n *yaml.Node, s *Spec) { s.rules = list(r, n, "rules", "rule", r.rule) }},
		{row{name: "busy", kind: kindExpr, help: "Whether the next poll follows soon; sees `events`, `waiting` (how many), `items`, `cursor`, `target`. Default: `events > 0`."}, func(r *reader, n *yaml.Node, s *Spec) { s.busy = r.expr(n) }},
		{row{name: "done", kind: kindExpr, help: "Whether the target is finished: one last note, then it is unwatched."}, func(r *reader, n *yaml.Node, s *Spec) { s.done = r.expr(n) }},
		{row{name: "summary", kind: kindListOf, help: "Lines under the target in `status`. Default: the texts of latched rules.", sub: func() []row { return rowsOf(summaryKeys()) }}, func(r *reader, n *yaml.Node, s *Spec) {
			s.summary = list(r, n, "summary", "summary line", func(n *yaml.Node) (v summarySpec) { object(r, n, "summary line", summaryKeys(), &v); return v })
		}},
		{row{name: "tests", kind: kindListOf, help: "Recorded fetches and the events they must give; `sessevents test` runs them.", sub: func() []row { return rowsOf(testKeys()) }}, func(r *reader, n *yaml.Node, s *Spec) {
			s.tests = list(r, n, "tests", "test", func(n *yaml.Node) (v testSpec) { v.at = n; object(r, n, "test", testKeys(), &v); return v })
		}},
	}
}

func targetKeys() []keyOf[targetSpec] {
	return []keyOf[targetSpec]{
		{row{name: "args", kind: kindArgs, help: "The words of a target: names, or `{name, pattern, help}`. Named groups of a pattern become values of `target`.", sub: func() []row { return rowsOf(argKeys()) }}, func(r *reader, n *yaml.Node, t *targetSpec) { t.args = r.args(n, &t.lost) }},
		{row{name: "flags", kind: kindMapOf, help: "Options of `watch`: `{name: {type, default, help}}`.", sub: func() []row { return rowsOf(flagKeys()) }}, func(r *reader, n *yaml.Node, t *targetSpec) { t.flags = r.flags(n, &t.lost) }},
		{row{name: "require", kind: kindListOf, help: "What must hold of a target, and the refusal where it does not.", sub: func() []row { return rowsOf(requireKeys()) }}, func(r *reader, n *yaml.Node, t *targetSpec) {
			t.require = list(r, n, "require", "requirement", func(n *yaml.Node) (v requireSpec) { object(r, n, "requirement", requireKeys(), &v); return v })
		}},
	}
}

func argKeys() []keyOf[argSpec] {
	return []keyOf[argSpec]{
		{row{name: "name", kind: kindString, need: true, help: "The name of the value in `target`."}, func(r *reader, n *yaml.Node, a *argSpec) { a.name = r.ident(n) }},
		{row{name: "pattern", kind: kindString, help: "A regular expression (RE2) that the whole word must match."}, func(r *reader, n *yaml.Node, a *argSpec) { a.pattern = r.pattern(n); a.text = n.Value }},
		{row{name: "help", kind: kindString, help: "A line for `--help`."}, func(r *reader, n *yaml.Node, a *argSpec) { a.help = r.str(n).s }},
	}
}

func flagKeys() []keyOf[flagSpec] {
	return []keyOf[flagSpec]{
		{row{name: "type", kind: kindFlagType, help: "`string` (default), `int`, `number`, `bool`, `duration`, or a list of words."}, func(r *reader, n *yaml.Node, f *flagSpec) { r.flagType(n, f) }},
		{row{name: "default", kind: kindAny, help: "The value without the flag; nil where there is none."}, func(_ *reader, n *yaml.Node, f *flagSpec) { f.def = n }},
		{row{name: "help", kind: kindString, help: "A line for `--help`."}, func(r *reader, n *yaml.Node, f *flagSpec) { f.help = r.str(n).s }},
	}
}

func requireKeys() []keyOf[requireSpec] {
	return []keyOf[requireSpec]{
		{row{name: "that", kind: kindExpr, need: true, help: "What must hold; sees `target`."}, func(r *reader, n *yaml.Node, v *requireSpec) { v.that = r.expr(n) }},
		{row{name: "else", kind: kindString, need: true, help: "The refusal, in the words of the source."}, func(r *reader, n *yaml.Node, v *requireSpec) { v.orElse = r.says(n) }},
	}
}

func secretKeys() []keyOf[secretSpec] {
	return []keyOf[secretSpec]{
		{row{name: "command", kind: kindWords, need: true, help: "The program and its arguments; no shell sees them. Takes `${target.name}`. The first line that it prints is the secret; with another exit code than 0, or where there is no such program, there is none: nil."}, func(_ *reader, n *yaml.Node, s *secretSpec) { s.command = n }},
		{row{name: "keep", kind: kindDuration, help: "How long the secret is kept in memory before the command is asked again: 1s to 24h. Default: 5m; that there is none is kept for a minute at most."}, func(r *reader, n *yaml.Node, s *secretSpec) { s.keep = r.keep(n) }},
	}
}

func ruleKeys() []keyOf[ruleSpec] {
	return []keyOf[ruleSpec]{
		{row{name: "when", kind: kindExpr, need: true, help: "Whether the rule emits; sees `item`, `cursor`, `appeared`, `changed`, `gone`, `first`, `items`, `quiet`, `doc`, `target`, `now`."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.when = r.expr(n) }},
		{row{name: "for", kind: kindHold, help: "How many polls in a row, or how long, `when` must hold before the rule emits. `\"${target.name}\"` takes it from a flag."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.hold = r.hold(n) }},
		{row{name: "until", kind: kindExpr, help: "After it emitted, the rule is silent until this holds."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.until = r.expr(n) }},
		{row{name: "cleared", kind: kindObject, help: "What the rule emits when `until` holds.", sub: func() []row { return rowsOf(clearedKeys()) }}, func(r *reader, n *yaml.Node, v *ruleSpec) {
			v.cleared = &clearedSpec{at: n}
			object(r, n, "cleared", clearedKeys(), v.cleared)
		}},
		{row{name: "kind", kind: kindName, need: true, help: "The kind of the event: `[a-z0-9-]+`."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.kind = r.kindWord(n) }},
		{row{name: "level", kind: kindWord, words: levels, help: "`alert` (default) is delivered, `note` is only logged."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.level = r.word(n, levels) }},
		{row{name: "text", kind: kindTemplate, need: true, help: "What the event says: target, and spoken values of item and cursor."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.text = r.says(n) }},
		{row{name: "url", kind: kindTemplate, help: "Where to look."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.url = r.says(n) }},
		{row{name: "fields", kind: kindTexts, help: "Further members of the event, by name."}, func(r *reader, n *yaml.Node, v *ruleSpec) { v.fields = r.fields(n) }},
	}
}

func clearedKeys() []keyOf[clearedSpec] {
	return []keyOf[clearedSpec]{
		{row{name: "kind", kind: kindName, need: true, help: "The kind of the event."}, func(r *reader, n *yaml.Node, v *clearedSpec) { v.kind = r.kindWord(n) }},
		{row{name: "level", kind: kindWord, words: levels, help: "`alert` (default) or `note`."}, func(r *reader, n *yaml.Node, v *clearedSpec) { v.level = r.word(n, levels) }},
		{row{name: "text", kind: kindTemplate, need: true, help: "What the event says."}, func(r *reader, n *yaml.Node, v *clearedSpec) { v.text = r.says(n) }},
	}
}

func summaryKeys() []keyOf[summarySpec] {
	return []keyOf[summarySpec]{
		{row{name: "when", kind: kindExpr, help: "Whether the line stands; sees `cursor` and `target`. Default: always."}, func(r *reader, n *yaml.Node, v *summarySpec) { v.when = r.expr(n) }},
		{row{name: "text", kind: kindTemplate, need: true, help: "The line."}, func(r *reader, n *yaml.Node, v *summarySpec) { v.text = r.says(n) }},
	}
}

func testKeys() []keyOf[testSpec] {
	return []keyOf[testSpec]{
		{row{name: "name", kind: kindString, need: true, help: "What the test shows."}, func(r *reader, n *yaml.Node, v *testSpec) { v.name = r.str(n) }},
		{row{name: "target", kind: kindWords, help: "The words after `watch`."}, func(r *reader, n *yaml.Node, v *testSpec) { v.target = r.strings(n) }},
		{row{name: "env", kind: kindEnv, help: "The environment that `${env.NAME}` sees."}, func(r *reader, n *yaml.Node, v *testSpec) { v.env = r.env(n) }},
		{row{name: "polls", kind: kindListOf, need: true, help: "The polls, in order.", sub: func() []row { return rowsOf(pollKeys()) }}, func(r *reader, n *yaml.Node, v *testSpec) {
			v.polls = list(r, n, "polls", "poll", func(n *yaml.Node) (v pollSpec) { v.at = n; object(r, n, "poll", pollKeys(), &v); return v })
		}},
	}
}

func pollKeys() []keyOf[pollSpec] {
	return []keyOf[pollSpec]{
		{row{name: "fetch", kind: kindAny, help: "The document; with several steps one for each name (a step that is missing must not be asked)."}, func(_ *reader, n *yaml.Node, v *pollSpec) { v.fetch = n }},
		{row{name: "after", kind: kindDuration, help: "How long after the poll before. Default: `interval`."}, func(r *reader, n *yaml.Node, v *pollSpec) { v.after = r.duration(n) }},
		{row{name: "fails", kind: kindBool, help: "The poll must fail: the fetch, or what follows it."}, func(r *reader, n *yaml.Node, v *pollSpec) { v.fails = r.bool(n) }},
		{row{name: "events", kind: kindAny, help: "Exactly these events: each member that is named must be as it stands; `level` is `alert` where it is not named."}, func(r *reader, n *yaml.Node, v *pollSpec) { v.events, v.expect = n, r.sequence(n, "events") }},
		{row{name: "busy", kind: kindBool, help: "Whether the poll asks for the next one soon."}, func(r *reader, n *yaml.Node, v *pollSpec) { b := r.bool(n); v.busy = &b }},
		{row{name: "done", kind: kindBool, help: "Whether the target is finished with this poll."}, func(r *reader, n *yaml.Node, v *pollSpec) { b := r.bool(n); v.done = &b }},
	}
}

var levels = []string{"alert", "note"}
