package tmux_test

import (
	"fmt"
	"testing"

	"github.com/sessevents/sessevents/csd/tmux"
)

// BenchmarkPanes compares one list of 500 sessions with the bare command that it cannot do without.
func BenchmarkPanes(b *testing.B) {
	s := server(b, "")
	for i := range 500 {
		sleeper(b, s, fmt.Sprintf("worker-%d", i))
	}
	b.Run("Panes", func(b *testing.B) {
		for b.Loop() {
			panes, err := s.Panes(b.Context())
			if err != nil || len(panes) != 500 {
				b.Fatal(len(panes), err)
			}
			if _, err := tmux.Find(panes, "worker-499"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if _, err := raw(s, "list-panes", "-a").Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
