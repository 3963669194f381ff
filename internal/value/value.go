// Package value is the one border for data that comes from outside: JSON documents, jq results and saved state.
//
// Behind it a value is nil, bool, int, uint64 (only above the range of int), float64 (only where it is not a whole
// number that int or uint64 holds), string, []any or map[string]any. So two equal numbers are also equal in Go, and
// what went through a file equals the fresh value that it was made from.
package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
)

// Decode reads one JSON document, numbers exact as the border says. One nested deeper than MaxDepth is an error.
func Decode(data []byte) (any, error) {
	// A number alone, as most cursors are, is not worth a decoder.
	if len(data) > 0 && (data[0] == '-' || '0' <= data[0] && data[0] <= '9') && json.Valid(data) {
		return number(string(bytes.TrimSpace(data))), nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value (a second one at byte %d)", dec.InputOffset())
	}
	if TooDeep(v) {
		return nil, ErrTooDeep
	}
	return Normalise(v), nil
}

// Normalise brings v, as a decoder, a jq program or Go code gives it, behind the border. It changes maps and lists
// in place. What the border does not know (a time, a struct) stays as it is.
func Normalise(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int:
		return v
	case []any:
		for i, e := range v {
			if n := Normalise(e); !same(n, e) {
				v[i] = n
			}
		}
		return v
	case map[string]any:
		for k, e := range v {
			if n := Normalise(e); !same(n, e) {
				v[k] = n
			}
		}
		return v
	case json.Number:
		return number(string(v))
	case float64:
		return float(v)
	case float32:
		return float(float64(v))
	case *big.Int:
		return bigInt(v)
	case uint64:
		return unsigned(v)
	case int64:
		return int(v)
	case int32:
		return int(v)
	case int16:
		return int(v)
	case int8:
		return int(v)
	case uint:
		return unsigned(uint64(v))
	case uint32:
		return unsigned(uint64(v))
	case uint16:
		return int(v)
	case uint8:
		return int(v)
	}
	return v
}

// same reports whether nothing has to be stored: so that a document that is behind the border already, and may be
// read by somebody else at the same time, is not written to.
func same(a, b any) bool {
	switch b.(type) {
	case nil, bool, string, int, []any, map[string]any:
		return true
	case float64:
		_, still := a.(float64)
		return still
	case uint64:
		_, still := a.(uint64)
		return still
	}
	return false
}

func number(s string) any {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return int(i)
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u
	}
	f, _ := strconv.ParseFloat(s, 64)
	return float(f)
}

func unsigned(u uint64) any {
	if u <= math.MaxInt {
		return int(u)
	}
	return u
}

func bigInt(b *big.Int) any {
	switch {
	case b.IsInt64():
		return int(b.Int64())
	case b.IsUint64():
		return b.Uint64()
	}
	f, _ := new(big.Float).SetInt(b).Float64()
	return float(f)
}

// float is what a float64 is behind the border. JSON knows no infinity and no NaN: they become the largest number
// there is, as in jq, and nil.
func float(f float64) any {
	switch {
	case math.IsNaN(f):
		return nil
	case math.IsInf(f, 0):
		return math.Copysign(math.MaxFloat64, f)
	case f != math.Trunc(f):
		return f
	case f >= math.MinInt64 && f < math.MaxInt64: // the constant rounds up to 2^63
		return int(f)
	case f >= 0 && f < math.MaxUint64: // likewise 2^64
		return uint64(f)
	}
	return f
}

// IsNumber reports whether v is a number behind the border.
func IsNumber(v any) bool {
	switch v.(type) {
	case int, uint64, float64:
		return true
	}
	return false
}
