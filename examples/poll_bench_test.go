package examples_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

// BenchmarkPoll is what one quiet poll of one file costs, from the question to the next state.
func BenchmarkPoll(b *testing.B) {
	set := fetchers.NewSet()
	defer set.Close()
	_, source, faults := specs.CheckFile("log-events.yaml", specs.Options{Fetchers: set.Fetchers()})
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	file := filepath.Join(b.TempDir(), "build.log")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	target, err := source.ParseTarget([]string{file})
	if err != nil {
		b.Fatal(err)
	}
	var o engine.Outcome
	for b.Loop() {
		if o, err = source.Poll(b.Context(), target, time.Now()); err != nil {
			b.Fatal(err)
		}
		target.Saved = o.Saved
	}
}
