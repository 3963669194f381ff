package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/internal/lines"
)

// Terminal is a command that runs on in the background of a Codex session. It may be kept as JSON.
type Terminal struct {
	// CallID is the call of the tool that began it; in the environment of its processes it is CODEX_TOOL_CALL_ID.
	CallID string `json:"call_id"`
	// ProcessID is Codex's own number of it, no process id of the system.
	ProcessID string    `json:"process_id"`
	Command   string    `json:"command,omitempty"`
	Since     time.Time `json:"since,omitzero"`
}

// reach is how far before a command's first result its call is looked for.
const reach = 8 << 20

// Terminals goes on from running, which is what was known at offset, and gives what runs at the end of the file and the
// offset to go on from. The terminals of a Codex that is dead are gone, whatever its rollout says: whoever sees that it
// is begins with none.
func Terminals(path string, offset int64, running []Terminal) ([]Terminal, int64, error) {
	s, err := open(path)
	if err != nil {
		return running, offset, fmt.Errorf("read terminals: %w", err)
	}
	defer s.close()
	from, err := lines.Start(s.file, min(offset, s.end), s.end)
	if err != nil {
		return running, offset, err
	}
	now, err := s.terminals(from, slices.Clone(running))
	if err != nil {
		return running, offset, err
	}
	return now, s.end, nil
}

func (s *source) terminals(from int64, now []Terminal) ([]Terminal, error) {
	for line, err := range lines.Forward(s.file, from, s.end, lines.Limit) {
		if err != nil {
			return nil, err
		}
		if now, err = s.terminal(now, line); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// terminal takes one line: a result that says that its command runs on, or the record of a command's end.
func (s *source) terminal(now []Terminal, l lines.Line) ([]Terminal, error) {
	begins := holds(l.Raw, `"function_call_output"`) && holds(l.Raw, "running with session ID ")
	ends := len(now) > 0 && holds(l.Raw, `"CommandExecution"`)
	if !begins && !ends {
		return now, nil
	}
	var r codexRecord // only here: it is on the heap
	if !decode(l.Raw, &r) {
		return now, nil
	}
	p := &r.Payload
	if r.event("item_completed") && p.Item.Type == "CommandExecution" {
		return slices.DeleteFunc(now, func(t Terminal) bool { return t.CallID == p.Item.ID }), nil
	}
	text, _ := bareString(p.Output)
	header, _, _ := execHeader(text)
	id, runs := execSession(header)
	if r.Type != "response_item" || p.Type != "function_call_output" || !runs {
		return now, nil
	}
	// A command that is polled says again that it runs, as the result of another call.
	if slices.ContainsFunc(now, func(t Terminal) bool { return t.ProcessID == id || t.CallID == p.CallID }) {
		return now, nil
	}
	t := Terminal{CallID: p.CallID, ProcessID: id, Since: parseTime(r.Timestamp)}
	call, over, err := s.callOf(p.CallID, l.Offset)
	if err != nil || over || call.Name == "write_stdin" { // that one polls a terminal that we do not know of
		return now, err
	}
	t.Command = call.command()
	return append(now, t), nil
}

// callOf looks backward for the call of a result; over: its command ended before the result was written.
func (s *source) callOf(id string, before int64) (call codexPayload, over bool, err error) {
	from, err := lines.Start(s.file, max(before-reach, 0), before)
	if err != nil {
		return call, false, err
	}
	for line, err := range lines.Backward(s.file, from, before, lines.Limit) {
		if err != nil {
			return call, false, err
		}
		if !holds(line.Raw, `"`+id+`"`) {
			continue
		}
		var r codexRecord
		if !decode(line.Raw, &r) {
			continue
		}
		if r.Payload.Type == "function_call" && r.Payload.CallID == id {
			return r.Payload, over, nil
		}
		over = over || r.Payload.Item.Type == "CommandExecution" && r.Payload.Item.ID == id
	}
	return call, over, nil
}

// command is what a call of a shell runs.
func (p *codexPayload) command() string {
	text, _ := bareString(p.Arguments)
	var arguments struct {
		Cmd     string          `json:"cmd"`
		Command json.RawMessage `json:"command"`
	}
	if !decode([]byte(text), &arguments) || arguments.Cmd != "" {
		return arguments.Cmd
	}
	if bare, ok := bareString(arguments.Command); ok {
		return bare
	}
	var argv []string
	if decode(arguments.Command, &argv) {
		return strings.Join(argv, " ")
	}
	return ""
}
