package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sessevents/sessevents/internal/lines"
)

// pi is the format of Pi's sessions: a tree of entries, of which the last one is the leaf and the way from it to the root
// is the conversation. A turn is one run of the agent. A person's message that was typed before the run's last record
// was written went into that run; only one that was typed after it begins another.
type pi struct{}

// piHead is what leads an entry.
type piHead struct {
	kind, id, parent string
	at               time.Time
}

// piEntry is what matters of an entry.
type piEntry struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Parent    string `json:"parentId"`
	Timestamp string `json:"timestamp"`
	Summary   string `json:"summary"`
	Message   struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		Typed      float64         `json:"timestamp"` // Unix milliseconds
		StopReason string          `json:"stopReason"`
		Error      string          `json:"errorMessage"`
		ToolCallID string          `json:"toolCallId"`
		IsError    bool            `json:"isError"`
		Command    string          `json:"command"`
	} `json:"message"`
}

// head reads the members that lead an entry, or where they are written in another order the whole of it.
func (pi) head(raw []byte) (piHead, bool) {
	var h piHead
	seen := 0
	leading(raw, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			h.kind = string(value)
		case "id":
			h.id = string(value)
		case "parentId":
			if h.parent = string(value); h.parent == "null" {
				h.parent = ""
			}
		case "timestamp":
			h.at = parseTime(string(value))
		default:
			return true
		}
		seen++
		return seen < 4
	})
	if seen < 4 && h.kind != "session" {
		var e piEntry
		if !decode(raw, &e) {
			return piHead{}, false
		}
		h = piHead{kind: e.Type, id: e.ID, parent: e.Parent, at: parseTime(e.Timestamp)}
	}
	return h, h.id != "" && h.kind != "" && h.kind != "session"
}

func (pi) finder(want sought) finder { return &piFinder{want: want} }
func (pi) builder(s start) builder   { return &piBuilder{start: s.offset, id: s.id} }

func (pi) prompt(raw []byte) (string, bool) {
	if !holds(raw, `"user"`) {
		return "", false
	}
	var e piEntry
	if !decode(raw, &e) || !e.isUser() {
		return "", false
	}
	return joined(blocks(e.Message.Content)), true
}

func (e *piEntry) isUser() bool { return e.Type == "message" && e.Message.Role == "user" }

// piFinder goes from the leaf to the root, and past what is not on the way.
type piFinder struct {
	want    sought
	hit     bool
	parent  string // the entry that comes next; empty: any
	rooted  bool
	path    []int64
	pending *start // a person's message; whether it begins a run depends on the record before it
	upTo    int    // so much of path is from it on
	typed   time.Time
	loose   bool // go by the order of the file: the tree is broken
}

func (f *piFinder) back(l lines.Line) (*start, bool) {
	if l.Raw == nil { // it may have been the parent; the next entry is as good
		f.parent = ""
		f.path = append(f.path, l.Offset)
		return nil, false
	}
	if f.parent != "" && !f.loose && !holds(l.Raw, f.parent) {
		return nil, false
	}
	h, ok := (pi{}).head(l.Raw)
	if !ok || f.parent != "" && !f.loose && h.id != f.parent {
		return nil, false
	}
	var found *start
	if h.kind == "message" {
		found = f.before(h.at)
	}
	if found != nil {
		return found, false
	}
	f.hit = f.hit || f.want.any() || f.want.here(l)
	f.path = append(f.path, l.Offset)
	if holds(l.Raw, `"user"`) {
		var e piEntry
		if decode(l.Raw, &e) && e.isUser() {
			f.hit = f.hit || f.want.is(h.id)
			f.pending, f.upTo = &start{id: h.id, offset: l.Offset}, len(f.path)
			f.typed = h.at
			if e.Message.Typed > 0 {
				f.typed = time.UnixMilli(int64(e.Message.Typed))
			}
		}
	}
	f.parent = h.parent
	f.rooted = f.parent == "" && !f.loose
	return nil, f.rooted
}

// before settles the pending message: at is when the record before it was written.
func (f *piFinder) before(at time.Time) *start {
	if f.pending == nil || !f.typed.IsZero() && f.typed.Before(at) {
		f.pending = nil
		return nil
	}
	return f.settle()
}

// settle takes the pending message as the beginning of a run.
func (f *piFinder) settle() *start {
	found := f.pending
	f.pending = nil
	if found == nil {
		return nil
	}
	found.path, f.path = f.path[:f.upTo], f.path[f.upTo:]
	if !f.hit {
		return nil
	}
	return found
}

func (f *piFinder) top() *start { return f.settle() }

// broken says that an entry's parent was not in the file.
func (f *piFinder) broken() bool { return f.parent != "" && !f.loose }

// piBuilder makes a turn of the entries of a run.
type piBuilder struct {
	start   int64
	id      string
	t       Turn
	foreign bool
	// failed are the items of the attempt that failed last; another attempt takes their place.
	failed []int
}

func (b *piBuilder) turn() Turn {
	if !b.foreign {
		b.t.own = len(b.t.Items)
	}
	if b.t.End != nil {
		b.t.End.LastMessage = b.t.FinalText()
	}
	return b.t
}

func (b *piBuilder) item(i Item) { b.t.Items = append(b.t.Items, i) }

