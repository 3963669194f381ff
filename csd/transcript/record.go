package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// A record is looked at in three steps, the cheap ones first: the words that it must hold, in quotes; the members that
// lead it; and only then the whole of it. A word in quotes cannot come from a text, whose quotes are all escaped: where
// it stands it is a key or a whole value, though perhaps of another member. So the last word is always a parser's.

// decode fills what it can of v. A member of another type than expected is left alone: the rest is still of use.
func decode(raw []byte, v any) bool {
	err := json.Unmarshal(raw, v)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}

func holds(raw []byte, word string) bool { return bytes.Contains(raw, []byte(word)) }

// leading calls f with the members that lead an object, keys and strings without their quotes, as long as they are
// plain: strings without an escape, numbers and words. It stops when f returns false. It promises nothing about the rest.
func leading(raw []byte, f func(key, value []byte) bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(raw, " \t"), []byte("{"))
	for ok {
		var key, value []byte
		if key, rest, ok = plainString(rest); !ok {
			return
		}
		if rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(":")); !ok {
			return
		}
		rest = bytes.TrimLeft(rest, " \t")
		if len(rest) > 0 && rest[0] == '"' {
			if value, rest, ok = plainString(rest); !ok {
				return
			}
		} else {
			n := bytes.IndexAny(rest, ",}{[\" \t")
			if n <= 0 {
				return
			}
			value, rest = rest[:n], rest[n:]
		}
		if !f(key, value) {
			return
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(","))
	}
}

func plainString(raw []byte) (text, rest []byte, ok bool) {
	raw, ok = bytes.CutPrefix(bytes.TrimLeft(raw, " \t"), []byte(`"`))
	if !ok {
		return nil, nil, false
	}
	text, rest, ok = bytes.Cut(raw, []byte(`"`))
	if !ok || bytes.IndexByte(text, '\\') >= 0 {
		return nil, nil, false
	}
	return text, rest, true
}

// leadingType is the type of a record where it stands among the members that lead it; else it is empty.
func leadingType(raw []byte) string {
	var found string
	leading(raw, func(key, value []byte) bool {
		if string(key) != "type" {
			return true
		}
		found = string(value)
		return false
	})
	return found
}

// block is a part of a message's content, in the words of all three clients.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`

	Thinking string `json:"thinking"`

	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`     // Claude
	Arguments json.RawMessage `json:"arguments"` // Pi

	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks are the parts of a content, which may also be a bare string.
func blocks(content json.RawMessage) []block {
	if bare, ok := bareString(content); ok {
		return []block{{Type: "text", Text: bare}}
	}
	var list []block
	if !decode(content, &list) {
		return nil
	}
	return list
}

func bareString(content json.RawMessage) (string, bool) {
	var text string
	if len(content) == 0 || content[0] != '"' || json.Unmarshal(content, &text) != nil {
		return "", false
	}
	return text, true
}

// joined is the text of a content's parts, a line or more each. What is no text is named: [image].
func joined(list []block) string {
	parts := make([]string, 0, len(list))
	for _, b := range list {
		switch b.Type {
		case "text", "input_text", "output_text", "Text", "summary_text", "reasoning_text":
			parts = append(parts, b.Text)
		case "":
		default:
			parts = append(parts, "["+strings.TrimPrefix(b.Type, "input_")+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// compact is JSON without white space between its tokens.
func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if len(raw) == 0 || json.Compact(&out, raw) != nil {
		return nil
	}
	return out.Bytes()
}

// unwrap takes away what a client puts around a pasted text: <pasted_content id="N">, with a line end on either side.
func unwrap(text string) string {
	const opening, closing = `<pasted_content id="`, `</pasted_content id="`
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, opening)
		if !ok {
			break
		}
		id, rest, ok := strings.Cut(rest, "\">\n")
		if !ok || strings.ContainsAny(id, "\"\n") {
			break
		}
		pasted, rest, ok := strings.Cut(rest, "\n"+closing+id+`">`)
		if !ok {
			break
		}
		out.WriteString(strings.TrimSuffix(before, "\n\n"))
		out.WriteString(pasted)
		text = strings.TrimPrefix(rest, "\n")
	}
	out.WriteString(text)
	return out.String()
}
