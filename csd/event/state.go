package event

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/sessevents/sessevents/internal/lines"
	"github.com/sessevents/sessevents/internal/rawfile"
)

// The states of a worker as its events tell them.
const (
	Idle         = "idle"
	Working      = "working"
	Terminated   = "terminated"
	StateUnknown = "unknown"
)

// State is what the events of a worker say about it.
type State struct {
	State string
	Since time.Time // when it came into this state, as far as the last events tell
	Last  Event     // the event that says so
}

// Of reads the state from the end of the file at path. A file that is not there, is empty, or has no event that this
// version knows, is of a worker in an unknown state, and no error.
func Of(path string) (State, error) {
	if s, ok := glance(path); ok {
		return s, nil
	}
	s := State{State: StateUnknown}
	read := int64(0)
	for line, err := range Backward(path) {
		if errors.Is(err, os.ErrNotExist) {
			return s, nil
		}
		if err != nil {
			return State{State: StateUnknown}, err
		}
		e, err := Parse(line.Raw)
		state := stateAfter(e)
		if read += int64(len(line.Raw)); err != nil || state == "" {
			continue
		}
		if s.State == StateUnknown {
			s = State{State: state, Since: e.At, Last: e}
			if state != Working {
				return s, nil
			}
		}
		if state != Working || read > sinceWithin {
			return s, nil
		}
		s.Since = e.At
	}
	return s, nil
}

// glance reads the state off the last line, where that says all: of an idle worker in a list of hundreds it is all that
// is read. ok is false where more is to be read, or anything is out of order.
func glance(path string) (s State, ok bool) {
	buf := nearEnd.Get().(*[2 << 10]byte)
	defer nearEnd.Put(buf)
	tail, size, err := rawfile.Tail(path, buf[:])
	if err != nil || len(tail) == 0 || tail[len(tail)-1] != '\n' {
		return s, false
	}
	line := tail[:len(tail)-1]
	start := bytes.LastIndexByte(line, '\n') + 1
	if start == 0 && int64(len(tail)) < size {
		return s, false // it begins further back
	}
	e, err := Parse(trim(line[start:]))
	if err != nil {
		return s, false
	}
	state := stateAfter(e)
	return State{State: state, Since: e.At, Last: e}, state == Idle || state == Terminated
}

// nearEnd holds buffers for the end of a file. Parse keeps nothing of what it is given.
var nearEnd = sync.Pool{New: func() any { return new([2 << 10]byte) }}

// sinceWithin is how far back, in bytes, the start of a running turn is searched.
const sinceWithin = 1 << 20

// stateAfter is the state in which e leaves a worker, "" where it tells nothing.
func stateAfter(e Event) string {
	switch e.Name {
	case SessionStart:
		if e.Source == SourceCompact {
			return ""
		}
		return Idle
	case Stop:
		return Idle
	case UserPromptSubmit, PreToolUse, PostToolUse:
		return Working
	case SessionEnd:
		if e.Reason == "clear" || e.Reason == "resume" { // of Claude Code, which goes on with another session
			return Idle
		}
		return Terminated
	}
	return ""
}

// Tally is what was counted of an events file so far. Kept, as in the worker's state file, it makes the next count cost
// only what came since.
type Tally struct {
	Offset int64    `json:"offset"`
	Lines  int64    `json:"lines"`           // whole lines before Offset, blank ones not counted
	Turns  int      `json:"turns"`           // stops
	Error  *Failure `json:"error,omitempty"` // of the last stop
	// ErrorAt is when that was.
	ErrorAt time.Time `json:"error_at,omitzero"`
}

// On counts what came since t. A file that is shorter than it was is counted anew.
func (t Tally) On(path string) (Tally, error) {
	f, end, err := open(path)
	if errors.Is(err, os.ErrNotExist) {
		return Tally{}, nil
	}
	if err != nil {
		return t, err
	}
	defer func() { _ = f.Close() }()
	if end < t.Offset {
		t = Tally{}
	}
	for line, err := range lines.Forward(f, t.Offset, end, MaxLine) {
		if err != nil {
			return t, fmt.Errorf("count events %s: %w", path, err)
		}
		t.Offset = behind(line)
		if !counts(line) {
			continue
		}
		t.Lines++
		t.stop(line.Raw)
	}
	return t, nil
}

// stop counts a line that is a stop. csd's own lines say with their first bytes what they are, and are decoded only where
// there is something to know.
func (t *Tally) stop(raw []byte) {
	rest, ours := bytes.CutPrefix(raw, []byte(`{"event":"`))
	switch {
	case ours && (!bytes.HasPrefix(rest, []byte(`stop"`)) || !bytes.HasSuffix(rest, []byte("}"))):
		return
	case ours && !bytes.Contains(rest, []byte(`"error":{`)):
		t.Turns++
		t.Error, t.ErrorAt = nil, time.Time{}
		return
	}
	e, err := Parse(raw)
	if err != nil || e.Name != Stop {
		return
	}
	t.Turns++
	t.Error, t.ErrorAt = e.Error, time.Time{}
	if e.Error != nil {
		t.ErrorAt = e.At
	}
}
