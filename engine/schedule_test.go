package engine

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessevents/sessevents/engine/control"
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
		"the wall clock was set ahead a day":                {now.Round(0).Add(24 * time.Hour), true},
	} {
		if got := s.due(tt.at); got != tt.due {
			t.Errorf("%s: due %v, want %v", name, got, tt.due)
		}
	}
	// Of all polls that a day had room for there is one, and then the wait begins anew.
	ahead := now.Round(0).Add(24 * time.Hour)
	s.polled(ahead, true)
	if s.due(ahead) || s.due(ahead.Add(59*time.Minute)) || !s.due(ahead.Add(time.Hour)) {
		t.Error("what was missed is caught up with")
	}
}

// TestC25_TheClockGoesBackAndIdsDoNot: `at` is the wall clock's, ids are counted.
func TestC25_TheClockGoesBackAndIdsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := always(func(n int) Outcome { return said(fmt.Sprint("alert ", n)) })
		dir := t.TempDir()
		b := run(t, dir, source)
		b.mustWatch("a")
		b.end()
		// The clock was a year ahead then.
		log := readFile(t, b.files.Events)
		must(t, os.WriteFile(b.files.Events, []byte(strings.Replace(log, `"at":"2000-`, `"at":"2001-`, 1)), 0o600))
		b = run(t, dir, source)
		b.ask(control.Request{Op: control.Poll}) // beside the one at the start
		b.end()
		b.wantLogged("1 alert 1", "2 alert 2", "3 alert 3")
		if log = readFile(t, b.files.Events); strings.Index(log, `"at":"2001-`) > strings.Index(log, `"at":"2000-`) || strings.Count(log, `"at":"2000-`) != 2 {
			t.Errorf("log:\n%s", log)
		}
	})
}
