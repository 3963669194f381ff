package hook

import (
	"encoding/json"
	"strings"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/transcript"
)

// input is what the clients write to a hook; each of them knows a part of it.
type input struct {
	HookEventName  string `json:"hook_event_name"`
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"`
	CWD            string `json:"cwd"`
	Source         string `json:"source"`
	Reason         string `json:"reason"`
	PID            int    `json:"pid"` // pi

	PromptID string `json:"prompt_id"` // claude's word for turn_id
	TurnID   string `json:"turn_id"`
	Prompt   string `json:"prompt"`
	Queued   bool   `json:"queued"` // pi

	ToolName  string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"` // pi

	LastAssistantMessage string          `json:"last_assistant_message"`
	BackgroundTasks      json.RawMessage `json:"background_tasks"` // claude
	StopReason           string          `json:"stop_reason"`      // pi
	Error                string          `json:"error"`            // claude: a word; pi: a text
}

// harnesses say how each client's input becomes an event. False means that it is none.
var harnesses = map[string]func(input) (event.Event, bool){"claude": claude, "codex": codex, "pi": pi}

// event is the event of a name with the fields that are the same for all clients.
func (in input) event(name event.Name) event.Event {
	e := event.Event{Name: name, SessionID: in.SessionID, TurnID: in.TurnID, TranscriptPath: in.TranscriptPath}
	switch name {
	case event.SessionStart:
		e.CWD, e.Source, e.PID = in.CWD, in.Source, max(in.PID, 0)
	case event.UserPromptSubmit:
		text := event.Unwrap(in.Prompt)
		e.Prompt, e.PromptBytes, e.PromptSHA256, e.Queued = text, len(text), event.Digest(in.Prompt), in.Queued
	case event.PreToolUse:
		e.Tool, e.ToolUseID, e.ToolInput = in.ToolName, in.ToolUseID, in.ToolInput
	case event.PostToolUse:
		e.Tool, e.ToolUseID, e.IsError = in.ToolName, in.ToolUseID, in.IsError
	case event.Stop:
		e.LastAssistantMessage = in.LastAssistantMessage
	case event.SessionEnd:
		e.Reason = in.Reason
	}
	return e
}

// claude knows no post_tool_use: its hook is not set, and a failed tool would have none.
func claude(in input) (event.Event, bool) {
	in.TurnID = in.PromptID
	switch in.HookEventName {
	case "SessionStart":
		return in.event(event.SessionStart), true
	case "UserPromptSubmit":
		e := in.event(event.UserPromptSubmit)
		e.Notification = notification(in.Prompt)
		return e, true
	case "PreToolUse":
		return in.event(event.PreToolUse), true
	case "Stop":
		e := in.event(event.Stop)
		e.BackgroundTasks = tasks(in.BackgroundTasks)
		return e, true
	case "StopFailure":
		e := in.event(event.Stop)
		e.LastAssistantMessage = ""
		e.Error = &event.Failure{Type: event.FailureType(transcript.ClaudeFailure(in.Error, 0)), Message: in.LastAssistantMessage}
		if e.Error.Message == "" {
			e.Error.Message = in.Error
		}
		return e, true
	case "SessionEnd":
		return in.event(event.SessionEnd), true
	}
	return event.Event{}, false
}

func codex(in input) (event.Event, bool) {
	switch in.HookEventName {
	case "SessionStart":
		return in.event(event.SessionStart), true
	case "UserPromptSubmit":
		return in.event(event.UserPromptSubmit), true
	case "PreToolUse":
		return in.event(event.PreToolUse), true
	case "PostToolUse":
		return in.event(event.PostToolUse), true
	case "Stop":
		return in.event(event.Stop), true
	case "Interrupt":
		e := in.event(event.Stop)
		e.Interrupted = true
		return e, true
	case "SessionEnd":
		return in.event(event.SessionEnd), true
	}
	return event.Event{}, false
}

// pi is told by csd's own extension, in csd's words.
func pi(in input) (event.Event, bool) {
	name := event.Name(in.HookEventName)
	if !name.Known() {
		return event.Event{}, false
	}
	in.ToolName = canonical(in.ToolName)
	e := in.event(name)
	if name != event.Stop {
		return e, true
	}
	switch in.StopReason {
	case "aborted":
		e.Interrupted = true
	case "error":
		e.Error = &event.Failure{Type: event.FailureType(transcript.FailureOf(in.Error)), Message: in.Error}
	}
	return e, true
}

// canonical is a tool's name as claude and codex would write it: pi's bash is their Bash.
func canonical(tool string) string {
	if tool == "" {
		return ""
	}
	return strings.ToUpper(tool[:1]) + tool[1:]
}

// notification is what a prompt says that Claude Code wrote to itself when a background task ended, nil for a prompt of
// a person.
func notification(prompt string) *event.Notification {
	prompt = strings.TrimSpace(prompt)
	if !strings.HasPrefix(prompt, "<task-notification>") {
		return nil
	}
	return &event.Notification{TaskID: element(prompt, "task-id"), Status: element(prompt, "status")}
}

func element(text, name string) string {
	_, rest, _ := strings.Cut(text, "<"+name+">")
	inner, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(inner)
}

// tasks decodes what can be decoded of claude's list.
func tasks(raw json.RawMessage) []event.Task {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var all []event.Task
	for _, item := range items {
		var t event.Task
		if err := json.Unmarshal(item, &t); err == nil && t.ID != "" {
			all = append(all, t)
		}
	}
	return all
}
