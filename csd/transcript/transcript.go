// Package transcript reads what coding agents write down of their turns: the transcripts of Claude Code, the rollouts of
// Codex and the sessions of Pi.
//
// It reads from the end: time and memory follow the turn that is asked for, not the file. A line that has no newline
// yet is not there yet; a line that is no record, or one of a kind that is not known, is passed over.
package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/sessevents/sessevents/internal/lines"
)

// Kind is whose transcript it is.
type Kind string

// The kinds of transcripts.
const (
	Claude Kind = "claude"
	Codex  Kind = "codex"
	Pi     Kind = "pi"
)

// ErrNoTurn says that a transcript holds no turn that a person began, or none of the id or the prompt that was asked for.
var ErrNoTurn = errors.New("no turn in the transcript")

// Turn is one prompt of a person and all that followed it until the next one.
type Turn struct {
	// ID is the client's own: Claude's promptId, Codex's turn_id, the id of the user's entry in a Pi session.
	ID string
	// Prompt is the text as the person gave it: what the client wrapped is unwrapped.
	Prompt string
	// Items follow the prompt in the order of the file.
	Items []Item
	// Offset is where the record that begins the turn stands in the file.
	Offset int64
	// At is when the prompt was written; zero where the record does not say.
	At time.Time
	// End is how the turn ended; nil: the transcript has no record of an end.
	End *End

	own     int  // so many of the items are the turn's own; what follows its end came of itself
	settled bool // the last record of the turn is a closing message
}

// ItemKind is what an [Item] is.
type ItemKind string

// The kinds of items.
const (
	ItemPrompt       ItemKind = "prompt"       // a further prompt of the person that went into the running turn
	ItemThinking     ItemKind = "thinking"     // the model's thoughts, as far as the client writes them down
	ItemText         ItemKind = "text"         // the model's words
	ItemToolCall     ItemKind = "tool_call"    // Tool, ToolUseID and Input
	ItemToolResult   ItemKind = "tool_result"  // Text, ToolUseID and IsError
	ItemError        ItemKind = "error"        // an error of the model's server that ended the turn, or an attempt
	ItemInterruption ItemKind = "interruption" // the person stopped the turn
	ItemNotification ItemKind = "notification" // the client spoke to the model by itself: a background task ended
	ItemCompaction   ItemKind = "compaction"   // the history was replaced by a summary; Text is the summary, or empty
	ItemSkipped      ItemKind = "skipped"      // a record that was too long to read; Text says how long
)

// Item is one thing in a turn.
type Item struct {
	Kind ItemKind
	Text string
	// Message is the id of the model's message that a thought or a text belongs to; empty where the client has none.
	Message string
	// Tool is the canonical name of a tool: Bash whatever the client calls it.
	Tool string
	// ToolUseID joins a call and its result.
	ToolUseID string
	// Input is what the tool was called with: JSON, an object or a string.
	Input json.RawMessage
	// IsError says that the tool failed.
	IsError bool
	// Offset is where the item's record stands in the file.
	Offset int64
	// At is when the record was written; zero where it does not say.
	At time.Time
}

// Failure is an error of the model's server, in one of the event's words and in the client's own text.
type Failure struct {
	Type    string
	Message string
}

// End is the end of a turn as the transcript tells it.
type End struct {
	TurnID string
	At     time.Time
	// Offset is where the record of the end stands in the file.
	Offset int64
	// Error is set where an error of the model's server ended the turn.
	Error *Failure
	// Interrupted says that the person stopped it.
	Interrupted bool
	// LastMessage is what FinalText of the turn gives; of an Ends it may be empty where it was written before the offset.
	LastMessage string
}

// FinalText is the text of the last message of the model that has text: its text blocks, joined by newlines. What came
// of itself after the turn's end does not count, nor does an error. It is empty where there is none.
func (t Turn) FinalText() string {
	var last closing
	for _, i := range slices.Backward(t.Items[:t.own]) {
		if i.Kind == ItemText {
			last.before(i.Message, i.Text)
		}
	}
	return last.text
}

// Complete says whether the turn is over as far as the transcript tells: there is a record of its end, or the last thing
// in it is a message of the model that calls no tool.
func (t Turn) Complete() bool { return t.End != nil || t.settled }

// CompletedAt is when a complete turn came to its end, as far as its records say; else zero.
func (t Turn) CompletedAt() time.Time {
	switch {
	case t.End != nil && !t.End.At.IsZero():
		return t.End.At
	case t.Complete() && t.own > 0:
		return t.Items[t.own-1].At
	}
	return time.Time{}
}

// Last is the last turn that a person began. [ErrNoTurn]: there is none. The error is fs.ErrNotExist where there is no
// transcript: a client writes none before the first prompt, and Pi none before the first answer.
func Last(kind Kind, path string) (Turn, error) { return read(kind, path, sought{}) }

// Find is the turn of an id. [ErrNoTurn]: there is none.
func Find(kind Kind, path, turnID string) (Turn, error) {
	if turnID == "" {
		return Turn{}, ErrNoTurn
	}
	return read(kind, path, soughtID(turnID))
}

// FindPrompt is the turn that holds a prompt, its first or one that went into it while it ran, whose digest is want and
// whose record stands at afterOffset or behind. digest is given the text as the client wrote it. [ErrNoTurn]: there is
// none yet; the error is also fs.ErrNotExist where there is no transcript yet.
func FindPrompt(kind Kind, path string, afterOffset int64, digest func(string) string, want string) (Turn, error) {
	f, s, err := openAs(kind, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Turn{}, fmt.Errorf("%w: %w", ErrNoTurn, err)
	}
	if err != nil {
		return Turn{}, err
	}
	defer s.close()
	at, err := s.findPrompt(f, afterOffset, digest, want)
	if err != nil {
		return Turn{}, err
	}
	return s.turn(f, soughtAt(at))
}

// Ends are the ends of turns that were written at offset or behind, and next is where to go on from. Read in pieces or at
// once, the ends are the same. A turn may end more than once: where the client went on after an error, or where a
// person's words reached Pi just before its run was over.
func Ends(kind Kind, path string, offset int64) (ends []End, next int64, err error) {
	f, s, err := openAs(kind, path)
	if err != nil {
		return nil, offset, err
	}
	defer s.close()
	from, err := lines.Start(s.file, min(offset, s.end), s.end)
	if err != nil {
		return nil, offset, err
	}
	if ends, next, err = f.ends(s, from); err != nil {
		return nil, offset, err
	}
	return ends, next, nil
}