func (b *piBuilder) add(l lines.Line) bool {
	if l.Raw == nil {
		b.item(skipped(l))
		return true
	}
	var e piEntry
	if !decode(l.Raw, &e) {
		return true
	}
	base := Item{Offset: l.Offset, At: parseTime(e.Timestamp), Message: e.ID}
	switch {
	case e.Type == "compaction":
		b.item(base.with(ItemCompaction, e.Summary))
	case e.Type != "message":
	case l.Offset == b.start:
		b.t.ID, b.t.Offset, b.t.At = e.ID, l.Offset, base.At
		b.t.Prompt = unwrap(joined(blocks(e.Message.Content)))
	default:
		b.message(&e, base)
	}
	return true
}

func (b *piBuilder) message(e *piEntry, base Item) {
	m := &e.Message
	switch m.Role {
	case "user":
		b.goOn()
		b.item(base.with(ItemPrompt, unwrap(joined(blocks(m.Content)))))
	case "toolResult":
		b.goOn()
		i := base.with(ItemToolResult, joined(blocks(m.Content)))
		i.ToolUseID, i.IsError = m.ToolCallID, m.IsError
		b.item(i)
	case "assistant":
		b.assistant(e, base)
	case "bashExecution":
		if !b.foreign {
			b.t.own = len(b.t.Items)
		}
		b.foreign = true
		b.item(base.with(ItemNotification, "! "+m.Command))
	}
}

// goOn takes back what looked like the end of the run.
func (b *piBuilder) goOn() {
	b.failed, b.t.End, b.t.settled = nil, nil, false
}

func (b *piBuilder) assistant(e *piEntry, base Item) {
	m := &e.Message
	for _, i := range slices.Backward(b.failed) {
		b.t.Items = slices.Delete(b.t.Items, i, i+1)
	}
	b.goOn()
	first := len(b.t.Items)
	for _, one := range blocks(m.Content) {
		switch {
		case one.Type == "thinking" && strings.TrimSpace(one.Thinking) != "":
			b.item(base.with(ItemThinking, one.Thinking))
		case one.Type == "text" && strings.TrimSpace(one.Text) != "":
			b.item(base.with(ItemText, one.Text))
		case one.Type == "toolCall":
			i := base.with(ItemToolCall, "")
			i.Tool, i.ToolUseID, i.Input = canonical(one.Name), one.ID, compact(one.Arguments)
			b.item(i)
		}
	}
	end := End{TurnID: b.t.ID, At: base.At, Offset: base.Offset}
	switch m.StopReason {
	case "toolUse":
		return
	case "aborted":
		end.Interrupted = true
		b.item(base.with(ItemInterruption, ""))
	case "error":
		end.Error = &Failure{Type: FailureOf(m.Error), Message: m.Error}
		b.item(base.with(ItemError, m.Error))
		for i := first; i < len(b.t.Items); i++ {
			b.failed = append(b.failed, i)
		}
	default:
		b.t.settled = true
	}
	b.t.End = &end
}

// canonical is a tool's name as the other clients write it: bash is Bash.
func canonical(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[n:]
}

// ends takes each closing record of a run as an end. A failed attempt that nothing has followed yet may be tried again:
// it is left to the next call.
func (p pi) ends(s *source, from int64) ([]End, int64, error) {
	var ends []End
	var failed *End
	for line, err := range lines.Forward(s.file, from, s.end, lines.Limit) {
		if err != nil {
			return nil, 0, err
		}
		if failed == nil && !p.mayEnd(line.Raw) {
			continue
		}
		var e piEntry
		if !decode(line.Raw, &e) || e.Type != "message" {
			continue
		}
		if failed != nil && e.Message.Role != "assistant" {
			ends = append(ends, *failed)
		}
		failed = nil
		switch end, ok := p.end(&e, line.Offset); {
		case ok && end.Error != nil:
			failed = &end
		case ok:
			ends = append(ends, end)
		}
	}
	for i := range ends {
		var err error
		if ends[i].TurnID, err = p.whose(s, ends[i].Offset); err != nil {
			return nil, 0, err
		}
	}
	if failed != nil {
		return ends, failed.Offset, nil
	}
	return ends, s.end, nil
}

// mayEnd says whether a line can be a closing record. What a message stopped for stands behind all that it holds.
func (pi) mayEnd(raw []byte) bool {
	if !holds(raw, `"stopReason"`) { // spares the slow look from the back
		return false
	}
	i := bytes.LastIndex(raw, []byte(`"stopReason"`))
	return !bytes.HasPrefix(raw[i:], []byte(`"stopReason":"toolUse"`))
}

func (pi) end(e *piEntry, offset int64) (End, bool) {
	m := &e.Message
	end := End{At: parseTime(e.Timestamp), Offset: offset, LastMessage: texts(blocks(m.Content))}
	switch {
	case m.Role != "assistant" || m.StopReason == "toolUse":
		return End{}, false
	case m.StopReason == "aborted":
		end.Interrupted = true
	case m.StopReason == "error":
		end.Error = &Failure{Type: FailureOf(m.Error), Message: m.Error}
	}
	return end, true
}

// whose is the run that a record belongs to.
func (p pi) whose(s *source, offset int64) (string, error) {
	end, err := lines.Start(s.file, offset+1, s.end)
	if err != nil {
		return "", err
	}
	from, err := (&source{file: s.file, end: end}).begin(p, sought{})
	if errors.Is(err, ErrNoTurn) {
		return "", nil
	}
	return from.id, err
}
