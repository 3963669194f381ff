package transcript

import (
	"strings"

	"github.com/sessevents/sessevents/internal/lines"
)

// claude is the format of Claude Code: a record a line, an assistant's record a block.
type claude struct{}

func (claude) finder(want sought) finder { return &claudeFinder{want: want} }
func (claude) builder(s start) builder   { return &claudeBuilder{start: s} }
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

// claudeFinder looks for a person's prompt: a record of its own, or words that went into a turn which the client began by
// itself.
type claudeFinder struct {
	want   sought
	hit    bool  // a record of the turn that is being gone through is what is sought
	queued int64 // the first of such words that were passed, plus one
}

func (f *claudeFinder) back(l lines.Line) (*start, bool) {
	named := f.want.mayHold(l.Raw)
	f.hit = f.hit || f.want.any() || f.want.here(l)
	queued := holds(l.Raw, `"queued_command"`)
	if !named && !queued && !(claude{}).candidate(l.Raw) || !claudeMatters(l.Raw) {
		return nil, false
	}
	var r claudeRecord
	if !decode(l.Raw, &r) {
		return nil, false
	}
	switch r.Type {
	case "attachment":
		if said, _ := r.queued(); said == prompt {
			f.queued = l.Offset + 1
		}
	case "user":
		return f.user(&r, l.Offset, named), false
	}
	return nil, false
}

func (f *claudeFinder) user(r *claudeRecord, offset int64, named bool) *start {
	said, _, _ := r.user()
	if named && said != silence && f.want.is(r.id()) {
		f.hit = true
	}
	switch {
	case said == notification && f.queued > 0:
		offset = f.queued - 1
	case said != prompt:
		return nil
	}
	f.queued = 0
	if f.hit {
		return &start{id: r.id(), offset: offset}
	}
	return nil
}

func (f *claudeFinder) top() *start { return nil }

// claudeBuilder makes a turn. Once the client has spoken to the model by itself, what follows is no part of the turn's
// own answer: it ends nothing and settles nothing.
type claudeBuilder struct {
	start   start
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
		return b.attachment(&r, base)
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

// begin takes the prompt that begins the turn. It is false for that of another one.
func (b *claudeBuilder) begin(text string, base Item) bool {
	if base.Offset != b.start.offset {
		return false
	}
	b.t.ID, b.t.Prompt, b.t.Offset, b.t.At = b.start.id, unwrap(text), base.Offset, base.At
	return true
}

func (b *claudeBuilder) attachment(r *claudeRecord, base Item) bool {
	said, text := r.queued()
	switch {
	case said == prompt && (b.foreign || base.Offset == b.start.offset):
		return b.begin(text, base)
	case said == prompt:
		b.settle(false)
		b.item(base.with(ItemPrompt, unwrap(text)))
	case said == notification:
		b.item(base.with(ItemNotification, summary(text)))
	}
	return true
}

func (b *claudeBuilder) user(r *claudeRecord, base Item) bool {
	said, text, list := r.user()
	switch said {
	case prompt:
		return b.begin(text, base)
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
