package specs_test

import (
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// BenchmarkCheck is the time that lint takes for one file.
func BenchmarkCheck(b *testing.B) {
	src := []byte(specs.ExampleSpec)
	for b.Loop() {
		if _, _, found := specs.Check("queue.yaml", src, real); len(found) > 0 {
			b.Fatal(found)
		}
	}
}

// BenchmarkParse is the time that a client command takes to read a spec.
func BenchmarkParse(b *testing.B) {
	src := []byte(specs.ExampleSpec)
	for b.Loop() {
		if _, found := specs.Parse("queue.yaml", src); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
