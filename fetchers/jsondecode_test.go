package fetchers

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessevents/sessevents/internal/value"
)

var lineSeeds = []string{
	`{"a":1,"b":[true,false,null,{"c":-0.5e3}],"d":"x\u00e9\n\"\/\\"}`, ``, ` `, `null`, `nul`, `tru`, `1`, `-`, `-0`, `01`, `1.`,
	`1.5`, `1e5`, `1e`, `1E+2`, `.5`, `+1`, `9007199254740993`, `-9223372036854775808`, `18446744073709551615`,
	`18446744073709551616`, `1e400`, `-1e400`, `1e-400`, `123456789012345678`, `"`, `"\u12"`, `"\ud800"`, `"\ud83d\ude00"`, `"\ud83d\ud83d\ude00x"`, `"\ude00\ud83d"`, `"\uD83Dx\b\f\r\t"`, `"\ud83d\n"`, `"\ud83d\u0041\uFFFF"`, `{"\ud83d":1}`, `"\x"`, "\"\x01\"",
	"\"\xff\"", `{}`, `[]`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1,"a":2}`, `{"\u0061":3}`,
	` { "a" : [ 1 , 2 ] } `, `{} {}`, `[}`, "\xef\xbb\xbf{}", `[[[[]]]]`, "\"\x7f\u2028\"", `{"":{"":0}}`, `truefalse`, "[1\x00]",
	"{\"a\":\"\ufffd\"}", `100000000000000000000000000000000000000000`, `0.1`, `1.0`, `4503599627370497.5`, `9007199254740993.0`,
}

func FuzzJSONDecoderEqualsTheBorder(f *testing.F) {
	for _, s := range lineSeeds {
		f.Add(s)
	}
	f.Add(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))
	f.Add(strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1))
	f.Fuzz(func(t *testing.T, line string) {
		want, err := value.Decode([]byte(line))
		valid := err == nil && utf8.ValidString(line)
		var d jsonDecoder
		got, ok := d.decode([]byte(line), nil)
		if ok != valid || valid && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %#v %v, want %#v %v", line, got, ok, want, err)
		}
		// What is gone past is checked like what is kept.
		if _, ok := d.decode([]byte(line), &wanted{}); ok != valid {
			t.Fatalf("%q: gone past: %v, %v", line, ok, valid)
		}
	})
}

func FuzzNarrowKeepsWhatIsRead(f *testing.F) {
	for _, s := range lineSeeds {
		f.Add(s, "a", "b")
	}
	f.Add(`{"a":{"b":1,"c":2},"b":[{"b":3,"a":4}]}`, "a", "b")
	f.Add(`{"\u0061":{"\u0062":"st\u006fp"}}`, "a", "stop")
	f.Fuzz(func(t *testing.T, line, one, two string) {
		var d jsonDecoder
		whole, ok := d.decode([]byte(line), nil)
		if !ok {
			return
		}
		paths := [][]string{{one, two}, {two}}
		part, ok := d.decode([]byte(line), newWanted(&Narrow{Paths: paths}))
		if !ok {
			t.Fatalf("%q is refused", line)
		}
		for _, path := range paths {
			if a, b := reads(whole, path), reads(part, path); !reflect.DeepEqual(a, b) {
				t.Fatalf("%q at %q: got %#v, want %#v", line, path, b, a)
			}
		}
		s := newSieve(nil, &Narrow{Literals: [][]string{{one, two}}})
		if holds(whole, one) || holds(whole, two) {
			if !s.mayMatter([]byte(line)) {
				t.Fatalf("%q with %q or %q is held back", line, one, two)
			}
		}
	})
}

// reads is what a program sees that follows a path: values, and errors where it meets something without members.
func reads(v any, path []string) any {
	if list, ok := v.([]any); ok && len(path) > 0 {
		out := []any{}
		for _, e := range list {
			out = append(out, reads(e, path))
		}
		return out
	}
	if len(path) == 0 {
		return v
	}
	m, ok := v.(map[string]any)
	if !ok {
		return []any{"error on", v}
	}
	return reads(m[path[0]], path[1:])
}

// holds says whether a text is part of a string or of a name in v.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		for _, e := range v {
			if holds(e, text) {
				return true
			}
		}
	case map[string]any:
		for name, e := range v {
			if strings.Contains(name, text) || holds(e, text) {
				return true
			}
		}
	}
	return false
}

func TestSieve(t *testing.T) {
	for _, c := range []struct {
		groups [][]string
		line   string
		want   bool
	}{
		{[][]string{{"stop"}}, `{"event":"stop"}`, true},
		{[][]string{{"stop"}}, `{"event":"start"}`, false},
		{[][]string{{"stop"}}, `{"event":"st\u006fp"}`, true},
		{[][]string{{"stop"}}, `{"event":"a\nb"}`, false},
		{[][]string{{"stop", "end"}}, `{"event":"end"}`, true},
		{[][]string{{"stop"}, {"end"}}, `{"event":"end"}`, false},
		{[][]string{{"a/bc"}}, `{"event":"a\/bc"}`, true},
		{[][]string{{"a/bc"}}, `{"event":"a\/xx"}`, false},
		{[][]string{{`"`}}, `{}`, true},
		{[][]string{{"stop", `"`}}, `{}`, true},
		{[][]string{{"say \"hello\""}}, `{"t":"say \"hello\""}`, true},
		{[][]string{{""}}, `{}`, true},
		{[][]string{{}}, `{}`, true},
		{nil, `{}`, true},
		{[][]string{{"\xff"}}, `{}`, true},
	} {
		s := newSieve(nil, &Narrow{Literals: c.groups})
		if got := s.mayMatter([]byte(c.line)); got != c.want {
			t.Errorf("%q in %s: %v", c.groups, c.line, got)
		}
	}
}
