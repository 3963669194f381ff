package specs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/sessevents/sessevents/internal/parallel"
	"gopkg.in/yaml.v3"
)

// Check parses and compiles one spec and returns every fault and doubt, sorted. The source is nil where there are
// errors.
func Check(file string, src []byte, o Options) (*Spec, *Source, Diagnostics) {
	s, found := Parse(file, src)
	return check(s, found, o)
}

// CheckFile is Check of a file.
func CheckFile(path string, o Options) (*Spec, *Source, Diagnostics) {
	s, found := Load(path)
	return check(s, found, o)
}

func check(s *Spec, found Diagnostics, o Options) (*Spec, *Source, Diagnostics) {
	source, more := Compile(s, o)
	found = append(found, more...)
	if s.root != nil {
		l := &linter{reader: &reader{src: s.src}, spec: s}
		l.doubts(source)
		found.commentHints(s.root)
		found = append(found, l.all()...)
	}
	if found.HasErrors() {
		source = nil
	}
	return s, source, found.bounded()
}

// Lint checks files, and all *.yaml and *.yml below folders; a fault of one does not keep the others from being
// checked. files are those that were looked at.
func Lint(paths []string, o Options) (found Diagnostics, files []string) {
	o.faultsOnly = true
	seen := map[string]bool{}
	for _, path := range paths {
		list, err := SpecFiles(path)
		if err != nil {
			found = append(found, Diagnostic{File: path, Severity: Error, Code: "read", Width: 1, Message: err.Error()})
			continue
		}
		for _, f := range list {
			if !seen[f] {
				seen[f] = true
				files = append(files, f)
			}
		}
	}
	all := make([]Diagnostics, len(files))
	parallel.Each(len(files), func(i int) { _, _, all[i] = CheckFile(files[i], o) })
	found = append(found, slices.Concat(all...)...)
	return found.Sort(), files
}

// SpecFiles are the files that a path of the command line stands for: itself, or the specs below a folder. Hidden
// folders below it and symbolic links to folders are not entered.
func SpecFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", cause(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != path && strings.HasPrefix(d.Name(), ".") && d.Name() != ".sessevents":
			return fs.SkipDir
		case !d.IsDir() && (strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml")):
			files = append(files, p)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("holds no *.yaml")
	}
	return files, err
}

// linter finds what is legal and doubtful.
type linter struct {
	*reader
	spec     *Spec
	dollared map[*yaml.Node]bool // that hold a `$NAME`, and were told of
}

// doubts are the warnings. source is nil where the spec has errors: then only what the YAML shows is looked at.
func (l *linter) doubts(source *Source) {
	s := l.spec
	if len(s.tests) == 0 {
		l.put(Diagnostic{Line: s.root.Line, Column: s.root.Column, Severity: Warning, Code: "no-tests", Message: "the spec has no tests", Hint: "`sessevents try --record FILE` writes one from what it sees"})
	}
	l.comments(s.root)
	for _, st := range s.steps {
		l.stepDoubts(st)
	}
	for _, secret := range s.secrets {
		l.dashArguments(secret.command)
	}
	if source == nil {
		return
	}
	l.unusedNames(source)
	l.unusedSecrets(source)
	l.untyped(source)
}

func (l *linter) stepDoubts(st stepSpec) {
	s := l.spec
	if (st.fetcher.s == "http" || st.fetcher.s == "exec") && !s.idleSet && s.Interval > 0 {
		if n := member(s.root, "interval"); n != nil && !slices.ContainsFunc(l.found, func(d Diagnostic) bool { return d.Code == "no-idle-interval" }) {
			l.warn(n, "no-idle-interval", fmt.Sprintf("without `idleInterval` this asks every %s for ever", short(s.Interval)), "name the longest wait, such as `idleInterval: 5m`")
		}
	}
	l.dollars(st)
	switch st.fetcher.s {
	case "http":
		l.githubPages(st)
	case "exec":
		if n := member(st.options, "shell"); n != nil && n.Kind == yaml.ScalarNode && !strings.ContainsAny(n.Value, "|&;<>()$`\\\"'*?[#~=%!{\n") {
			l.warn(n, "shell", "this needs no shell", "write `command: ["+strings.Join(strings.Fields(n.Value), ", ")+"]`")
		}
		l.dashArguments(member(st.options, "command"))
	}
}

var githubList = lazily(`[?&]per_page=|api\.github\.com/.*/(?:pulls|issues|reviews|comments|commits|runs|check-runs|releases|tags|branches|events|jobs)(?:\?|$)`)

// githubPages warns of a list of which only the first page is read.
func (l *linter) githubPages(st stepSpec) {
	url := member(st.options, "url")
	if url == nil || member(st.options, "pages") != nil || member(l.spec.defaults["http"], "pages") != nil ||
		!strings.Contains(url.Value, "per_page=") && !strings.Contains(url.Value, "api.github.com/") || !githubList().MatchString(url.Value) {
		return
	}
	l.warn(url, "first-page", "only the first page of this list is read", "add `pages: link`")
}

