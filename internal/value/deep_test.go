package value_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/value"
)

func BenchmarkDeep(b *testing.B) {
	for _, depth := range []int{10, 100, value.MaxDepth} {
		for name, pair := range map[string][2]string{"lists": {"[", "]"}, "objects": {`{"a":`, "}"}} {
			text := []byte(strings.Repeat(pair[0], depth) + "1.0" + strings.Repeat(pair[1], depth))
			b.Run(fmt.Sprintf("decode %s/%d", name, depth), func(b *testing.B) {
				for b.Loop() {
					if _, err := value.Decode(text); err != nil {
						b.Fatal(err)
					}
				}
			})
			v, err := value.Decode(text)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("normalise %s/%d", name, depth), func(b *testing.B) {
				for b.Loop() {
					value.Normalise(v)
				}
			})
			b.Run(fmt.Sprintf("encode %s/%d", name, depth), func(b *testing.B) {
				for b.Loop() {
					if _, err := value.Encode(v); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestWhatIsNestedTooDeepIsRefused(t *testing.T) {
	for _, pair := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
		for depth, want := range map[int]error{value.MaxDepth: nil, value.MaxDepth + 1: value.ErrTooDeep} {
			_, err := value.Decode([]byte(strings.Repeat(pair[0], depth) + "1" + strings.Repeat(pair[1], depth)))
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%d times %s: %v", depth, pair[0], err)
			}
		}
	}
	bottomless := any(map[string]any{})
	for range 5_000_000 { // more than a stack holds
		bottomless = []any{bottomless}
	}
	if err := value.NormaliseAll(t.Context(), []any{bottomless}); !errors.Is(err, value.ErrTooDeep) {
		t.Error(err)
	}
	if !value.TooDeep(bottomless) {
		t.Error("it is not too deep")
	}
}

// TestNormaliseAllBringsEverythingBehindTheBorder: also what it meets again, at other depths, in slices of one list.
func TestNormaliseAllBringsEverythingBehindTheBorder(t *testing.T) {
	leaf := []any{int64(1), 2.0, map[string]any{"a": big.NewInt(3)}}
	many := make([]any, 0, 200_000)
	for range cap(many) {
		many = append(many, 0.0)
	}
	vs := []any{many, map[string]any{"x": []any{leaf}}, leaf, leaf[:1], leaf[1:], 4.0, nil}
	if err := value.NormaliseAll(t.Context(), vs); err != nil {
		t.Fatal(err)
	}
	want := []any{1, 2, map[string]any{"a": 3}}
	if !reflect.DeepEqual(vs[1:], []any{map[string]any{"x": []any{want}}, want, want[:1], want[1:], 4, nil}) {
		t.Errorf("%#v", vs[1:])
	}
	for _, v := range many {
		if v != 0 {
			t.Fatalf("%#v is left", v)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := value.NormaliseAll(ctx, []any{many}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// BenchmarkNormaliseAllParts is what `..` gives of a deep document: each part once for each level above it.
func BenchmarkNormaliseAllParts(b *testing.B) {
	var parts []any
	v := any(0)
	for range value.MaxDepth {
		v = []any{v}
		parts = append(parts, v)
	}
	slices.Reverse(parts)
	for b.Loop() {
		if err := value.NormaliseAll(b.Context(), parts); err != nil {
			b.Fatal(err)
		}
	}
}
