package specs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sessevents/sessevents/internal/value"
)

// state is what a target leaves to its next poll. Its JSON is the same, byte for byte, where nothing happened, so that
// a quiet poll writes nothing: it holds no time of a poll and no count of polls, unless a `for` counts.
type state struct {
	// Shape says which cursors these are; another shape is a new baseline.
	Shape string `json:"shape"`
	// Changed is when something last changed, in milliseconds since 1970.
	Changed int64 `json:"changed"`
	// Cursor is that of a target without keys; null where nothing is saved.
	Cursor json.RawMessage `json:"cursor,omitempty"`
	// Gone says that `gone` was told and nothing has been there since.
	Gone bool `json:"gone,omitempty"`
	// Keys are the cursors by key; a key stands as JSON, so that 1 and "1" differ.
	Keys map[string]json.RawMessage `json:"keys,omitempty"`
	// Away are the keys that are not there and not yet forgotten, since a rule waits whether they come back; without
	// keys the key is empty.
	Away map[string]away `json:"away,omitempty"`
	// Positions are those of the fetchers, by step.
	Positions map[string]json.RawMessage `json:"positions,omitempty"`
	// Latches are by rule and key.
	Latches map[string]latch `json:"latches,omitempty"`
}

// away is since when something is not there (milliseconds), and in how many polls, as far as a `for` counts.
type away struct {
	Since int64 `json:"since"`
	Polls int   `json:"polls,omitempty"`
}

// latch is what a rule with `for` or `until` remembers.
type latch struct {
	// Held counts the polls in a row in which `when` held, Since is when it began to hold (milliseconds).
	Held  int   `json:"held,omitempty"`
	Since int64 `json:"since,omitempty"`
	// On says that the rule has emitted and is silent; Text is what it said.
	On   bool   `json:"on,omitempty"`
	Text string `json:"text,omitempty"`
}

// loadState reads what the last poll left. known is false for a target that was never polled, and for one whose spec
// has another shape now; then only positions are kept.
func (s *Source) loadState(raw json.RawMessage) (st state, known, rebased bool, err error) {
	if len(raw) == 0 {
		return state{Shape: s.shape}, false, false, nil
	}
	if err := json.Unmarshal(raw, &st); err != nil {
		return st, false, false, fmt.Errorf("read the saved state of the target: %w", err)
	}
	if st.Shape != s.shape {
		return state{Shape: s.shape, Positions: st.Positions}, false, true, nil
	}
	return st, true, false, nil
}

// cursorOf decodes a saved cursor; nil where there is none.
func cursorOf(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	v, err := value.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read the saved cursor: %w", err)
	}
	return v, nil
}

func (s state) encode() (json.RawMessage, error) {
	b, err := value.Encode(s)
	if err != nil {
		return nil, fmt.Errorf("save the target: %w", err)
	}
	return b, nil
}

func millis(t time.Time) int64 { return t.UnixMilli() }

func latchKey(rule, key string) string { return rule + "|" + key }
