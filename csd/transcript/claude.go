package transcript

import (
	"strings"

	"github.com/sessevents/sessevents/internal/lines"
)

// claude is the format of Claude Code: a record a line, an assistant's record a block.
type claude struct{}

func (claude) finder(want sought) finder { return &claudeFinder{want: want} }
func (claude) builder(s start) builder   { return &claudeBuilder{start: s.offset} }
func (claude) candidate(raw []byte) bool { return holds(raw, `"user"`) && !holds(raw, `"tool_result"`) }

func (c claude) prompt(raw []byte) (string, bool) {
	queued := holds(raw, `"queued_command"`)
	if !c.candidate(raw) && !queued || !claudeMatters(raw) {
		return "", false
	}
	var r claudeRecord
	if !decode(raw, &r) {
		return "", false
	}
	switch r.Type {
	case "user":
		said, text, _ := r.user()
		return text, said == prompt
	case "attachment":
		said, text := r.queued()
		return text, said == prompt
	}
	return "", false
}

// claudeFinder looks for a person's prompt.
type claudeFinder struct {
	want sought
	hit  bool // a record of the turn that is being gone through is what is sought
}

func (f *claudeFinder) back(l lines.Line) (*start, bool) {
	named := f.want.mayHold(l.Raw)
	f.hit = f.hit || f.want.any() || f.want.here(l)
	if !named && !(claude{}).candidate(l.Raw) || !claudeMatters(l.Raw) {
		return nil, false
	}
	var r claudeRecord
	if !decode(l.Raw, &r) || r.Type != "user" {
		return nil, false
	}
	said, _, _ := r.user()
	if named && said != silence && f.want.is(r.id()) {
		f.hit = true
	}
	if said != prompt {
		return nil, false
	}
	if f.hit {
		return &start{id: r.id(), offset: l.Offset}, true
	}
	return nil, false
}

func (f *claudeFinder) top() *start { return nil }

// claudeBuilder makes a turn. Once the client has spoken to the model by itself, what follows is no part of the turn's
// own answer: it ends nothing and settles nothing.
type claudeBuilder struct {
	start   int64
	t       Turn
	foreign bool
}

func (b *claudeBuilder) turn() Turn {
	if !b.foreign && b.t.End == nil {
		b.t.own = len(b.t.Items)
	}
	if b.t.End != nil {
		b.t.End.LastMessage = b.t.FinalText()
	}
	return b.t
}

func (b *claudeBuilder) add(l lines.Line) bool {
	if l.Raw == nil {
		b.item(skipped(l))
		return true
	}
	if !claudeMatters(l.Raw) {
		return true
	}
	var r claudeRecord
	if !decode(l.Raw, &r) || r.IsSidechain {
		return true
	}
	base := Item{Offset: l.Offset, At: parseTime(r.Timestamp)}
	switch r.Type {
	case "user":
		return b.user(&r, base)
	case "assistant":
		b.assistant(&r, base)
	case "attachment":
		if said, text := r.queued(); said == prompt {
			b.settle(false)
			b.item(base.with(ItemPrompt, unwrap(text)))
		} else if said == notification {
			b.item(base.with(ItemNotification, summary(text)))
		}
	case "system":
		b.system(&r, base)
	}
	return true
}

func (b *claudeBuilder) item(i Item) { b.t.Items = append(b.t.Items, i) }

func (b *claudeBuilder) settle(is bool) {
	if !b.foreign {
		b.t.settled = is
	}
}

// end takes the end of the turn's own part. An error or an interruption is not overwritten by the record that the turn
// is over, which follows it.
func (b *claudeBuilder) end(e End) {
	if b.foreign || b.t.End != nil {
		return
	}
	e.TurnID = b.t.ID
	b.t.End = &e
	b.t.own = len(b.t.Items)
}

func (b *claudeBuilder) user(r *claudeRecord, base Item) bool {
	said, text, list := r.user()
	switch said {
	case prompt:
		if base.Offset != b.start {
			return false
		}
		b.t.ID, b.t.Prompt, b.t.Offset, b.t.At = r.id(), unwrap(text), base.Offset, base.At
	case results:
		b.settle(false)
		for _, one := range list {
			if one.Type == "tool_result" {
				i := base.with(ItemToolResult, joined(blocks(one.Content)))
				i.ToolUseID, i.IsError = one.ToolUseID, one.IsError
				b.item(i)
			}
		}
	case interruption:
		b.item(base.with(ItemInterruption, text))
		b.end(End{At: base.At, Offset: base.Offset, Interrupted: true})
	case notification:
		if !b.foreign && b.t.End == nil {
			b.t.own = len(b.t.Items)
		}
		b.foreign = true
		b.item(base.with(ItemNotification, summary(text)))
	}
	return true
}

func (b *claudeBuilder) assistant(r *claudeRecord, base Item) {
	base.Message = r.Message.ID
	if r.IsAPIError {
		f := r.failure()
		b.item(base.with(ItemError, f.Message))
		b.end(End{At: base.At, Offset: base.Offset, Error: f})
		return
	}
	if r.Message.Model == "<synthetic>" { // the client's filling between two sessions, no words of the model
		return
	}
	if !b.foreign { // whatever looked like its end: the turn goes on
		b.t.End = nil
	}
	for _, one := range blocks(r.Message.Content) {
		switch one.Type {
		case "thinking":
			b.settle(false)
			if strings.TrimSpace(one.Thinking) != "" {
				b.item(base.with(ItemThinking, one.Thinking))
			}
		case "text":
			b.settle(r.Message.StopReason != "tool_use")
			if strings.TrimSpace(one.Text) != "" {
				b.item(base.with(ItemText, one.Text))
			}
		case "tool_use", "server_tool_use":
			b.settle(false)
			i := base.with(ItemToolCall, "")
			i.Tool, i.ToolUseID, i.Input = one.Name, one.ID, compact(one.Input)
			b.item(i)
		}
	}
}

func (b *claudeBuilder) system(r *claudeRecord, base Item) {
	switch r.Subtype {
	case "turn_duration":
		b.end(End{At: base.At, Offset: base.Offset})
	case "compact_boundary":
		b.item(base.with(ItemCompaction, ""))
	}
}

// with is an item of a kind at the same place.
func (i Item) with(kind ItemKind, text string) Item {
	i.Kind, i.Text = kind, text
	return i
}
