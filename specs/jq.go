package specs

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

const (
	// maxQueryTime bounds a jq program; a stream gets as much again for every 20,000 lines.
	maxQueryTime = 900 * time.Millisecond
	// maxItems bounds what it may give; a stream may give four for each line.
	maxItems = 100_000
	// maxQueryBytes bounds by how much the heap of the process may grow while one program runs.
	maxQueryBytes = 256 << 20
)

// query is a compiled jq program.
type query struct {
	src  *source
	at   text
	tree *gojq.Query
	code *gojq.Code
	vars []string
	// bound says that the code takes the run as one more variable.
	bound bool
	// patterns are the regular expressions of its runs.
	patterns patterns
	// lost are the targets whose run was given up, until it has ended.
	lost lostRuns
	// quick is the program in plain functions, where it is a plain one; else nil.
	quick *quickExtract
}

// jq compiles a jq program that sees vars; nil where it has faults.
func (r *reader) jq(t text, vars []string, why map[string]string) *query {
	parsed, err := gojq.Parse(t.s)
	if err != nil {
		at, width := len(t.s), 1
		var pe *gojq.ParseError
		if errors.As(err, &pe) {
			at = max(min(pe.Offset, len(t.s))-len(pe.Token), 0)
			width = max(len([]rune(pe.Token)), 1)
		}
		r.inside(t.n, at, width, Error, "jq", err.Error(), "")
		return nil
	}
	code, bound, err := compileJQ(t.s, parsed, vars)
	if err != nil {
		at, width, hint := jqPlace(t.s, err.Error(), vars, why)
		r.inside(t.n, at, width, Error, "jq", err.Error(), hint)
		return nil
	}
	return &query{src: r.src, at: t, tree: parsed, code: code, bound: bound, vars: vars, quick: quickJQ(parsed)}
}

var jqMissing = lazily(`^(function|variable) not defined: (\$?\w+)(?:/(\d+))?`)

// jqPlace finds the name that a compile error is about: the library tells it only by its words.
func jqPlace(s, message string, vars []string, why map[string]string) (at, width int, hint string) {
	m := jqMissing().FindStringSubmatch(message)
	if m == nil {
		return 0, 1, ""
	}
	hint = why[m[2]]
	if hint == "" && m[1] == "variable" {
		hint = hintNearest(m[2], vars)
	}
	if hint == "" && m[1] == "function" {
		if w := nearest(m[2], jqFunctions); w != "" {
			hint = "did you mean `" + w + "`?"
		}
	}
	// As a word of its own: neither part of a longer one nor a member.
	re := regexp.MustCompile(`(?:^|[^\w.$])(` + regexp.QuoteMeta(m[2]) + `)(?:\W|$)`)
	if loc := re.FindStringSubmatchIndex(s); loc != nil {
		return loc[2], len(m[2]), hint
	}
	return 0, 1, hint
}

// jqFunctions are the functions that people mean most; only hints are made from them.
var jqFunctions = []string{
	"length", "keys", "values", "select", "map", "map_values", "has", "contains", "inside", "startswith", "endswith",
	"ltrimstr", "rtrimstr", "split", "join", "ascii_downcase", "ascii_upcase", "tonumber", "tostring", "type", "add", "any",
	"all", "flatten", "range", "floor", "sort", "sort_by", "group_by", "min_by", "max_by", "unique", "unique_by", "reverse",
	"first", "last", "limit", "empty", "error", "to_entries", "from_entries", "with_entries", "fromjson", "tojson", "test",
	"match", "capture", "scan", "sub", "gsub", "fromdate", "todate", "fromdateiso8601", "index", "paths", "recurse", "not",
}

func (q *query) failed(reason string, endless bool) error {
	line, column := q.src.inside(q.at.n, 0)
	return &EvalError{Place: fmt.Sprintf("%s:%d:%d", q.src.file, line, column), Reason: "jq: " + reason, Endless: endless}
}

// forJQ is a value as gojq knows it: it has no uint64. What holds none is not copied.
func forJQ(v any) any {
	out, _ := copyForJQ(v)
	return out
}

// copyForJQ says whether it had to make a copy.
func copyForJQ(v any) (out any, changed bool) {
	switch v := v.(type) {
	case uint64:
		return new(big.Int).SetUint64(v), true
	case []any:
		var list []any
		for i, e := range v {
			n, changed := copyForJQ(e)
			if changed && list == nil {
				list = slices.Clone(v)
			}
			if changed {
				list[i] = n
			}
		}
		if list != nil {
			return list, true
		}
	case map[string]any:
		var object map[string]any
		for k, e := range v {
			n, changed := copyForJQ(e)
			if changed && object == nil {
				object = maps.Clone(v)
			}
			if changed {
				object[k] = n
			}
		}
		if object != nil {
			return object, true
		}
	}
	return v, false
}

// jqSafe are the beginnings of the library's messages that hold no value, up to the kind of what was there.
var jqSafe = lazily(`\A((?:expected an? [a-z ]+ but got|cannot [a-z ]+|[a-z_0-9]+ cannot be applied to): (?:null|boolean|number|string|array|object))(?: \(|\z)`)

// jqReason is a jq error without the values that the library quotes: they come from the polled system.
func jqReason(err error) string {
	var ve gojq.ValueError
	if errors.As(err, &ve) {
		return "the program called error(…)"
	}
	message := err.Error()
	if m := jqSafe().FindStringSubmatch(message); m != nil {
		return m[1]
	}
	name := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", err), "*gojq."), "Error")
	return "it failed (" + name + ")"
}
