// Package event holds what a worker says: the event as a value, and the append-only file of JSON lines in which many
// hook processes write at once and many commands read. docs/csd-events.md describes both.
package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Name says what happened.
type Name string

// The names that csd writes. A reader passes over others: a newer csd may write them.
const (
	SessionStart     Name = "session_start"
	UserPromptSubmit Name = "user_prompt_submit"
	PreToolUse       Name = "pre_tool_use"
	PostToolUse      Name = "post_tool_use"
	Stop             Name = "stop"
	SessionEnd       Name = "session_end"
)

// Names are all names, in the order of a session.
var Names = []Name{SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, SessionEnd}

// Known reports whether n is one of Names.
func (n Name) Known() bool {
	switch n {
	case SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, SessionEnd:
		return true
	}
	return false
}

// SourceTranscript is the Source of a stop that no hook reported: csd found the turn's end in the transcript.
const SourceTranscript = "transcript"

// SourceClient is the Source of a stop that neither a hook nor the transcript reported: the client itself says that it
// is idle again.
const SourceClient = "client"

// SourceCompact is the Source of a session_start that a compaction made, perhaps in the middle of a turn. It says
// nothing about whether the worker is idle.
const SourceCompact = "compact"

// Event is one thing that happened to a worker. Which fields are set follows from Name; a field that does not belong
// to it is not written.
type Event struct {
	Name      Name
	At        time.Time // written in UTC, to the second
	Worker    string
	Harness   string // claude, codex or pi
	SessionID string // the client's session at that moment; a worker may go through several

	TurnID         string // user_prompt_submit, pre_tool_use, post_tool_use, stop
	TranscriptPath string // session_start, user_prompt_submit, stop
	CWD            string // session_start
	// Source is, of a session_start, why it began (startup, resume, clear, compact, new, fork, reload), and of a stop
	// SourceTranscript, SourceClient or nothing.
	Source string
	PID    int // session_start: the client's process, where it says so

	Prompt       string // user_prompt_submit: the first MaxText characters
	PromptBytes  int    // how long the whole prompt is
	PromptSHA256 string // Digest of the whole prompt
	Queued       bool   // the prompt was given while a turn ran
	Notification *Notification

	Tool      string          // pre_tool_use, post_tool_use: the canonical name
	ToolInput json.RawMessage // pre_tool_use: an object
	ToolUseID string
	IsError   bool // post_tool_use

	LastAssistantMessage string // stop: the first MaxText characters
	BackgroundTasks      []Task // stop: what still runs
	Error                *Failure
	Interrupted          bool

	Reason string // session_end
}

// Notification marks a prompt that no person wrote: the client woke itself since a background task ended.
type Notification struct {
	TaskID string `json:"task_id"`
	Status string `json:"status"`
}

// Task is background work that outlives its turn: a shell, a subagent.
type Task struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Status      string `json:"status"`
	Description string `json:"description,omitempty"`
	Command     string `json:"command,omitempty"`
}

// Failure says why a turn ended without an answer.
type Failure struct {
	Type    FailureType `json:"type"`
	Message string      `json:"message"`
}

// FailureType is the kind of a failure, the same words for all harnesses.
type FailureType string

// The kinds of failures.
const (
	AuthenticationFailed FailureType = "authentication_failed"
	BillingError         FailureType = "billing_error"
	RateLimit            FailureType = "rate_limit"
	Overloaded           FailureType = "overloaded"
	InvalidRequest       FailureType = "invalid_request"
	ModelNotFound        FailureType = "model_not_found"
	ServerError          FailureType = "server_error"
	MaxOutputTokens      FailureType = "max_output_tokens"
	Unknown              FailureType = "unknown"
)

// FailureTypes are all kinds of failures.
var FailureTypes = []FailureType{
	AuthenticationFailed, BillingError, RateLimit, Overloaded, InvalidRequest, ModelNotFound, ServerError, MaxOutputTokens, Unknown,
}

// Wire is an Event as it stands in the file, member by member and in this order. It is exported for the schema; use
// Event.
type Wire struct {
	Event     Name   `json:"event"`
	TS        string `json:"ts"`
	Worker    string `json:"worker,omitempty"`
	Harness   string `json:"harness,omitempty"`
	SessionID string `json:"session_id,omitempty"`

	TurnID         string `json:"turn_id,omitempty"`
	CWD            string `json:"cwd,omitempty"`
	Source         string `json:"source,omitempty"`
	TranscriptPath string `json:"transcript_path,omitempty"`
	PID            int    `json:"pid,omitempty"`

	Prompt       *string       `json:"prompt,omitempty"`
	PromptBytes  *int          `json:"prompt_bytes,omitempty"`
	PromptSHA256 string        `json:"prompt_sha256,omitempty"`
	Queued       bool          `json:"queued,omitempty"`
	Notification *Notification `json:"notification,omitempty"`

	Tool      *string         `json:"tool,omitempty"`
	ToolInput json.RawMessage `json:"tool_input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`

	LastAssistantMessage string   `json:"last_assistant_message,omitempty"`
	BackgroundTasks      []Task   `json:"background_tasks,omitempty"`
	Error                *Failure `json:"error,omitempty"`
	Interrupted          bool     `json:"interrupted,omitempty"`

	Reason string `json:"reason,omitempty"`
}

