package modelstub

import (
	"encoding/json"
	"fmt"
)

// responses speaks OpenAI's Responses API, as far as Codex needs it.
type responses struct{}

// item is one member of a conversation: a message, a call or its output.
type item struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
}

func (responses) read(body []byte, r *Request) error {
	var in struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Input  []item `json:"input"`
		Tools  []struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	r.Model, r.Stream, r.Side = in.Model, in.Stream, true
	for _, t := range in.Tools {
		if t.Name == "" { // a tool of the server's own has only its type
			t.Name = t.Type
		}
		r.Tools = append(r.Tools, t.Name)
		if t.Name != "apply_patch" { // which Codex offers even where it wants a title
			r.Side = false
		}
	}
	for _, it := range in.Input {
		switch it.Type {
		case "", "message":
			text, _ := content(it.Content)
			r.Messages = append(r.Messages, Message{Role: it.Role, Text: text})
		case "function_call_output", "custom_tool_call_output":
			text, _ := content(it.Output)
			r.Messages = append(r.Messages, Message{Role: "tool", Results: []Result{{ID: it.CallID, Text: text}}})
		default: // calls and reasoning: the model's own
			r.Messages = append(r.Messages, Message{Role: "assistant"})
		}
	}
	return nil
}

func (p responses) write(w *answer, r Request, reply Reply, n int) error {
	id := fmt.Sprintf("resp_stub%06d", n)
	response := func(status string, output []object) object {
		return object{
			"id": id, "object": "response", "status": status, "model": r.Model, "output": output,
			"usage": object{
				"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 0},
				"output_tokens": 10, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 110,
			},
		}
	}
	items := p.items(reply, n)
	if !r.Stream {
		w.document(response("completed", items))
		return nil
	}
	send := func(kind string, members object) error {
		members["type"] = kind
		return w.event(kind, members)
	}
	if err := send("response.created", object{"response": object{"id": id, "object": "response", "status": "in_progress", "model": r.Model}}); err != nil {
		return err
	}
	for i, it := range items {
		if err := p.stream(w, send, i, it, reply); err != nil {
			return err
		}
	}
	return send("response.completed", object{"response": response("completed", items)})
}

// items is the reply as a finished response lists it.
func (responses) items(reply Reply, n int) []object {
	var out []object
	if reply.Thinking != "" {
		out = append(out, object{
			"type": "reasoning", "id": fmt.Sprintf("rs_stub%06d", n), "encrypted_content": "stub",
			"summary": []object{{"type": "summary_text", "text": reply.Thinking}},
		})
	}
	if reply.Text != "" {
		out = append(out, object{
			"type": "message", "id": fmt.Sprintf("msg_stub%06d", n), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": reply.Text, "annotations": []any{}}},
		})
	}
	for i, t := range reply.Tools {
		call := object{"call_id": fmt.Sprintf("call_stub%06d%02d", n, i), "name": t.Name, "status": "completed"}
		if text, ok := t.Input.(string); ok {
			call["type"], call["id"], call["input"] = "custom_tool_call", fmt.Sprintf("ctc_stub%06d%02d", n, i), text
		} else {
			call["type"], call["id"], call["arguments"] = "function_call", fmt.Sprintf("fc_stub%06d%02d", n, i), arguments(t)
		}
		out = append(out, call)
	}
	return out
}

// stream sends one item as its events.
func (responses) stream(w *answer, send func(string, object) error, i int, it object, reply Reply) error {
	switch it["type"] {
	case "reasoning":
		if err := send("response.output_item.added", object{"output_index": i, "item": object{"type": "reasoning", "id": it["id"], "summary": []any{}}}); err != nil {
			return err
		}
		part := object{"item_id": it["id"], "output_index": i, "summary_index": 0, "part": object{"type": "summary_text", "text": ""}}
		if err := send("response.reasoning_summary_part.added", part); err != nil {
			return err
		}
		delta := object{"item_id": it["id"], "output_index": i, "summary_index": 0, "delta": reply.Thinking}
		if err := send("response.reasoning_summary_text.delta", delta); err != nil {
			return err
		}
	case "message":
		empty := object{"type": "message", "id": it["id"], "role": "assistant", "status": "in_progress", "content": []any{}}
		if err := send("response.output_item.added", object{"output_index": i, "item": empty}); err != nil {
			return err
		}
		if err := w.text(reply, func(piece string) error {
			return send("response.output_text.delta", object{"item_id": it["id"], "output_index": i, "content_index": 0, "delta": piece})
		}); err != nil {
			return err
		}
	}
	return send("response.output_item.done", object{"output_index": i, "item": it})
}

func (responses) fail(status int, message string) any { return openAIError(status, message) }
