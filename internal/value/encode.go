package value

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// Encode writes v as JSON: maps by key, HTML not escaped, no newline. Equal values give equal bytes.
func Encode(v any) ([]byte, error) {
	if b, ok := appendPlain(make([]byte, 0, 64), v); ok {
		return b, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// appendPlain appends what encoding/json would write of v, without reflection: a poll saves a cursor and a key for every
// item of a list. ok is false where v holds anything that is not as plain as most cursors are.
func appendPlain(b []byte, v any) (out []byte, ok bool) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), true
	case bool:
		return strconv.AppendBool(b, v), true
	case int:
		return strconv.AppendInt(b, int64(v), 10), true
	case string:
		return appendPlainString(b, v)
	case []any:
		if v == nil {
			return b, false
		}
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendPlain(b, e); !ok {
				return b, false
			}
		}
		return append(b, ']'), true
	case map[string]any:
		if v == nil {
			return b, false
		}
		var few [16]string // most objects need no list on the heap
		names := few[:0]
		for k := range v {
			names = append(names, k)
		}
		slices.Sort(names)
		b = append(b, '{')
		for i, k := range names {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = appendPlainString(b, k); !ok {
				return b, false
			}
			if b, ok = appendPlain(append(b, ':'), v[k]); !ok {
				return b, false
			}
		}
		return append(b, '}'), true
	}
	return b, false
}

// appendPlainString appends a string of ASCII that needs no escapes.
func appendPlainString(b []byte, s string) (out []byte, ok bool) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return b, false
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"'), true
}
