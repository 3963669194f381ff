package specs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// What people write who come from another language: a hint that takes the nearest word for what is meant would lead
// them astray (`int` is not far from `id`, `new` from `now`).

// foreignTypes are types of other languages by what they are here.
var foreignTypes = map[string]string{
	"int": "count", "integer": "count", "number": "count", "float": "count", "double": "count", "long": "count", "decimal": "count", "num": "count",
	"boolean": "bool", "timestamp": "time", "datetime": "time", "date": "time", "date-time": "time", "uri": "url", "link": "url", "bytes": "size",
	"word": "id", "name": "id", "uuid": "id", "hash": "id", "seconds": "duration", "interval": "duration", "any": "auto",
}

// foreignKeys are keys of other languages by what they are here.
var foreignKeys = map[string]string{
	"if": "when", "condition": "when", "message": "text", "msg": "text", "severity": "level", "every": "interval", "schedule": "interval",
}

// typeHint is what to write instead of a type that is none.
func typeHint(got string) string {
	small := strings.ToLower(got)
	switch {
	case small == "string" || small == "str":
		return "`id` is one word, `[open, closed]` one of a list of words, and `text` does not speak"
	case small == "enum" || strings.Contains(got, "|"):
		words := strings.FieldsFunc(got, func(r rune) bool { return r == '|' || r == ' ' })
		if small == "enum" || !slices.ContainsFunc(words, isWord) {
			words = []string{"open", "closed"}
		}
		return "a list of words is written `[" + strings.Join(words, ", ") + "]`"
	case foreignTypes[small] != "":
		return "did you mean `" + foreignTypes[small] + "`?"
	}
	return hintNearest(got, typeWordNames())
}

// foreignNames are names of other languages by what they are in a rule.
var foreignNames = map[string]string{
	"null": "nil", "None": "nil", "none": "nil", "undefined": "nil", "NULL": "nil", "Nil": "nil",
	"new": "appeared", "added": "appeared", "created": "appeared",
	"old": "cursor", "prev": "cursor", "previous": "cursor", "before": "cursor", "saved": "cursor",
	"deleted": "gone", "removed": "gone", "missing": "gone", "disappeared": "gone", "modified": "changed", "updated": "changed",
	"value": "item", "it": "item", "this": "item", "current": "item", "always": "true", "yes": "true", "True": "true", "never": "false", "False": "false",
}

// constants are words of the expression language that stand for values.
var constants = []string{"nil", "true", "false"}

// hint is what to write instead of a name that is not there: a member of that name, or what the word means here.
func (sc scope) hint(name string) string {
	for _, of := range []string{"item", "target", "doc"} {
		if s := sc.names[of]; s != nil && s.fields[name] != nil {
			return "did you mean `" + of + "." + name + "`?"
		}
	}
	if w := foreignNames[name]; w != "" && (sc.names[w] != nil || slices.Contains(constants, w)) {
		return "did you mean `" + w + "`?"
	}
	if sc.names["env"] != nil && len(name) > 1 && name == strings.ToUpper(name) {
		return "did you mean `env." + name + "`?"
	}
	if sc.names["items"] != nil && name == "item" {
		return "ask all of them: `any(items, …)`, where `.name` is a part of one"
	}
	return hintNearest(name, slices.Sorted(maps.Keys(sc.names)))
}

var (
	strayWord = lazily(`^unexpected token Identifier\("(\w+)"\)`)
	unitForm  = lazily(`^bad number syntax: "(\d+)([A-Za-z])`)
)

// strayWords are words that no expression has.
var strayWords = map[string]string{
	"is": "compare with `==`", "equals": "compare with `==`", "eq": "compare with `==`", "isnt": "compare with `!=`", "ne": "compare with `!=`",
	"gt": "compare with `>`", "lt": "compare with `<`", "like": "write `contains` or `matches`",
	"for": "`for` is a key of its own: `for: 3`", "until": "`until` is a key of its own", "then": "it is what the rule says: write the condition alone",
}

// exprHint is what to write instead of what the library could not read: message is what it says of code.
func exprHint(message, code string) string {
	begins := strings.TrimSpace(code)
	switch {
	case strings.HasPrefix(begins, "${"):
		return "an expression stands here already: leave out `${` and `}`"
	case strings.HasPrefix(begins, "{{"):
		return "an expression stands here already: leave out the braces"
	case strings.HasPrefix(begins, "{") && !strings.HasPrefix(message, "a map key"):
		return "in a text one brace is enough: `${…}`"
	case begins == ".":
		return "this is an expression, not jq: `item` is the whole item"
	case strings.HasPrefix(message, "unexpected token Operator(\".\")"):
		return "this is an expression, not jq: a name stands before the dot, such as `item.name`"
	case strings.Contains(message, `unexpected token Operator("=")`):
		return "compare with `==`"
	case strings.Contains(message, `"&"`):
		return "write `&&` or `and`"
	case strings.HasPrefix(message, notBool):
		return "the expression must be true or false: compare the value with something"
	}
	if m := strayWord().FindStringSubmatch(message); m != nil {
		if hint := strayWords[strings.ToLower(m[1])]; hint != "" {
			return hint
		}
		if w := nearest(m[1], exprWords); w != "" {
			return "did you mean `" + w + "`?"
		}
	}
	if m := unitForm().FindStringSubmatch(message); m != nil {
		switch strings.ToLower(m[2]) {
		case "s", "m", "h":
			return `a duration is written duration("` + m[1] + m[2] + `")`
		case "d":
			if days, err := strconv.Atoi(m[1]); err == nil && days < 10_000 {
				return fmt.Sprintf("there is no unit for days: write duration(%q)", fmt.Sprint(days*24, "h"))
			}
		}
		return "a number has no unit: write all of it, such as 5 * 1000 * 1000"
	}
	return ""
}

// slug is the name that comes nearest to s; empty where nothing of it can stand in one.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

func nameHint(s string) string {
	if w := slug(s); isName(w) {
		return "write `" + w + "`"
	}
	return ""
}

// foreignStepKeys are keys of a step in other languages.
var foreignStepKeys = map[string]string{"name": "as", "id": "as", "if": "when"}

// listHint shows a single value as the list that must stand in its place.
func listHint(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" || len(n.Value) > 200 || strings.ContainsAny(n.Value, "\n\"") {
		return ""
	}
	return fmt.Sprintf("write `[%s]`", listed(n.Value))
}

// listed is a word as it stands in a list.
func listed(s string) string {
	if strings.ContainsAny(s, "${}[],:# '") {
		return `"` + s + `"`
	}
	return s
}
