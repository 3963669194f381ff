package transcript

import (
	"encoding/json"
	"strings"

	"github.com/sessevents/sessevents/internal/lines"
)

// codex is the format of Codex's rollouts: turns from task_started to task_complete or turn_aborted, in which the
// person's prompts are UserMessage items. Rollouts of clients before that have only the messages to the model; there a
// turn begins at a message of the user's that names no turn.
type codex struct{}

// codexRecord is what matters of a line of Codex's.
type codexRecord struct {
	Timestamp string       `json:"timestamp"`
	Type      string       `json:"type"`
	Payload   codexPayload `json:"payload"`
}

type codexPayload struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	TurnID  string          `json:"turn_id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Summary json.RawMessage `json:"summary"`
	Item    struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Content   json.RawMessage `json:"content"`
		ProcessID string          `json:"process_id"`
	} `json:"item"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"`
	Last      string          `json:"last_agent_message"`
	Reason    string          `json:"reason"`
	Error     *struct {
		Message string          `json:"message"`
		Info    json.RawMessage `json:"codex_error_info"`
	} `json:"error"`
	Passed struct {
		TurnID string `json:"turn_id"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

// event says whether the record is an event of a type.
func (r *codexRecord) event(kind string) bool { return r.Type == "event_msg" && r.Payload.Type == kind }

// userMessage is the text of a UserMessage item.
func (r *codexRecord) userMessage() (string, bool) {
	if !r.event("item_completed") || r.Payload.Item.Type != "UserMessage" {
		return "", false
	}
	return joined(blocks(r.Payload.Item.Content)), true
}

// oldPrompt is the text of a person's message in a rollout without items. What the client itself says in the user's
// name is none.
func (r *codexRecord) oldPrompt() (string, bool) {
	p := &r.Payload
	if r.Type != "response_item" || p.Type != "message" || p.Role != "user" || p.Passed.TurnID != "" {
		return "", false
	}
	text := joined(blocks(p.Content))
	return text, !injected(text)
}

func injected(text string) bool {
	text = strings.TrimSpace(text)
	for _, sign := range []string{
		"<environment_context>", "<turn_aborted>", "<user_shell_command>", "<user_instructions>", "<permissions",
		"<skill", "<subagent_notification>", "# AGENTS.md instructions",
	} {
		if strings.HasPrefix(text, sign) {
			return true
		}
	}
	return text == ""
}

// ended is the end of a turn that the record tells of.
func (r *codexRecord) ended(offset int64) (End, bool) {
	p := &r.Payload
	end := End{TurnID: p.TurnID, At: parseTime(r.Timestamp), Offset: offset, LastMessage: p.Last}
	switch {
	case r.event("turn_aborted"):
		end.Interrupted = true
	case !r.event("task_complete"):
		return End{}, false
	case p.Error != nil:
		end.Error = &Failure{Type: codexFailure(p.Error.Info, p.Error.Message), Message: p.Error.Message}
	}
	return end, true
}

func (codex) finder(want sought) finder { return &codexFinder{want: want} }
func (codex) builder(s start) builder   { return &codexBuilder{start: s} }

// mayPrompt says whether a line can hold a prompt.
func (codex) mayPrompt(raw []byte) bool {
	return holds(raw, `"UserMessage"`) || holds(raw, `"user"`) && holds(raw, `"message"`)
}

func (c codex) prompt(raw []byte) (string, bool) {
	if !c.mayPrompt(raw) {
		return "", false
	}
	var r codexRecord
	if !decode(raw, &r) {
		return "", false
	}
	if text, ok := r.userMessage(); ok {
		return text, true
	}
	return r.oldPrompt()
}

func (codex) ends(s *source, from int64) ([]End, int64, error) {
	var ends []End
	for line, err := range lines.Forward(s.file, from, s.end, lines.Limit) {
		if err != nil {
			return nil, 0, err
		}
		if !holds(line.Raw, `"task_complete"`) && !holds(line.Raw, `"turn_aborted"`) {
			continue
		}
		var r codexRecord
		if !decode(line.Raw, &r) {
			continue
		}
		if end, ok := r.ended(line.Offset); ok {
			ends = append(ends, end)
		}
	}
	return ends, s.end, nil
}

// codexFinder looks for the beginning of a turn in which there is a prompt.
type codexFinder struct {
	want sought
	hit  bool
	// prompted is the turn of the prompt that was passed last. old is a prompt that names no turn: it begins one, unless
	// the record that says so stands before it.
	prompted string
	old      *start
}

func (f *codexFinder) back(l lines.Line) (*start, bool) {
	f.hit = f.hit || f.want.any() || f.want.here(l)
	begins := holds(l.Raw, `"task_started"`)
	if !begins && !(codex{}).mayPrompt(l.Raw) {
		if f.old != nil && (codex{}).before(l.Raw) {
			return f.oldStart(), false
		}
		return nil, false
	}
	var r codexRecord
	if !decode(l.Raw, &r) {
		return nil, false
	}
	if _, ok := r.userMessage(); ok {
		before := f.oldStart()
		f.prompted = r.Payload.TurnID
		return before, false
	}
	if _, ok := r.oldPrompt(); ok {
		before := f.oldStart()
		f.old = &start{offset: l.Offset}
		return before, false
	}
	if !r.event("task_started") {
		return nil, false
	}
	id := r.Payload.TurnID
	here := f.old != nil || f.prompted != "" && f.prompted == id
	f.old = nil
	if here && (f.hit || f.want.is(id)) {
		return &start{id: id, offset: l.Offset}, false
	}
	f.hit = f.hit && !here
	return nil, false
}

// before says whether a line belongs to what was before an old prompt: the model's part of a turn, or its end.
func (codex) before(raw []byte) bool {
	for _, word := range []string{`"assistant"`, `"call_id"`, `"task_complete"`, `"turn_aborted"`} {
		if holds(raw, word) {
			return true
		}
	}
	return false
}

// oldStart takes the old prompt as a beginning.
func (f *codexFinder) oldStart() *start {
	found := f.old
	f.old = nil
	if found != nil && f.hit {
		return found
	}
	return nil
}

func (f *codexFinder) top() *start { return f.oldStart() }

// codexBuilder makes a turn of the records from its first one to the next turn's.
type codexBuilder struct {
	start  start
	t      Turn
	begun  bool // the prompt is there
	closed bool // the record of the end is there
}

func (b *codexBuilder) turn() Turn {
	b.t.own = len(b.t.Items)
	if b.t.End != nil && b.t.End.LastMessage == "" {
		b.t.End.LastMessage = b.t.FinalText()
	}
	return b.t
}

func (b *codexBuilder) add(l lines.Line) bool {
	if l.Offset == b.start.offset {
		b.t.ID, b.t.Offset = b.start.id, l.Offset
	}
	if l.Raw == nil {
		b.item(skipped(l))
		return true
	}
	if !codexMatters(l.Raw) {
		return true
	}
	var r codexRecord
	if !decode(l.Raw, &r) {
		return true
	}
	base := Item{Offset: l.Offset, At: parseTime(r.Timestamp)}
	if text, ok := r.userMessage(); ok {
		b.prompt(text, base)
		return true
	}
	if text, ok := r.oldPrompt(); ok {
		if b.begun {
			return false
		}
		b.prompt(text, base)
		return true
	}
	if r.event("task_started") {
		return l.Offset == b.start.offset
	}
	if end, ok := r.ended(l.Offset); ok {
		b.end(end, base)
		return true
	}
	if !b.closed && r.Type == "response_item" {
		b.response(&r.Payload, base)
	}
	if r.Type == "compacted" {
		b.item(base.with(ItemCompaction, ""))
	}
	return true
}

// codexMatters says whether a line is of a kind that can be a part of a turn.
func codexMatters(raw []byte) bool {
	switch leadingType(raw) {
	case "event_msg":
		for _, word := range []string{`"task_started"`, `"UserMessage"`, `"task_complete"`, `"turn_aborted"`} {
			if holds(raw, word) {
				return true
			}
		}
		return false
	case "", "response_item", "compacted":
		return true
	}
	return false
}

func (b *codexBuilder) item(i Item) { b.t.Items = append(b.t.Items, i) }

func (b *codexBuilder) prompt(text string, base Item) {
	b.t.settled = false
	if b.begun {
		b.item(base.with(ItemPrompt, unwrap(text)))
		return
	}
	b.begun = true
	b.t.Prompt, b.t.At = unwrap(text), base.At
}

func (b *codexBuilder) end(end End, base Item) {
	if end.TurnID != "" && b.t.ID != "" && end.TurnID != b.t.ID || b.closed {
		return
	}
	b.closed = true
	if end.TurnID == "" {
		end.TurnID = b.t.ID
	}
	if end.Interrupted {
		b.item(base.with(ItemInterruption, ""))
	}
	if end.Error != nil {
		b.item(base.with(ItemError, end.Error.Message))
	}
	b.t.End = &end
}

// response takes what went to the model or came from it. Only the assistant's messages are its words.
func (b *codexBuilder) response(p *codexPayload, base Item) {
	base.Message = p.ID
	switch p.Type {
	case "message":
		if p.Role != "assistant" {
			return
		}
		b.t.settled = true
		for _, one := range blocks(p.Content) {
			if strings.TrimSpace(one.Text) != "" {
				b.item(base.with(ItemText, one.Text))
			}
		}
	case "reasoning":
		b.t.settled = false
		if text := joined(blocks(p.Summary)); strings.TrimSpace(text) != "" {
			b.item(base.with(ItemThinking, text))
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		b.t.settled = false
		b.item(p.call(base))
	case "function_call_output", "custom_tool_call_output":
		b.t.settled = false
		i := base.with(ItemToolResult, "")
		i.ToolUseID = p.CallID
		i.Text, i.IsError = codexOutput(p.Output)
		b.item(i)
	}
}
