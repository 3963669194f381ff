package specs

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sessevents/sessevents/internal/specfile"
)

// reader turns YAML nodes into values and notes every fault on the way.
type reader struct {
	src    *source
	found  Diagnostics
	hidden int // how many were not told
	// hiddenErrors says that there were faults among them.
	hiddenErrors bool
	compiled     int // expressions so far
	exprTables   exprTables
	// faultsOnly says that the programs will hardly be run: they are made when they are, and not for several goroutines.
	faultsOnly  bool
	expressions []*expression // all that were compiled, where the source will be used
	node        *yaml.Node
	trace       []int // of node
}

// maxFound bounds what is told of one file: past it, finding the places would cost more than anybody reads.
const maxFound = 500

// put notes a diagnostic; file, source line and severity are filled in.
func (r *reader) put(d Diagnostic) {
	if d.Severity == "" {
		d.Severity = Error
	}
	if len(r.found) >= maxFound {
		r.hide(d.Severity)
		return
	}
	d.File = r.src.file
	d.Source = r.src.line(d.Line)
	d.Width = max(d.Width, 1)
	r.found = append(r.found, d)
}

// hide counts what is not told.
func (r *reader) hide(severity Severity) {
	r.hidden++
	r.hiddenErrors = r.hiddenErrors || severity == Error
}

// all is what was noted, with a last word on what is not told.
func (r *reader) all() Diagnostics {
	if r.hidden == 0 {
		return r.found
	}
	severity := Warning
	if r.hiddenErrors {
		severity = Error
	}
	return append(r.found, more(r.src.file, severity, r.hidden))
}

// whole notes a fault of the file as a whole.
func (r *reader) whole(code, message, hint string) {
	r.put(Diagnostic{Code: code, Message: message, Hint: hint})
}

// fault notes a fault of a node.
func (r *reader) fault(n *yaml.Node, code, message, hint string) {
	r.report(n, Error, code, message, hint)
}

// warn notes a doubt about a node.
func (r *reader) warn(n *yaml.Node, code, message, hint string) {
	r.report(n, Warning, code, message, hint)
}

func (r *reader) report(n *yaml.Node, severity Severity, code, message, hint string) {
	d := Diagnostic{Line: n.Line, Column: n.Column, Severity: severity, Code: code, Message: message, Hint: hint}
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(n.Value, "\n") {
		d.Width = len([]rune(n.Value))
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			d.Width += 2
		}
	}
	r.put(d)
}

// inside notes a fault at byte `at` of a scalar's value, width characters wide.
func (r *reader) inside(n *yaml.Node, at, width int, severity Severity, code, message, hint string) {
	if len(r.found) >= maxFound {
		r.hide(severity)
		return
	}
	// What ends too soon ends in its last line, not below it.
	at = min(at, len(strings.TrimRight(n.Value, " \t\r\n")))
	if r.node != n { // a long text may have many faults
		r.node, r.trace = n, r.src.trace(n)
	}
	line, column := r.src.at(n, at, r.trace)
	r.put(Diagnostic{Line: line, Column: column, Width: width, Severity: severity, Code: code, Message: message, Hint: hint})
}

// describe names what a node is, for a reader who expected something else.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!timestamp":
		return "the time " + n.Value
	}
	return "a string"
}

// object reads a mapping by its table: unknown, doubled and missing keys are faults.
func object[T any](r *reader, n *yaml.Node, what string, keys []keyOf[T], v *T) {
	if !r.mapping(n, what) {
		return
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		if !r.once(seen, k, val) {
			continue
		}
		at := slices.Index(names, k.Value)
		if at < 0 {
			// What is meant is read all the same: nothing else may follow from one wrong letter.
			if at = slices.Index(names, r.unknownKey(k, val, what, names, seen)); at < 0 || seen[names[at]] != nil || member(n, names[at]) != nil {
				continue
			}
			seen[names[at]] = k
		}
		keys[at].read(r, val, v)
	}
	for _, k := range keys {
		if k.need && seen[k.name] == nil {
			r.put(Diagnostic{Line: n.Line, Column: n.Column, Code: "missing-key", Message: fmt.Sprintf("%s has no `%s`", article(what), k.name), Hint: k.help})
		}
	}
}

