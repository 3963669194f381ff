package specs

import (
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// typeName is what a value may say.
type typeName string

const (
	typeAuto     typeName = "auto"
	typeCount    typeName = "count"
	typeBool     typeName = "bool"
	typeID       typeName = "id"
	typeWords    typeName = "words"
	typeURL      typeName = "url"
	typeTime     typeName = "time"
	typeDuration typeName = "duration"
	typeSize     typeName = "size"
	typeText     typeName = "text"
	typeNames    typeName = "names"
)

// typeWord is a row of the table of types.
type typeWord struct{ name, help string }

// typeWords are the types that a spec can name by a word.
var typeWordTable = []typeWord{
	{"count", "a number"},
	{"bool", "true or false"},
	{"id", "one word of `[A-Za-z0-9._/@:+#~=-]`, at most 120 characters; `{id: 'pattern'}` narrows it, and may let in `[](){},%` beside"},
	{"url", "an absolute http, https or file URL without white space; `{url: [github.com]}` narrows the hosts"},
	{"time", "RFC 3339, or seconds since 1970; spoken in UTC"},
	{"duration", "a number of seconds, or a text such as 1m30s"},
	{"size", "bytes; spoken with a unit"},
	{"text", "does not speak: it can be compared, and naming it in a text is an error"},
	{"auto", "numbers, booleans and times speak, strings do not"},
}

func typeWordNames() []string {
	names := make([]string, len(typeWordTable))
	for i, t := range typeWordTable {
		names[i] = t.name
	}
	return names
}

// itemType is the type of an item, of one of its names, or of a cursor.
type itemType struct {
	name    typeName
	pattern string                // says which words an id may be; empty: any
	matcher func() *regexp.Regexp // of the pattern; a lint needs none
	words   []string              // a list of words
	hosts   []string              // narrows a url
	fields  map[string]*itemType  // names with types
	elem    *itemType             // of a list; only cursors have one
	at      *yaml.Node
}

var autoType = &itemType{name: typeAuto}

// String is the type in one canonical line: two types are the same where their strings are.
func (t *itemType) String() string {
	switch {
	case t == nil:
		return "auto"
	case t.name == typeWords:
		return "[" + strings.Join(t.words, ", ") + "]"
	case t.pattern != "":
		return "{id: " + t.pattern + "}"
	case t.hosts != nil:
		return "{url: [" + strings.Join(t.hosts, ", ") + "]}"
	case t.name == typeNames:
		var parts []string
		for _, n := range slices.Sorted(maps.Keys(t.fields)) {
			parts = append(parts, n+": "+t.fields[n].String())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return string(t.name)
}

// shape is the type without what narrows it: another word in a list does not change what a saved cursor is.
func (t *itemType) shape() string {
	if t.kind() != typeNames {
		return string(t.kind())
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(t.fields)) {
		parts = append(parts, n+": "+t.fields[n].shape())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// itemType reads a type. Only the item itself can be names with types. As the whole item, `{id: …}` and `{url: […]}`
// narrow, unless what stands there is itself the word of a type.
func (r *reader) itemType(n *yaml.Node, top bool) *itemType {
	switch {
	case n.Kind == yaml.SequenceNode:
		words := r.strings(n)
		for i, c := range n.Content {
			if i < len(words) && !isWord(words[i]) {
				r.fault(c, "word", fmt.Sprintf("%q is not a word", words[i]), "letters, digits and `._-`, at most 60")
			}
		}
		if len(words) == 0 {
			r.fault(n, "word", "a list of words has at least one", "")
			return &itemType{name: typeAuto, at: n}
		}
		return &itemType{name: typeWords, words: words, at: n}
	case n.Kind == yaml.MappingNode && (!top || r.narrows(n)):
		return r.narrowed(n)
	case n.Kind == yaml.MappingNode:
		t := &itemType{name: typeNames, fields: map[string]*itemType{}, at: n}
		lost := false
		r.pairs(n, "item", func(k, v *yaml.Node) {
			lost = lost || !usable(k.Value)
			if r.ident(k).set() {
				t.fields[k.Value] = r.itemType(v, false)
			}
		})
		if lost { // any name may be meant
			return &itemType{name: typeAuto, at: n}
		}
		return t
	}
	w := r.str(n)
	if !w.set() {
		return &itemType{name: typeAuto, at: n}
	}
	if !slices.Contains(typeWordNames(), w.s) {
		r.fault(n, "type-name", fmt.Sprintf("there is no type `%s`", w.s), typeHint(w.s))
		return &itemType{name: typeAuto, at: n}
	}
	return &itemType{name: typeName(w.s), at: n}
}

func isWord(s string) bool {
	return consists(s, 60, func(c byte) bool { return isAlnum(c) || c == '.' || c == '_' || c == '-' })
}

func (r *reader) narrows(n *yaml.Node) bool {
	if len(n.Content) != 2 {
		return false
	}
	k, v := n.Content[0].Value, n.Content[1]
	return k == "id" && v.Kind == yaml.ScalarNode && !slices.Contains(typeWordNames(), v.Value) ||
		k == "url" && v.Kind == yaml.SequenceNode
}

func (r *reader) narrowed(n *yaml.Node) *itemType {
	t := &itemType{name: typeAuto, at: n}
	if len(n.Content) != 2 || n.Content[0].Value != "id" && n.Content[0].Value != "url" {
		r.fault(n, "type-name", "a type is a word, a list of words, `{id: 'pattern'}` or `{url: [host]}`", "")
		return t
	}
	if n.Content[0].Value == "url" {
		t.name, t.hosts = typeURL, r.strings(n.Content[1])
		if len(t.hosts) == 0 && n.Content[1].Kind == yaml.SequenceNode {
			r.fault(n.Content[1], "word", "name at least one host", "")
		}
		return t
	}
	t.name = typeID
	p := r.pattern(n.Content[1])
	if !p.set() {
		return t
	}
	if re, err := syntax.Parse(p.s, syntax.Perl); err == nil && matchesSpace(re) {
		r.fault(n.Content[1], "pattern-space", "the pattern can match white space: a sentence of the polled system could pass", "name the characters it may have, such as '[0-9a-f]{40}'")
	}
	t.pattern = `\A(?:` + p.s + `)\z`
	t.matcher = lazily(t.pattern)
	return t
}

// matchesSpace reports whether a pattern can match a text with white space in it.
func matchesSpace(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		return slices.ContainsFunc(re.Rune, unicode.IsSpace)
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for _, space := range spaces {
				if re.Rune[i] <= space && space <= re.Rune[i+1] {
					return true
				}
			}
		}
	}
	return slices.ContainsFunc(re.Sub, matchesSpace)
}

var spaces = []rune("\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000")

// typed is a value as expressions see it: a time and a duration as such, all else as it came. What does not fit its
// type stays as it came: a value that somebody else chose must not be able to stop the watch.
func (t *itemType) typed(v any) any {
	if t == nil || v == nil {
		return v
	}
	switch t.name {
	case typeTime:
		if at, ok := parseTime(v); ok {
			return at
		}
	case typeDuration:
		if d, ok := parseSpan(v); ok {
			return d
		}
	case typeNames:
		m, ok := v.(map[string]any)
		if !ok {
			return v
		}
		var out map[string]any
		for name, ft := range t.fields {
			if k := ft.kind(); k != typeTime && k != typeDuration && k != typeNames || m[name] == nil {
				continue
			}
			if out == nil {
				out = maps.Clone(m)
			}
			out[name] = ft.typed(m[name])
		}
		if out != nil {
			return out
		}
	}
	return v
}

func parseTime(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		return t, err == nil
	case int:
		switch {
		case v > 1e11 && v < 1e15: // milliseconds
			return time.UnixMilli(int64(v)).UTC(), true
		case v >= 0 && v <= 1e11:
			return time.Unix(int64(v), 0).UTC(), true
		}
	case float64:
		if v >= 0 && v <= 1e11 {
			return time.UnixMilli(int64(v * 1000)).UTC(), true
		}
	}
	return time.Time{}, false
}

// maxSpan is the longest duration that fits: about 292 years, in seconds.
const maxSpan = 9_000_000_000

func parseSpan(v any) (time.Duration, bool) {
	switch v := v.(type) {
	case time.Duration:
		return v, true
	case string:
		d, err := time.ParseDuration(v)
		return d, err == nil
	case int:
		return time.Duration(v) * time.Second, v > -maxSpan && v < maxSpan
	case float64:
		return time.Duration(v * float64(time.Second)), v > -maxSpan && v < maxSpan
	}
	return 0, false
}
