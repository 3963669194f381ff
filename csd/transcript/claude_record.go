package transcript

import (
	"encoding/json"
	"strings"
)

// claudeRecord is what matters of a line of Claude Code's.
type claudeRecord struct {
	Type             string          `json:"type"`
	Subtype          string          `json:"subtype"`
	UUID             string          `json:"uuid"`
	PromptID         string          `json:"promptId"`
	Timestamp        string          `json:"timestamp"`
	IsSidechain      bool            `json:"isSidechain"`
	IsMeta           bool            `json:"isMeta"`
	IsCompactSummary bool            `json:"isCompactSummary"`
	IsAPIError       bool            `json:"isApiErrorMessage"`
	Interrupted      string          `json:"interruptedMessageId"`
	Error            json.RawMessage `json:"error"`
	ErrorStatus      int             `json:"apiErrorStatus"`
	Origin           *claudeOrigin   `json:"origin"`
	Message          struct {
		ID         string          `json:"id"`
		Model      string          `json:"model"`
		StopReason string          `json:"stop_reason"`
		Content    json.RawMessage `json:"content"`
	} `json:"message"`
	Attachment struct {
		Type        string          `json:"type"`
		CommandMode string          `json:"commandMode"`
		Prompt      json.RawMessage `json:"prompt"`
		Origin      *claudeOrigin   `json:"origin"`
	} `json:"attachment"`
}

type claudeOrigin struct {
	Kind string `json:"kind"`
}

// id is what the turn of a prompt is known by. Clients before the prompt ids leave the record's own.
func (r *claudeRecord) id() string {
	if r.PromptID != "" {
		return r.PromptID
	}
	return r.UUID
}

// claudeTypes are the records that can matter; the others are many, and some are large.
func claudeMatters(raw []byte) bool {
	switch leadingType(raw) {
	case "", "user", "assistant", "system", "attachment":
		return true
	}
	return false
}

// speech is what a record of the user's side is.
type speech int

const (
	silence      speech = iota
	prompt              // a person's words
	results             // of tools
	interruption        // the person stopped the turn
	notification        // the client's own words to the model, or a person's command to the client
)

const interruptedText = "[Request interrupted by user"

// user says what a record of type user is, and its text.
func (r *claudeRecord) user() (speech, string, []block) {
	if r.IsSidechain || r.IsMeta || r.IsCompactSummary {
		return silence, "", nil
	}
	list := blocks(r.Message.Content)
	_, bare := bareString(r.Message.Content)
	for _, b := range list {
		if b.Type == "tool_result" {
			return results, "", list
		}
	}
	text := joined(list)
	switch {
	case r.Interrupted != "" || !bare && strings.HasPrefix(text, interruptedText):
		return interruption, text, nil
	case r.Origin != nil && r.Origin.Kind == "human":
		return prompt, text, nil
	case r.Origin != nil:
		return notification, text, nil
	}
	return unsigned(text), text, nil
}

// unsigned says what a text is of which the record does not tell where it came from.
func unsigned(text string) speech {
	switch {
	case strings.TrimSpace(text) == "":
		return silence
	case strings.HasPrefix(text, "<task-notification>"), strings.HasPrefix(text, "<bash-input>"):
		return notification
	}
	for _, tag := range []string{"<local-command", "<command-", "<bash-", "<system-reminder>"} {
		if strings.HasPrefix(text, tag) {
			return silence
		}
	}
	return prompt
}

// queued is the same for what went into a running turn.
func (r *claudeRecord) queued() (speech, string) {
	a := &r.Attachment
	if r.IsSidechain || r.IsMeta || a.Type != "queued_command" {
		return silence, ""
	}
	text := joined(blocks(a.Prompt))
	origin := a.Origin
	if origin == nil {
		origin = r.Origin
	}
	switch {
	case a.CommandMode != "" && a.CommandMode != "prompt":
		return notification, text
	case origin != nil && origin.Kind == "human":
		return prompt, text
	case origin != nil:
		return notification, text
	}
	return unsigned(text), text
}

// summary is what a notification says, in a line or two.
func summary(text string) string {
	if command, ok := between(text, "<bash-input>", "</bash-input>"); ok {
		return "! " + command
	}
	var parts []string
	for rest := text; ; {
		one, after, ok := strings.Cut(rest, "</task-notification>")
		for _, tag := range []string{"summary", "event"} {
			if part, ok := between(one, "<"+tag+">", "</"+tag+">"); ok {
				parts = append(parts, part)
			}
		}
		if !ok {
			break
		}
		rest = after
	}
	if len(parts) == 0 {
		return strings.TrimSpace(text)
	}
	return strings.Join(parts, "\n")
}

func between(text, opening, closing string) (string, bool) {
	_, rest, ok := strings.Cut(text, opening)
	if !ok {
		return "", false
	}
	inside, _, ok := strings.Cut(rest, closing)
	return strings.TrimSpace(inside), ok
}

// failure is the error of an API error message.
func (r *claudeRecord) failure() *Failure {
	word, _ := bareString(r.Error)
	return &Failure{Type: ClaudeFailure(word, r.ErrorStatus), Message: joined(blocks(r.Message.Content))}
}
