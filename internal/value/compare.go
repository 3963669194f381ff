package value

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Equal reports whether two values are the same. Numbers compare exactly whatever their Go type; lists and maps
// compare by content, and stay as they are.
func Equal(a, b any) bool {
	switch a := a.(type) { // brought behind the border part by part: a whole list at each depth would be too often
	case []any:
		bs, ok := b.([]any)
		return ok && slices.EqualFunc(a, bs, Equal)
	case map[string]any:
		bm, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, bm, Equal)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	if a = Normalise(a); a == nil {
		return Normalise(b) == nil
	}
	c, ok := Compare(a, b)
	return ok && c == 0
}

// Compare orders two values: negative where a is less. ok is false where they have no order: different kinds, lists,
// maps, nil. A time compares with a string that is an RFC 3339 time, a duration with a string that is one, because
// that is what they become in a state file.
func Compare(a, b any) (c int, ok bool) {
	a, b = Normalise(a), Normalise(b)
	switch a := a.(type) {
	case string:
		switch b := b.(type) {
		case string:
			return strings.Compare(a, b), true
		case time.Time, time.Duration:
			c, ok = Compare(b, a)
			return -c, ok
		}
	case bool:
		if b, isBool := b.(bool); isBool {
			return cmp.Compare(bit(a), bit(b)), true
		}
	case time.Time:
		if t, isTime := asTime(b); isTime {
			return a.Compare(t), true
		}
	case time.Duration:
		if d, isDuration := asDuration(b); isDuration {
			return cmp.Compare(a, d), true
		}
	}
	if IsNumber(a) && IsNumber(b) {
		return compareNumbers(a, b), true
	}
	return 0, false
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func asTime(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		return t, err == nil
	}
	return time.Time{}, false
}

func asDuration(v any) (time.Duration, bool) {
	switch v := v.(type) {
	case time.Duration:
		return v, true
	case string:
		d, err := time.ParseDuration(v)
		return d, err == nil
	}
	return 0, false
}

// compareNumbers compares exactly.
func compareNumbers(a, b any) int {
	switch a := a.(type) {
	case int:
		switch b := b.(type) {
		case int:
			return cmp.Compare(a, b)
		case uint64:
			return -1
		case float64:
			return compareFloat(float64(a), b)
		}
	case uint64:
		switch b := b.(type) {
		case int:
			return 1
		case uint64:
			return cmp.Compare(a, b)
		case float64:
			return compareFloat(float64(a), b)
		}
	case float64:
		if b, isFloat := b.(float64); isFloat {
			return cmp.Compare(a, b)
		}
		return -compareNumbers(b, a)
	}
	return 0
}

// compareFloat compares a rounded integer with a float64. Behind the border f is either a fraction, so below 2^53,
// where rounding cannot turn the order; or beyond 64 bits, where its sign decides.
func compareFloat(rounded, f float64) int {
	if math.Abs(f) >= 1<<63 {
		return cmp.Compare(0, f)
	}
	return cmp.Compare(rounded, f)
}
