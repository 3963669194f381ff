package specs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/internal/value"
)

// nested is a document of lists in lists around a leaf.
func nested(depth int, leaf string) string {
	return strings.Repeat("[", depth) + leaf + strings.Repeat("]", depth)
}

func deepSpec(extract, cursor string) string {
	return "\nversion: 1\nname: n\ninterval: 5s\nfetch: {stat: {path: /}}\nextract: '" + extract + "'\ncursor: '" + cursor + "'\nrules: [{when: 'changed', kind: x, text: x}]\n"
}

// TestC36_WhatIsNestedDeepEndsInTime: work by the depth of a value, for each of its parts once more, is bounded by the
// depth that a value may have.
func TestC36_WhatIsNestedDeepEndsInTime(t *testing.T) {
	deep := "nested deeper than 1000 levels"
	for _, c := range []struct{ doc, extract, cursor, want string }{
		{nested(value.MaxDepth, "1"), ".", "item", ""},
		{nested(value.MaxDepth, "18446744073709551615"), "..", "1", ""},
		{nested(value.MaxDepth, "1"), "[..]", "1", deep},
		{nested(value.MaxDepth, "1"), "[..] | length", "item", ""},
		{nested(value.MaxDepth, "1"), "[.]", "1", deep},
		{nested(value.MaxDepth+1, "1"), ".", "1", deep},
		{"1", "reduce range(20000) as $i (.; [.])", "1", deep},
		{"1", "reduce range(20000) as $i (.; {a: .})", "1", deep},
		{"1", ".", "reduce(1..100000, [#acc], 0)", deep},
		{"1", ".", "toJSON(reduce(1..100000, [#acc], 0))", deep},
		{"1", ".", "uniq([reduce(1..100000, [#acc], 0)])", deep},
		{"[" + strings.Repeat("0,", 50_000) + "0]", ". as $d | range(90000) | $d", "1", ""},
	} {
		w := watch(t, deepSpec(c.extract, c.cursor))
		began := time.Now()
		_, err := w.try(c.doc)
		took := time.Since(began)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %s: %.200v", c.extract, c.cursor, err)
		}
		if most := 5 * time.Second; took > most { // it takes tenths of a second; it took from seconds to a minute
			t.Errorf("%s, %s: took %s", c.extract, c.cursor, took)
		}
	}
}
