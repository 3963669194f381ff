// Package engine is the daemon of one source: it polls what its session watches, logs every event, and delivers
// one message for each poll with alerts. It knows no YAML and no fetcher: a source is anything that implements
// [Source].
package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
)

// Source says what one kind of target is, how to read it, and what its events are.
//
// The engine calls Poll for several targets at the same time, but never twice at once for one target. The other
// methods may be called at any time. A Source holds no state of a target that must outlive the process: that is
// what [Target.Saved] is for.
type Source interface {
	// Describe returns what the engine needs to know before the first target.
	Describe() Info

	// ParseTarget turns the words after `watch` into a target, with Saved empty. What it refuses is a *UsageError.
	ParseTarget(words []string) (Target, error)

	// Poll asks the world about one target, once. An error says that it cannot tell: nothing of this target is
	// saved then, and none of its events is emitted. now is the wall clock of this poll.
	Poll(ctx context.Context, target Target, now time.Time) (Outcome, error)

	// Summary returns the lines that `status` prints under the target: what stands now, one line for each standing
	// alert. It may be empty.
	Summary(target Target) []string
}

// Info describes a source.
type Info struct {
	// Name matches [a-z0-9-]{1,40}. It is the stem of the file names, the sender's name, and stands in the last
	// line of each message.
	Name string
	// Interval is the wait between polls while something goes on: 1 s to 86400 s.
	Interval time.Duration
	// IdleInterval is the longest wait; each quiet poll doubles the wait from Interval up to it. Zero means
	// Interval.
	IdleInterval time.Duration
	// Usage are the lines that end `--help`: the form of a target, and the source's own flags.
	Usage []string
}

// Target is one thing that is watched.
type Target struct {
	// Text is what the user typed, without flags: the identity of the target in its daemon.
	Text string
	// Value is the parsed target. Its content belongs to the source.
	Value json.RawMessage
	// Saved is what the last committed poll left to the next one: cursors, positions. Its content belongs to the
	// source. It is empty before the first poll.
	Saved json.RawMessage
}

// Outcome is what one poll of one target came to.
type Outcome struct {
	// Events happened since the last committed poll, in order. The engine sets ID and At.
	Events []eventlog.Event
	// Saved is the target's next [Target.Saved]. It is saved together with the events, or not at all.
	Saved json.RawMessage
	// Busy asks for the next poll after the busy interval; otherwise the wait doubles up to the idle interval.
	Busy bool
	// More asks for the next poll at once: there was more to read than one poll may.
	More bool
	// Done says that nothing more can come of this target: it is unwatched with this poll.
	Done bool
	// Log are lines for the daemon log: what was odd. They count beside an error too; nothing else of it does.
	Log []string
	// Committed, where it is set, is called once after Events and Saved have been committed. What a source keeps in
	// memory for its next poll (the validators of an HTTP cache) must not count before that.
	Committed func()
}

// UsageError is a refusal of what the user typed, in the source's own words. Commands exit with 2 on it.
type UsageError struct {
	// Text says what is wrong.
	Text string
	// Hint says what to type instead; it may be empty.
	Hint string
}

func (e *UsageError) Error() string { return e.Text }
