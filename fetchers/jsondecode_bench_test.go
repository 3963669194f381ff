package fetchers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/httpbench"
	"github.com/sessevents/sessevents/internal/value"
)

// BenchmarkDecodeLine decodes one line of 250 bytes, beside the border that takes every form of input.
func BenchmarkDecodeLine(b *testing.B) {
	line := []byte(fmt.Sprintf(`{"at":"2026-11-30T17:00:00.%06dZ","event":"stop","tool":"Bash","session":{"id":"s-%06d","turn":%d},"text":"line\n%s"}`, 7, 7, 977, strings.Repeat("the quick brown fox ", 7)))
	for name, want := range map[string]*Want{"whole": nil, "3-paths": threePaths} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			var d jsonDecoder
			began := httpbench.CPU()
			for b.Loop() {
				if _, ok := d.decode(line, want); !ok {
					b.Fatal("refused")
				}
			}
			b.ReportMetric(float64(httpbench.CPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
	b.Run("border", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		b.ReportAllocs()
		began := httpbench.CPU()
		for b.Loop() {
			if _, err := value.Decode(line); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(httpbench.CPU()-began)/float64(b.N), "cpu-ns/op")
	})
}
