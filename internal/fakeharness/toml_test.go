package fakeharness

import (
	"reflect"
	"testing"
)

func TestParseTOML(t *testing.T) {
	got, err := parseTOML("a = \"x \\\"y\\\\ \\u0041\" # c\nb.\"c d\" = 'l\\'\n[t.\"/p/x\"]\nn = 3\nok = true\n[[h.E]]\n[[h.E.hooks]]\nk = 1\n[[h.E]]\n[[h.E.hooks]]\nk = 2\n")
	want := map[string]any{
		"a": `x "y\ A`, "b": map[string]any{"c d": `l\`},
		"t": map[string]any{"/p/x": map[string]any{"n": 3.0, "ok": true}},
		"h": map[string]any{"E": []any{
			map[string]any{"hooks": []any{map[string]any{"k": 1.0}}},
			map[string]any{"hooks": []any{map[string]any{"k": 2.0}}},
		}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"a", "a = ", "a = \"x", "a = 'x", "a = x", "[a", "a = 1\na = 2", "a = 1 2", "= 1", `a = "\q"`} {
		if got, err := parseTOML(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}