// wire picks the members that belong to the event's name, each within its bound.
func (e Event) wire() Wire {
	w := Wire{
		Event: Name(word(string(e.Name))), TS: e.At.UTC().Format(time.RFC3339),
		Worker: word(e.Worker), Harness: word(e.Harness), SessionID: word(e.SessionID),
	}
	switch e.Name {
	case SessionStart:
		w.CWD, w.Source, w.TranscriptPath, w.PID = path(e.CWD), word(e.Source), path(e.TranscriptPath), e.PID
	case UserPromptSubmit:
		prompt := Cut(e.Prompt)
		w.TurnID, w.TranscriptPath = word(e.TurnID), path(e.TranscriptPath)
		w.Prompt, w.PromptBytes, w.PromptSHA256 = &prompt, &e.PromptBytes, word(e.PromptSHA256)
		w.Queued = e.Queued
		if n := e.Notification; n != nil {
			w.Notification = &Notification{TaskID: word(n.TaskID), Status: word(n.Status)}
		}
	case PreToolUse, PostToolUse:
		tool := word(e.Tool)
		w.TurnID, w.Tool, w.ToolUseID = word(e.TurnID), &tool, word(e.ToolUseID)
		if e.Name == PreToolUse {
			w.ToolInput = input(e.ToolInput)
		} else {
			w.IsError = e.IsError
		}
	case Stop:
		w.TurnID, w.TranscriptPath, w.Source = word(e.TurnID), path(e.TranscriptPath), word(e.Source)
		w.LastAssistantMessage, w.Interrupted = Cut(e.LastAssistantMessage), e.Interrupted
		w.BackgroundTasks = tasks(e.BackgroundTasks)
		if e.Error != nil {
			w.Error = &Failure{Type: FailureType(word(string(e.Error.Type))), Message: Cut(e.Error.Message)}
		}
	case SessionEnd:
		w.Reason = word(e.Reason)
	}
	return w
}

// MarshalJSON writes the event as it stands in the file: event and ts first.
func (e Event) MarshalJSON() ([]byte, error) {
	line, err := e.line()
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// line is the event with its newline.
func (e Event) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e.wire()); err != nil {
		return nil, fmt.Errorf("encode event %q: %w", e.Name, err)
	}
	return b.Bytes(), nil
}

// errNoEvent says that a line is JSON and no event.
var errNoEvent = errors.New("no object with a member event")

// Parse reads a line. Members that it does not know, and those of another type than they should have, are passed over:
// what counts is that the line is one object with a string event. A name that is not known is no error.
func Parse(line []byte) (Event, error) {
	var w Wire
	err := json.Unmarshal(trim(line), &w)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		err = nil
	}
	if err == nil && w.Event == "" {
		err = errNoEvent
	}
	if err != nil {
		return Event{}, fmt.Errorf("parse event: %w", err)
	}
	return w.value(), nil
}

func (w Wire) value() Event {
	e := Event{
		Name: w.Event, Worker: w.Worker, Harness: w.Harness, SessionID: w.SessionID,
		TurnID: w.TurnID, TranscriptPath: w.TranscriptPath, CWD: w.CWD, Source: w.Source, PID: w.PID,
		PromptSHA256: w.PromptSHA256, Queued: w.Queued, Notification: w.Notification,
		ToolInput: w.ToolInput, ToolUseID: w.ToolUseID, IsError: w.IsError,
		LastAssistantMessage: w.LastAssistantMessage, BackgroundTasks: w.BackgroundTasks, Error: w.Error,
		Interrupted: w.Interrupted, Reason: w.Reason,
	}
	if at, err := time.Parse(time.RFC3339, w.TS); err == nil {
		e.At = at.UTC()
	}
	if w.Prompt != nil {
		e.Prompt = *w.Prompt
	}
	if w.PromptBytes != nil {
		e.PromptBytes = *w.PromptBytes
	}
	if w.Tool != nil {
		e.Tool = *w.Tool
	}
	return e
}
