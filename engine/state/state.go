// Package state is what a daemon keeps over a restart: one file, replaced whole.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/internal/atomicfile"
)

// Version is the version of the file's form.
const Version = 1

// State is everything that outlives the daemon.
type State struct {
	Version int `json:"version"`
	// Events is the id of the last event.
	Events  int64    `json:"events"`
	Targets []Target `json:"targets"`
	// Delivery is how far the messages have come; it stays empty for a file sink.
	Delivery Delivery `json:"delivery,omitzero"`
	// Commit are the log lines that belong to this state: whoever takes the state up first sees to it that the event
	// log holds them.
	Commit []json.RawMessage `json:"commit,omitempty"`
}

// Target is a watched target as the source gave it.
type Target struct {
	Text  string          `json:"text"`
	Value json.RawMessage `json:"target,omitempty"`
	Saved json.RawMessage `json:"saved,omitempty"`
}

// Delivery is how far the messages to the inbox have come.
type Delivery struct {
	// Delivered is the id up to which every alert has been given to the inbox.
	Delivered int64 `json:"delivered,omitempty"`
	// Sending is the message that is on its way; its composition is settled before it is sent, so that it is the same
	// message when it is sent again.
	Sending *Message `json:"sending,omitempty"`
	// Sent are the messages of the last seconds: what the receiver counts against its budget and takes for
	// duplicates.
	Sent []Sent `json:"sent,omitempty"`
	// Tokens is what was left of the receiver's budget at the time of the last of Sent.
	Tokens float64 `json:"tokens,omitempty"`
}

// Message is one message to an inbox.
type Message struct {
	ID   string `json:"id"`
	Last int64  `json:"last"` // the id of the last alert in it
	Body string `json:"body"`
	// Alerts counts those in it, named or not; Since is when the oldest came. Older daemons saved neither.
	Alerts int       `json:"alerts,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

// Sent is a message that was sent.
type Sent struct {
	At  time.Time `json:"at"`
	Sum string    `json:"sum"` // of its body
}

// maxSize bounds what is read as a state: far above what a daemon of many thousand targets writes.
const maxSize = 1 << 30

// DamagedError says that a file is there and is not a state. It is never overwritten.
type DamagedError struct {
	Path   string
	Reason string
}

func (e *DamagedError) Error() string { return fmt.Sprintf("state file %s %s", e.Path, e.Reason) }

// Load reads the state at path. It returns os.ErrNotExist where there is none, and a *DamagedError where the file is
// not a state that this program wrote.
func Load(path string) (State, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return State{}, &DamagedError{path, "is a link"}
	}
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return State{}, err
	}
	if !info.Mode().IsRegular() {
		return State{}, &DamagedError{path, "is not a regular file"}
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != os.Geteuid() {
		return State{}, &DamagedError{path, fmt.Sprintf("belongs to user %d", uid)}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return State{}, err
	}
	var version struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return State{}, &DamagedError{path, "is not JSON: " + err.Error()}
	}
	if version.Version == nil {
		return State{}, &DamagedError{path, "has no version"}
	}
	if *version.Version != Version {
		return State{}, &DamagedError{path, fmt.Sprintf("is of version %d; this program knows version %d", *version.Version, Version)}
	}
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		return State{}, &DamagedError{path, "is not a state: " + err.Error()}
	}
	return s, nil
}

// next is the prepared state beside the one at path.
func next(path string) string { return path + ".next" }

// Prepare writes s beside the state at path, durably. From then on s is what the next start takes up, and Promote
// what makes it the state.
func Prepare(path string, s State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	return atomicfile.Write(next(path), append(data, '\n'))
}

// Prepared reads the state that was prepared and not yet promoted. It returns os.ErrNotExist where there is none.
func Prepared(path string) (State, error) { return Load(next(path)) }

// Promote makes the prepared state the state.
func Promote(path string) error { return atomicfile.Rename(next(path), path) }