// dashArguments warns where what the user types may be taken for an option of the command.
func (l *linter) dashArguments(command *yaml.Node) {
	if command == nil || command.Kind != yaml.SequenceNode {
		return
	}
	for i, c := range command.Content {
		if c.Value == "--" {
			return
		}
		if i == 0 || !strings.HasPrefix(c.Value, "${") {
			continue
		}
		m := leadingTarget().FindStringSubmatch(c.Value)
		if m == nil || !l.mayBeginWithDash(m[1]) || slices.Contains(takesValue, command.Content[i-1].Value) {
			continue
		}
		l.warn(c, "dash-argument", fmt.Sprintf("`target.%s` may begin with `-` and be taken for an option", m[1]),
			"put `\"--\"` before it, give the argument a pattern, or join it with the option whose value it is: `--name=${…}`")
	}
}

// takesValue are options after which, in whatever program, the next word is a value.
var takesValue = []string{"-e", "-C"}

var leadingTarget = lazily(`^\$\{\s*target\.(\w+)`)

// mayBeginWithDash reports whether a value of the target can begin with a dash, by its pattern and the requirements.
func (l *linter) mayBeginWithDash(name string) bool {
	for _, q := range l.spec.target.require {
		if strings.Contains(q.that.s, "target."+name+" startsWith ") {
			return false
		}
	}
	for _, a := range l.spec.target.args {
		re, err := syntax.Parse(a.pattern.s, syntax.Perl)
		if err != nil || !a.pattern.set() {
			if a.name.s == name {
				return true
			}
			continue
		}
		if a.name.s == name {
			return beginsWith(re, '-')
		}
		if g := group(re, name); g != nil {
			return beginsWith(g, '-')
		}
	}
	for _, f := range l.spec.target.flags {
		if f.name.s == name {
			return f.typ == "string"
		}
	}
	return false
}

// group is the named group of a pattern.
func group(re *syntax.Regexp, name string) *syntax.Regexp {
	if re.Op == syntax.OpCapture && re.Name == name {
		return re
	}
	for _, sub := range re.Sub {
		if g := group(sub, name); g != nil {
			return g
		}
	}
	return nil
}

// beginsWith reports whether a match can begin with r.
func beginsWith(re *syntax.Regexp, r rune) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Rune[0] == r
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= r && r <= re.Rune[i+1] {
				return true
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return beginsWith(s, r) })
	case syntax.OpCapture, syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return beginsWith(re.Sub[0], r)
	case syntax.OpConcat:
		for _, s := range re.Sub {
			if beginsWith(s, r) {
				return true
			}
			if !mayBeEmpty(s) {
				return false
			}
		}
	}
	return false
}

func mayBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpQuest, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpBeginText, syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || mayBeEmpty(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return mayBeEmpty(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, mayBeEmpty)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !mayBeEmpty(s) })
	}
	return false
}

// expressions are all expressions and templates of a source that can name what an item holds.
func (s *Source) expressions() (es []*expression, ts []*template) {
	es = []*expression{s.key, s.cursor, s.busy, s.done}
	for _, r := range s.rules {
		es = append(es, r.when, r.until)
		ts = append(ts, r.says.text, r.says.url)
		for _, f := range r.says.fields {
			ts = append(ts, f.value)
		}
		if r.cleared != nil {
			ts = append(ts, r.cleared.text, r.cleared.url)
		}
	}
	for _, l := range s.summary {
		es, ts = append(es, l.when), append(ts, l.text)
	}
	return slices.DeleteFunc(es, func(e *expression) bool { return e == nil }), slices.DeleteFunc(ts, func(t *template) bool { return t == nil })
}

// unusedNames warns of names of the item that nothing names. A cursor that is the whole item uses them all for
// `changed`.
func (l *linter) unusedNames(source *Source) {
	t := l.spec.item
	if t == nil || t.name != typeNames || t.at == nil {
		return
	}
	es, ts := source.expressions()
	used := map[string]bool{}
	changed := false
	for _, e := range es {
		for name := range e.members {
			used[name] = true
		}
		changed = changed || e.uses("changed")
	}
	for _, tpl := range ts {
		for name := range tpl.members() {
			used[name] = true
		}
	}
	whole := source.cursor == nil || source.cursor.shape.typ == t
	for i := 0; i+1 < len(t.at.Content); i += 2 {
		k := t.at.Content[i]
		if !used[k.Value] && !(whole && changed) {
			l.warn(k, "unused-name", fmt.Sprintf("nothing names `item.%s`", k.Value), "leave it out, here and in `extract`")
		}
	}
}

// unusedSecrets warns of secrets that no option names.
func (l *linter) unusedSecrets(source *Source) {
	used := map[string]bool{}
	for _, st := range source.steps {
		for _, o := range st.options {
			for _, name := range o.secrets {
				used[name] = true
			}
		}
	}
	for _, s := range l.spec.secrets {
		if !used[s.name.s] {
			l.warn(s.name.n, "unused-name", fmt.Sprintf("nothing names `secret.%s`", s.name.s), "leave it out")
		}
	}
}

// untyped warns where a text names an item without a type: its strings do not speak.
func (l *linter) untyped(source *Source) {
	if l.spec.item != nil {
		return
	}
	_, ts := source.expressions()
	for _, t := range ts {
		for _, p := range t.pieces {
			if p.e.uses("item", "cursor") {
				l.inside(t.at.n, p.e.from, len([]rune(p.e.code)), Warning, "no-type", "the item has no type: its strings are spoken as "+withheld, "say what it is, such as `item: count` or `item: {id: id, state: [open, closed]}`")
				return
			}
		}
	}
}
