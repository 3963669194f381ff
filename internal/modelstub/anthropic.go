package modelstub

import (
	"encoding/json"
	"fmt"
)

// anthropic speaks the Messages API, as far as Claude Code needs it.
type anthropic struct{}

func (anthropic) read(body []byte, r *Request) error {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	r.Model, r.Stream, r.Side = in.Model, in.Stream, len(in.Tools) == 0
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, m := range in.Messages {
		text, blocks := content(m.Content)
		out := Message{Role: m.Role, Text: text}
		for _, b := range blocks {
			if b.Type != "tool_result" {
				continue
			}
			result, _ := content(b.Content)
			out.Results = append(out.Results, Result{ID: b.ID, Text: result, IsError: b.IsError})
		}
		r.Messages = append(r.Messages, out)
	}
	return nil
}

// object is a JSON object on its way out.
type object = map[string]any

func (p anthropic) write(w *answer, r Request, reply Reply, n int) error {
	message := object{
		"id": fmt.Sprintf("msg_stub%06d", n), "type": "message", "role": "assistant", "model": r.Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}
	blocks := p.blocks(reply, n)
	reason := "end_turn"
	if len(reply.Tools) > 0 {
		reason = "tool_use"
	}
	if !r.Stream {
		message["content"], message["stop_reason"] = blocks, reason
		w.document(message)
		return nil
	}
	send := func(kind string, members object) error {
		members["type"] = kind
		return w.event(kind, members)
	}
	if err := send("message_start", object{"message": message}); err != nil {
		return err
	}
	for i, b := range blocks {
		if err := p.stream(w, send, i, b, reply); err != nil {
			return err
		}
	}
	if err := send("message_delta", object{
		"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 20},
	}); err != nil {
		return err
	}
	return send("message_stop", object{})
}

// blocks is the content of the reply as one document has it.
func (anthropic) blocks(reply Reply, n int) []object {
	var out []object
	if reply.Thinking != "" {
		out = append(out, object{"type": "thinking", "thinking": reply.Thinking, "signature": "c3R1Yg=="})
	}
	if reply.Text != "" {
		out = append(out, object{"type": "text", "text": reply.Text})
	}
	for i, t := range reply.Tools {
		out = append(out, object{"type": "tool_use", "id": fmt.Sprintf("toolu_stub%06d%02d", n, i), "name": t.Name, "input": t.Input})
	}
	return out
}

// stream sends one block as its events: started empty, filled, closed.
func (anthropic) stream(w *answer, send func(string, object) error, i int, b object, reply Reply) error {
	delta := func(d object) error { return send("content_block_delta", object{"index": i, "delta": d}) }
	start := func(empty object) error {
		return send("content_block_start", object{"index": i, "content_block": empty})
	}
	var err error
	switch b["type"] {
	case "thinking":
		err = start(object{"type": "thinking", "thinking": "", "signature": ""})
		if err == nil {
			err = delta(object{"type": "thinking_delta", "thinking": b["thinking"]})
		}
		if err == nil {
			err = delta(object{"type": "signature_delta", "signature": b["signature"]})
		}
	case "text":
		err = start(object{"type": "text", "text": ""})
		if err == nil {
			err = w.text(reply, func(piece string) error { return delta(object{"type": "text_delta", "text": piece}) })
		}
	case "tool_use":
		var input []byte
		if input, err = json.Marshal(b["input"]); err != nil {
			return fmt.Errorf("encode the input of %v: %w", b["name"], err)
		}
		err = start(object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}})
		if err == nil {
			err = delta(object{"type": "input_json_delta", "partial_json": string(input)})
		}
	}
	if err != nil {
		return err
	}
	return send("content_block_stop", object{"index": i})
}

func (anthropic) fail(status int, message string) any {
	kind := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error",
		429: "rate_limit_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	if message == "" {
		message = "stub " + kind
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}