// once reports whether a key can be read: it is a plain string that did not stand there before.
func (r *reader) once(seen map[string]*yaml.Node, k, val *yaml.Node) bool {
	switch {
	case k.Tag == "!!merge":
		r.fault(k, "merge", "a merge key `<<`: a spec says everything where it stands", "write the keys out; options that steps share go to `defaults`")
		return false
	case k.Kind != yaml.ScalarNode:
		r.fault(k, "type", "a key must be a word, this is "+describe(k), "")
		return false
	}
	if first := seen[k.Value]; first != nil {
		r.fault(k, "duplicate-key", fmt.Sprintf("`%s` stands twice, first in line %d", k.Value, first.Line), "keep one of the two")
		return false
	}
	seen[k.Value] = k
	if val.Kind == yaml.AliasNode {
		r.fault(val, "alias", "an alias `*"+val.Value+"`: a spec says everything where it stands", "write it out; options that steps share go to `defaults`")
		return false
	}
	return true
}

// unknownKey reports a key that is not one of names, and gives the name that was meant; empty where none is near. Where
// it is one with its value stuck to it, that key is seen.
func (r *reader) unknownKey(k, val *yaml.Node, what string, names []string, seen map[string]*yaml.Node) (meant string) {
	name, rest, colon := strings.Cut(k.Value, ":")
	if colon && val.Tag == "!!null" && slices.Contains(names, name) {
		seen[name] = k
		r.fault(k, "missing-space", fmt.Sprintf("YAML reads `%s` as one key with no value", k.Value), fmt.Sprintf("put a space after the colon: `%s: %s`", name, rest))
		return ""
	}
	if val.Tag == "!!null" && val.Value == "" && strings.Contains(k.Value, " ") {
		r.fault(k, "unquoted-comma", fmt.Sprintf("YAML reads `%s` as a key: a comma ended what stands before it", k.Value), "quote the string that holds the comma")
		return ""
	}
	meant, hint := nearest(k.Value, names), hintNearest(k.Value, names)
	if w := foreignKeys[strings.ToLower(k.Value)]; slices.Contains(names, w) {
		meant, hint = w, "did you mean `"+w+"`?"
	}
	r.fault(k, "unknown-key", fmt.Sprintf("%s has no key `%s`", article(what), k.Value), hint)
	return meant
}

func article(what string) string {
	switch {
	case strings.HasPrefix(what, "`"), what == "target", what == "cleared", what == "require":
		return what
	case strings.ContainsRune("aeiou", rune(what[0])):
		return "an " + what
	}
	return "a " + what
}

func (r *reader) mapping(n *yaml.Node, what string) bool {
	if n.Kind == yaml.MappingNode {
		return true
	}
	r.fault(n, "type", fmt.Sprintf("%s is a mapping, this is %s", article(what), describe(n)), "")
	return false
}

func (r *reader) sequence(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "type", fmt.Sprintf("%s is a list, this is %s", what, describe(n)), "")
		return nil
	}
	for _, c := range n.Content {
		if c.Kind == yaml.AliasNode {
			r.fault(c, "alias", "an alias `*"+c.Value+"`: a spec says everything where it stands", "write it out")
			return nil
		}
	}
	return n.Content
}

// list reads a list of mappings.
func list[T any](r *reader, n *yaml.Node, what, one string, read func(*yaml.Node) T) []T {
	var vs []T
	for _, c := range r.sequence(n, what) {
		if r.mapping(c, one) {
			vs = append(vs, read(c))
		}
	}
	return vs
}

// str reads a string. What YAML made something else of is refused with the quoted form: nobody who writes 012 means
// 10.
func (r *reader) str(n *yaml.Node) text {
	if n.Kind != yaml.ScalarNode {
		r.fault(n, "type", "a string must stand here, this is "+describe(n), "")
		return text{}
	}
	if n.Tag != "!!str" {
		hint := "quote it: '" + n.Value + "'"
		if n.Tag == "!!null" {
			hint = "write a string, or leave the key out"
		}
		r.fault(n, "not-a-string", fmt.Sprintf("a string must stand here, YAML reads %s", describe(n)), hint)
		return text{}
	}
	return text{s: n.Value, n: n}
}

// says reads a string that somebody reads: an empty one says nothing.
func (r *reader) says(n *yaml.Node) text {
	t := r.str(n)
	if t.set() && strings.TrimSpace(t.s) == "" {
		r.fault(n, "empty-text", "this says nothing", "write what it says, or leave the key out where it need not stand")
	}
	return t
}

