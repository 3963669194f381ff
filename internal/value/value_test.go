package value_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/sessevents/sessevents/internal/value"
)

func decode(t *testing.T, s string) any {
	t.Helper()
	v, err := value.Decode([]byte(s))
	if err != nil {
		t.Fatalf("decode %s: %v", s, err)
	}
	return v
}

func TestEqualNumbersAreEqualInGo(t *testing.T) {
	for _, row := range [][2]string{
		{"1", "1.0"},
		{"100", "1e2"},
		{"1000000000000000000", "1e18"},
		{"9223372036854775808", "9.223372036854775808e18"},
		{"0", "-0.0"},
		{"0.5", "5e-1"},
	} {
		a, b := decode(t, row[0]), decode(t, row[1])
		if a != b {
			t.Errorf("%s is %T %v, %s is %T %v", row[0], a, a, row[1], b, b)
		}
	}
}

func TestIntegersStayExact(t *testing.T) {
	for _, s := range []string{"9007199254740993", "-9223372036854775808", "9223372036854775807", "18446744073709551615"} {
		out, err := value.Encode(decode(t, s))
		if err != nil || string(out) != s {
			t.Errorf("%s came back as %s, %v", s, out, err)
		}
	}
	if v := value.Normalise(new(big.Int).SetUint64(math.MaxUint64)); v != uint64(math.MaxUint64) {
		t.Errorf("a big integer of jq is %T %v", v, v)
	}
}

func TestNeighboursAreNotEqual(t *testing.T) {
	for _, row := range [][2]string{
		{"9007199254740992", "9007199254740993"},
		{"9223372036854775807", "9223372036854775808"},
		{"18446744073709551615", "18446744073709551616"},
		{"9007199254740993", "0.5"},
		{"-1", "18446744073709551615"},
		{"1", "1.5"},
	} {
		a, b := decode(t, row[0]), decode(t, row[1])
		if value.Equal(a, b) || value.Equal(b, a) {
			t.Errorf("%s equals %s", row[0], row[1])
		}
		less, ok := value.Compare(a, b)
		more, _ := value.Compare(b, a)
		if !ok || less != -more || less == 0 {
			t.Errorf("%s against %s: %d and %d, %v", row[0], row[1], less, more, ok)
		}
	}
}

func TestArithmeticDoesNotWrap(t *testing.T) {
	for _, row := range []struct{ a, op, b, want string }{
		{"9223372036854775807", "+", "1", "9223372036854775808"},
		{"9223372036854775808", "-", "1", "9223372036854775807"},
		{"18446744073709551615", "+", "1", "18446744073709552000"},
		{"6", "/", "2", "3"},
		{"7", "/", "2", "3.5"},
		{"-7", "%", "2", "-1"},
		{"2", "**", "63", "9223372036854775808"},
		{"9007199254740993", "*", "1", "9007199254740993"},
		{"0.5", "+", "0.5", "1"},
	} {
		v, ok, err := value.Arith(row.op, decode(t, row.a), decode(t, row.b))
		if !ok || err != nil || !value.Equal(v, decode(t, row.want)) {
			t.Errorf("%s %s %s is %v, %v, %v; want %s", row.a, row.op, row.b, v, ok, err, row.want)
		}
	}
	if _, _, err := value.Arith("/", 1, 0); err != value.ErrDivide {
		t.Errorf("1/0: %v", err)
	}
}

func FuzzBorder(f *testing.F) {
	for _, s := range []string{`{"b":"<é\u2028>","a":{"z":[],"y":{}},"":true}`, `{"b":-1,"a":[false,"x y~",{"k":0}]}`, `["\"\\\u007f\b\f"]`, `{"a":[1,1.5,null,"x"]}`, `18446744073709551616`, `-0.0`, `1e999`, `[1e-400]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := value.Decode(data)
		if err != nil {
			return
		}
		once, err := value.Encode(v)
		if err != nil {
			t.Fatalf("encode %q: %v", data, err)
		}
		var library bytes.Buffer
		enc := json.NewEncoder(&library)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil || library.String() != string(once)+"\n" {
			t.Fatalf("encode %q: %s, encoding/json says %s%v", data, once, &library, err)
		}
		back, err := value.Decode(once)
		if err != nil || !value.Equal(v, back) || !value.Equal(back, v) {
			t.Fatalf("%q became %s and no longer equals itself: %v", data, once, err)
		}
	})
}

// TestEqualLeavesItsValuesAlone: a document may be read by another poll meanwhile.
func TestEqualLeavesItsValuesAlone(t *testing.T) {
	for _, row := range []struct {
		a, b any
		want bool
	}{
		{[]any{[]any{2.0}}, []any{[]any{2}}, true},
		{[]any{2}, []any{2.0}, true},
		{map[string]any{"a": []any{int64(1)}}, map[string]any{"a": []any{1}}, true},
		{2.0, []any{2.0}, false},
		{[]any{2.0}, 2.0, false},
		{nil, []any{}, false},
		{math.NaN(), nil, true},
		{nil, math.NaN(), true},
		{nil, false, false},
	} {
		before := fmt.Sprintf("%T %T", first(row.a), first(row.b))
		if got := value.Equal(row.a, row.b); got != row.want {
			t.Errorf("%v and %v: %v", row.a, row.b, got)
		}
		if after := fmt.Sprintf("%T %T", first(row.a), first(row.b)); after != before {
			t.Errorf("%v and %v were %s and are %s", row.a, row.b, before, after)
		}
	}
}

// first is the innermost first part of a value.
func first(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			return first(v[0])
		}
	case map[string]any:
		return first(v["a"])
	}
	return v
}

func BenchmarkEqualOfADeepList(b *testing.B) {
	deep := func() (v any) {
		for range 10_000 {
			v = []any{v}
		}
		return v
	}
	x, y := deep(), deep()
	for b.Loop() {
		if !value.Equal(x, y) {
			b.Fatal("not equal")
		}
	}
}
