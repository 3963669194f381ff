package fetchers

import (
	"path/filepath"
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
	f.Add(strings.Repeat("[", value.MaxDepth) + strings.Repeat("]", value.MaxDepth))
	f.Add(strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1))
	f.Fuzz(func(t *testing.T, line string) {
		want, err := value.Decode([]byte(line))
		valid := err == nil && utf8.ValidString(line)
		var d jsonDecoder
		got, ok := d.decode([]byte(line), nil)
		if ok != valid || valid && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %#v %v, want %#v %v", line, got, ok, want, err)
		}
		// What is gone past is checked like what is kept.
		if _, ok := d.decode([]byte(line), &Want{}); ok != valid {
			t.Fatalf("%q: gone past: %v, %v", line, ok, valid)
		}
	})
}

// FuzzNarrowKeepsWhatIsRead decodes a line for a random want: it must be refused as the whole line is, and give what is
// left of the whole line without the parts that nobody wants.
func FuzzNarrowKeepsWhatIsRead(f *testing.F) {
	for _, s := range lineSeeds {
		f.Add(s, "a", "b", []byte{1, 2, 3, 4})
	}
	f.Add(`{"a":{"b":1,"c":2},"b":[{"b":3,"a":4}]}`, "a", "b", []byte{5, 1, 0, 6, 0, 2})
	f.Add(`{"\u0061":{"\u0062":"st\u006fp"},"a":[{"a":1,"a":{"b":[[],{"b":1e400}]}}]}`, "a", "stop", []byte{1, 5, 1, 2})
	f.Add(`[{"x":{"a":1}},{"x":{"b":"\ud800"}},7,null]`, "x", "b", []byte{4, 1, 1, 0})
	f.Add(`{"a":[1,2,{"b":nope}]}`, "b", "b", []byte{2, 2})
	for _, deep := range []int{value.MaxDepth - 1, value.MaxDepth} {
		f.Add(`{"a":`+strings.Repeat("[", deep)+strings.Repeat("]", deep)+`,"b":1}`, "b", "c", []byte{1})
	}
	f.Fuzz(func(t *testing.T, line, one, two string, choices []byte) {
		var d jsonDecoder
		whole, err := value.Decode([]byte(line))
		valid := err == nil && utf8.ValidString(line)
		want := wantOf([]string{one, two}, &choices, 6)
		part, ok := d.decode([]byte(line), want)
		if ok != valid {
			t.Fatalf("%q for %+v: %v, the whole line %v", line, want, ok, valid)
		}
		if !ok {
			return
		}
		if left := pruned(whole, want); !reflect.DeepEqual(part, left) {
			t.Fatalf("%q for %+v: got %#v, want %#v", line, want, part, left)
		}
		s := newSieve(nil, &Narrow{Literals: [][]string{{one, two}}})
		if holds(whole, one) || holds(whole, two) {
			if !s.mayMatter([]byte(line)) {
				t.Fatalf("%q with %q or %q is held back", line, one, two)
			}
		}
	})
}

// wantOf makes a want of the bits of choices.
func wantOf(names []string, choices *[]byte, depth int) *Want {
	if len(*choices) == 0 || depth == 0 {
		return nil
	}
	c := (*choices)[0]
	*choices = (*choices)[1:]
	if c == 0 {
		return nil
	}
	w := &Want{}
	for i, name := range names {
		if c>>i&1 == 1 {
			if w.Members == nil {
				w.Members = map[string]*Want{}
			}
			w.Members[name] = wantOf(names, choices, depth-1)
		}
	}
	if c>>len(names)&1 == 1 {
		w.Each = wantOf(names, choices, depth-1)
	}
	return w
}

// pruned is v without what is not wanted of it.
func pruned(v any, w *Want) any {
	if w == nil {
		return v
	}
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			if w.Each != nil {
				out = append(out, pruned(e, w.Each))
			}
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if m, ok := w.Members[name]; ok {
				out[name] = pruned(e, m)
			} else if w.Each != nil {
				out[name] = pruned(e, w.Each)
			}
		}
		return out
	}
	return v
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

func TestC36_WhatIsNestedTooDeepIsSaid(t *testing.T) {
	deep := strings.Repeat(`{"a":`, value.MaxDepth+1) + "1" + strings.Repeat("}", value.MaxDepth+1)
	file := filepath.Join(t.TempDir(), "f")
	write(t, file, "{}\n"+deep+"\n{}\n")
	for _, form := range []string{"auto", "json"} {
		one := filepath.Join(t.TempDir(), "one")
		write(t, one, deep)
		if err := newAsker(t, "exec").fails("parse", map[string]any{"command": []string{"cat", one}, "parse": form}); !strings.Contains(err.Error(), "nested deeper than 1000 levels") {
			t.Error(err)
		}
	}
	if err := newAsker(t, "exec").fails("parse", map[string]any{"command": []string{"cat", file}, "parse": "jsonl"}); !strings.Contains(err.Error(), "line 2: nested deeper than 1000 levels") {
		t.Error(err)
	}
	a := newAsker(t, "jsonl-tail")
	doc := a.doc(map[string]any{"path": file, "from": "start"})
	if len(doc["lines"].([]any)) != 2 || doc["skipped"] != 1 || !strings.Contains(strings.Join(a.logs, "\n"), "the line at byte 3 is nested deeper than 1000 levels") {
		t.Errorf("%v, %q", doc, a.logs)
	}
	// The decoder that met it is as good as before.
	var d jsonDecoder
	d.decode([]byte(deep), nil)
	if d.decode([]byte("\"\xff\""), nil); d.deep {
		t.Error("what is not UTF-8 is told as too deep")
	}
	for range 2 {
		if _, err := d.document([]byte(deep), nil); err == nil {
			t.Error("it is taken")
		}
		if v, err := d.document([]byte("[1]"), nil); err != nil || !reflect.DeepEqual(v, []any{1}) {
			t.Error(v, err)
		}
	}
}
