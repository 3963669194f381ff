package engine

import (
	"fmt"

	"github.com/sessevents/sessevents/engine/eventlog"
)

// troubleAfter is how many failed polls in a row are an event.
const troubleAfter = 3

// trouble counts the polls of all targets that failed as a whole: those in which no target succeeded.
type trouble struct {
	failures int
	reported bool
	// The poll under way: whether some target of it succeeded or failed so far.
	open              bool
	succeeded, failed bool
}

// begin starts a poll of all targets. Targets of the one before that have still not answered do not count any more.
func (t *trouble) begin() {
	t.verdict()
	t.open, t.succeeded, t.failed = true, false, false
}

// verdict ends the poll under way and reports whether it failed as a whole.
func (t *trouble) verdict() (failed bool) {
	if !t.open {
		return false
	}
	t.open = false
	switch {
	case t.succeeded:
		t.failures, t.reported = 0, false
	case t.failed:
		t.failures++
		return true
	}
	return false
}

// reportTrouble says once that polls go on failing: of the source as a whole, or else of single targets.
func (l *loop) reportTrouble() {
	var events []eventlog.Event
	whole := l.trouble.failures >= troubleAfter && !l.trouble.reported
	var single []*target
	for _, t := range l.targets {
		if t.failures >= troubleAfter && !t.reported {
			single = append(single, t)
		}
	}
	if whole && len(single) == 0 && l.trouble.failed && len(l.targets) > 0 {
		l.trouble.reported = true // every target was named one by one already
		return
	}
	say := func(what string) {
		events = append(events, eventlog.Event{
			Kind: "trouble", Level: eventlog.Alert, URL: l.files.Log,
			Text: fmt.Sprintf("%s: the last %d polls%s failed; read the daemon log for the reason", l.info.Name, troubleAfter, what),
		})
	}
	if whole {
		say("")
	} else {
		for _, t := range single {
			say(" of " + cut(oneLine(t.Text, maxText), maxText/2))
		}
	}
	if len(events) == 0 {
		return
	}
	if err := l.save(l.snapshot(), events); err != nil {
		return // said when it can be logged
	}
	l.trouble.reported = l.trouble.reported || whole
	for _, t := range single {
		t.reported = true
	}
}