// expr reads the text of an expression or a jq program. true, false and numbers need no quotes there.
func (r *reader) expr(n *yaml.Node) text {
	if n.Kind == yaml.ScalarNode && (n.Tag == "!!bool" || n.Tag == "!!int" || n.Tag == "!!float") {
		return text{s: n.Value, n: n}
	}
	t := r.str(n)
	if t.set() && strings.TrimSpace(t.s) == "" {
		r.fault(n, "empty-expression", "an empty expression", "write one, or leave the key out")
		return text{}
	}
	return t
}

// lines reads one string of lines, or a list of them.
func (r *reader) lines(n *yaml.Node) []string {
	if n.Kind == yaml.SequenceNode {
		return r.strings(n)
	}
	if t := r.str(n); t.set() {
		return strings.Split(strings.TrimRight(t.s, "\n"), "\n")
	}
	return nil
}

func (r *reader) strings(n *yaml.Node) []string {
	var ss []string
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "type", "a list must stand here, this is "+describe(n), listHint(n))
		return nil
	}
	for _, c := range r.sequence(n, "this") {
		if t := r.str(c); t.set() {
			ss = append(ss, t.s)
		}
	}
	return ss
}

func (r *reader) bool(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	}
	hint := "write `true` or `false`"
	switch strings.ToLower(n.Value) {
	case "yes", "on", "y":
		hint = "write `true`"
	case "no", "off", "n":
		hint = "write `false`"
	}
	r.fault(n, "not-a-boolean", "a boolean must stand here, this is "+describe(n), hint)
	return false
}

func (r *reader) version(n *yaml.Node) int {
	if n.Value != "1" {
		r.fault(n, "version", "this program knows version 1 of the language only", "write `version: 1`")
	}
	return 1
}

// isName reports whether s is a name of a source or a kind: 1 to 40 of a-z, 0-9 and -.
func isName(s string) bool {
	return specfile.IsName(s)
}

// consists reports whether s is 1 to most bytes that ok takes. A regular expression with a bounded repetition would
// say the same, and cost every command a part of a millisecond to compile at its start.
func consists(s string, most int, ok func(c byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= most
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (r *reader) name(n *yaml.Node) string {
	t := r.str(n)
	if t.set() && !isName(t.s) {
		r.fault(n, "name", fmt.Sprintf("a name is 1 to 40 of a-z, 0-9 and -, this is %q", t.s), nameHint(t.s))
		return ""
	}
	return t.s
}

func (r *reader) kindWord(n *yaml.Node) text {
	t := r.str(n)
	if t.set() && !isName(t.s) {
		r.fault(n, "name", fmt.Sprintf("a kind is 1 to 40 of a-z, 0-9 and -, this is %q", t.s), nameHint(t.s))
	}
	return t
}

// isIdent reports whether s is a name that expressions can use: a letter, then letters, digits and _.
func isIdent(s string) bool {
	return consists(s, 64, func(c byte) bool { return isAlnum(c) || c == '_' }) && (s[0] < '0' || s[0] > '9')
}

// ident reads a name that expressions use.
func (r *reader) ident(n *yaml.Node) text {
	t := r.str(n)
	if t.set() && !usable(t.s) {
		r.fault(n, "name", fmt.Sprintf("expressions cannot use the name %q", t.s), "a letter, then letters, digits and _; no word of the expression language")
	}
	return t
}

// usable reports whether expressions can use a name.
func usable(name string) bool {
	return isIdent(name) && !strings.HasPrefix(name, "__") && !slices.Contains(exprWords, name)
}

// exprWords are the words that the expression language keeps for itself.
var exprWords = []string{"in", "not", "and", "or", "let", "if", "else", "matches", "contains", "startsWith", "endsWith", "nil", "null", "true", "false"}

func (r *reader) word(n *yaml.Node, words []string) string {
	t := r.str(n)
	if t.set() && !slices.Contains(words, t.s) {
		r.fault(n, "word", fmt.Sprintf("`%s` is not one of: %s", t.s, strings.Join(words, ", ")), hintNearest(t.s, words))
		return ""
	}
	return t.s
}

func (r *reader) pattern(n *yaml.Node) text {
	t := r.str(n)
	if !t.set() {
		return t
	}
	_, err := syntax.Parse(t.s, syntax.Perl) // all that can fail when it is compiled
	if err == nil {
		_, err = syntax.Parse(`\A(?:`+t.s+`)\z`, syntax.Perl) // as it is used: one level deeper
	}
	if err != nil {
		r.fault(n, "pattern", "the pattern does not compile: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
		return text{}
	}
	return t
}
