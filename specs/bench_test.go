package specs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

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

// BenchmarkPollOf10000Items is a poll of a list with keys in which nothing changed.
func BenchmarkPollOf10000Items(b *testing.B) {
	var doc strings.Builder
	doc.WriteString("[")
	for i := range 10_000 {
		if i > 0 {
			doc.WriteString(",")
		}
		fmt.Fprintf(&doc, `{"id":"item-%d","state":"open","n":%d}`, i, i)
	}
	doc.WriteString("]")
	w := &world{}
	s, _ := specs.Parse("keyed.yaml", []byte(keyed))
	source, found := specs.Compile(s, specs.Options{Fetchers: w.registry()})
	if found.HasErrors() {
		b.Fatal(found)
	}
	target, err := source.ParseTarget(nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w.docs = []string{doc.String()}
		out, err := source.Poll(context.Background(), target, time.Unix(1_790_000_000, 0))
		if err != nil || len(out.Events) != 0 {
			b.Fatal(err, len(out.Events))
		}
		target.Saved = out.Saved
	}
}
