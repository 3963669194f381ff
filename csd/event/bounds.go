package event

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxText is how many characters of a prompt or an answer an event keeps.
	MaxText = 8192
	// MaxInput is how many bytes of a tool's input an event keeps. A longer one becomes {"truncated":true,"bytes":N}:
	// a part of an object is no object, and the whole stands in the transcript.
	MaxInput = 1 << 20

	maxWord  = 1024 // characters of a name, an id, a reason, a command
	maxPath  = 8192 // bytes of a path; longer than any system takes
	maxTasks = 100
)

// Cut returns the first MaxText characters of text.
func Cut(text string) string { return cut(text, MaxText) }

func cut(text string, characters int) string {
	if len(text) <= characters {
		return text
	}
	n := 0
	for i := range text {
		if n == characters {
			return text[:i]
		}
		n++
	}
	return text
}

func word(s string) string { return cut(s, maxWord) }

func path(s string) string {
	if len(s) > maxPath {
		return ""
	}
	return s
}

// input is raw as a tool_input: an object of bounded size, in UTF-8.
func input(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) > MaxInput {
		return json.RawMessage(`{"truncated":true,"bytes":` + strconv.Itoa(len(raw)) + `}`)
	}
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return json.RawMessage(`{}`)
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return raw
}

func tasks(all []Task) []Task {
	if len(all) > maxTasks {
		all = all[:maxTasks]
	}
	var bounded []Task
	for _, t := range all {
		bounded = append(bounded, Task{
			ID: word(t.ID), Type: word(t.Type), Status: word(t.Status),
			Description: word(strings.ToValidUTF8(t.Description, "\uFFFD")), Command: word(t.Command),
		})
	}
	return bounded
}
