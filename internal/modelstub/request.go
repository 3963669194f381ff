package modelstub

import (
	"encoding/json"
	"strings"
)

// Request is one request for an answer of the model, in the same form for every protocol.
type Request struct {
	// N counts the requests from 1.
	N    int
	Path string
	// Side says that it is no part of the conversation: it offers no tools to work with, as a request for a title
	// does.
	Side     bool
	Model    string
	Stream   bool
	Messages []Message
	// Tools are the names of the tools that the client offers.
	Tools []string
	// Body is the whole request as it came.
	Body json.RawMessage
}

// Message is one message of a conversation.
type Message struct {
	Role string
	// Text joins the message's text blocks, a newline between two.
	Text    string
	Results []Result
}

// Result is what a tool call came to.
type Result struct {
	ID      string
	Text    string
	IsError bool
}

// News are the messages since the model last spoke: what this request is about.
func (r Request) News() []Message {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "assistant" {
			return r.Messages[i+1:]
		}
	}
	return r.Messages
}

// Says reports whether text stands in a message since the model last spoke.
func (r Request) Says(text string) bool {
	for _, m := range r.News() {
		if strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

// Results are the tool results since the model last spoke.
func (r Request) Results() []Result {
	var out []Result
	for _, m := range r.News() {
		out = append(out, m.Results...)
	}
	return out
}

// block is what the content of a message is made of; the protocols share its members.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// content reads a message's content: a string, or a list of blocks.
func content(raw json.RawMessage) (text string, blocks []block) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return "", nil
	}
	var parts []string
	for _, b := range blocks {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n"), blocks
}
