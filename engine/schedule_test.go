package engine

import (
	"testing"
	"time"
)

func TestC25_AMachineThatSleptIsNoticedAndTheClockMayGoBack(t *testing.T) {
	now := time.Now()
	s := schedule{busy: time.Hour, idle: time.Hour}
	s.polled(now, true)
	for name, tt := range map[string]struct {
		at  time.Time
		due bool
	}{
		"half the wait later": {now.Add(30 * time.Minute), false},
		"the wait later":      {now.Add(time.Hour), true},
		"the monotonic clock stood still, the wall went on": {now.Round(0).Add(time.Hour), true},
		"the wall clock was set back an hour":               {now.Round(0).Add(-time.Hour), false},
	} {
		if got := s.due(tt.at); got != tt.due {
			t.Errorf("%s: due %v, want %v", name, got, tt.due)
		}
	}
}
