package fetchers

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzBody(f *testing.F) {
	f.Add("auto", 200, "application/json; charset=utf-16", "\xfe\xff\x00{\x00}")
	f.Add("json", 404, "text/html", "<p>")
	f.Add("lines", 200, "text/plain; charset=latin1", "a\xe9\r\nb")
	f.Add("auto", 200, "", "[1]")
	f.Add("auto", 200, ";;;", "{")
	f.Fuzz(func(t *testing.T, form string, status int, kind, data string) {
		v, err := body{status: status, kind: kind, data: []byte(data)}.parse(&jsonDecoder{}, form, nil)
		if err != nil {
			if v != nil {
				t.Errorf("a failure with the document %v", v)
			}
			if len(data) > 16 && strings.Contains(err.Error(), data) || strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("the error quotes the body, or a line break: %q", err)
			}
			return
		}
		if !allValid(v) {
			t.Errorf("a string that is not UTF-8 in %#v", v)
		}
	})
}

func allValid(v any) bool {
	switch v := v.(type) {
	case string:
		return utf8.ValidString(v)
	case []any:
		for _, e := range v {
			if !allValid(e) {
				return false
			}
		}
	case map[string]any:
		for name, e := range v {
			if !utf8.ValidString(name) || !allValid(e) {
				return false
			}
		}
	}
	return true
}
