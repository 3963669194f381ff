package modelstub

import (
	"encoding/json"
	"fmt"
)

// completions speaks OpenAI's Chat Completions API, as far as Pi needs it.
type completions struct{}

func (completions) read(body []byte, r *Request) error {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	r.Model, r.Stream, r.Side = in.Model, in.Stream, len(in.Tools) == 0
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	for _, m := range in.Messages {
		text, _ := content(m.Content)
		if m.Role == "tool" {
			r.Messages = append(r.Messages, Message{Role: "tool", Results: []Result{{ID: m.ToolCallID, Text: text}}})
			continue
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Text: text})
	}
	return nil
}

func (p completions) write(w *answer, r Request, reply Reply, n int) error {
	id := fmt.Sprintf("chatcmpl-stub%06d", n)
	reason := "stop"
	if len(reply.Tools) > 0 {
		reason = "tool_calls"
	}
	usage := object{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
	if !r.Stream {
		message := object{"role": "assistant", "content": reply.Text}
		if len(reply.Tools) > 0 {
			message["tool_calls"] = p.calls(reply, n)
		}
		w.document(object{
			"id": id, "object": "chat.completion", "created": 0, "model": r.Model, "usage": usage,
			"choices": []object{{"index": 0, "message": message, "finish_reason": reason}},
		})
		return nil
	}
	send := func(delta object, finish any, usage any) error {
		chunk := object{
			"id": id, "object": "chat.completion.chunk", "created": 0, "model": r.Model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		}
		if usage != nil {
			chunk["usage"] = usage
		}
		return w.event("", chunk)
	}
	if err := send(object{"role": "assistant", "content": ""}, nil, nil); err != nil {
		return err
	}
	if reply.Thinking != "" {
		if err := send(object{"reasoning_content": reply.Thinking}, nil, nil); err != nil {
			return err
		}
	}
	if err := w.text(reply, func(piece string) error { return send(object{"content": piece}, nil, nil) }); err != nil {
		return err
	}
	for i, call := range p.calls(reply, n) {
		call["index"] = i
		if err := send(object{"tool_calls": []object{call}}, nil, nil); err != nil {
			return err
		}
	}
	if err := send(object{}, reason, usage); err != nil {
		return err
	}
	return w.raw("", "[DONE]")
}

// calls are the tool calls of the reply.
func (completions) calls(reply Reply, n int) []object {
	out := []object{}
	for i, t := range reply.Tools {
		out = append(out, object{
			"id": fmt.Sprintf("call_stub%06d%02d", n, i), "type": "function",
			"function": object{"name": t.Name, "arguments": arguments(t)},
		})
	}
	return out
}

func (completions) fail(status int, message string) any { return openAIError(status, message) }

// arguments is the input of a call as OpenAI's protocols have it: JSON in a string.
func arguments(t Tool) string {
	b, err := json.Marshal(t.Input)
	if err != nil {
		return "null" // a script holds plain values; the client says what it thinks of this one
	}
	return string(b)
}

// openAIError is the body of an error in OpenAI's protocols.
func openAIError(status int, message string) any {
	if message == "" {
		message = fmt.Sprintf("stub says %d", status)
	}
	return object{"error": object{"message": message, "type": "stub_error", "code": "stub"}}
}
