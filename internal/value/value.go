// Package value is the one border for data that comes from outside: JSON documents, jq results and saved state.
// Behind it a value is nil, bool, int, uint64 (only above the range of int), float64 (only where it is not a whole
// number that int holds exactly), string, []any or map[string]any.
package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Decode reads one JSON document, numbers exact as the border says.
func Decode(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value (a second one at byte %d)", dec.InputOffset())
	}
	return Normalise(v), nil
}

// Normalise brings v, as a decoder or a jq program gives it, behind the border. It changes maps and lists in place.
func Normalise(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(string(v))
	case float64:
		return float(v)
	case int64:
		return int(v)
	case []any:
		for i := range v {
			v[i] = Normalise(v[i])
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = Normalise(v[k])
		}
		return v
	}
	return v
}

func number(s string) any {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return int(i)
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil { // out of range: the largest there is, as jq does
		f = math.Copysign(math.MaxFloat64, f)
	}
	return float(f)
}

func float(f float64) any {
	const exact = 1 << 53
	if f == math.Trunc(f) && math.Abs(f) <= exact {
		return int(f)
	}
	return f
}
