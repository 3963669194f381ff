package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// codexShells are the names that Codex has had for what the others call Bash.
var codexShells = map[string]bool{
	"exec_command": true, "shell": true, "local_shell": true, "shell_command": true, "container.exec": true,
}

func (p *codexPayload) call(base Item) Item {
	i := base.with(ItemToolCall, "")
	i.ToolUseID, i.Tool = p.CallID, p.Name
	if codexShells[p.Name] || p.Type == "local_shell_call" {
		i.Tool = "Bash"
	}
	i.Input = p.Arguments
	if len(i.Input) == 0 {
		i.Input = p.Input
	}
	// Arguments are an object written as a text; they stay as the model wrote them.
	if text, ok := bareString(i.Input); ok && strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)) {
		i.Input = json.RawMessage(text)
	}
	return i
}

// execLines are how the lines of the header begin that Codex puts before the output of a command.
var execLines = []string{"Chunk ID: ", "Wall time: ", "Exit code: ", "Original token count: ", "Total output lines: ", "Process "}

// execField is the value of the header's first line that begins with one of the names and ends with end. These lines, and
// no regular expressions: a hook reads them, and the tables of those would be a twentieth of what it costs.
func execField(header, end string, names ...string) (value string, ok bool) {
	for line := range strings.SplitSeq(header, "\n") {
		for _, name := range names {
			rest, begins := strings.CutPrefix(line, name)
			if value, ok = strings.CutSuffix(rest, end); begins && ok && value != "" {
				return value, true
			}
		}
	}
	return "", false
}

// execCode is the exit code that a header tells.
func execCode(header string) (code int, ok bool) {
	text, _ := execField(header, "", "Process exited with code ", "Exit code: ")
	code, err := strconv.Atoi(text)
	return code, err == nil
}

// execSession is the id of a command that still ran when the header was written.
func execSession(header string) (id string, ok bool) {
	id, ok = execField(header, "", "Process running with session ID ")
	return id, ok && !strings.ContainsAny(id, " \t")
}

// execWall is how many seconds a command took.
func execWall(header string) (seconds string, ok bool) {
	seconds, ok = execField(header, " seconds", "Wall time: ")
	if !ok {
		seconds, ok = execField(header, " second", "Wall time: ")
	}
	_, err := strconv.ParseFloat(seconds, 64)
	return seconds, ok && err == nil
}

// execFailed reports whether text says that a tool of Codex failed: "unsupported call: …", "apply_patch failed: …".
func execFailed(text string) bool {
	tool, _, ok := strings.Cut(text, " failed: ")
	return ok && tool != "" && strings.Trim(tool, "abcdefghijklmnopqrstuvwxyz_") == "" || strings.HasPrefix(text, "unsupported call: ")
}

// execHeader parts the header that Codex puts before the output of a command from the output. The output may hold lines
// like it, so the header must be all of the text before the first "Output:", and of nothing but its own lines.
func execHeader(text string) (header, output string, ok bool) {
	header, output, ok = strings.Cut(text, "\nOutput:")
	if !ok {
		return "", "", false
	}
	for line := range strings.SplitSeq(header, "\n") {
		if !slices.ContainsFunc(execLines, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			return "", "", false
		}
	}
	return header, strings.TrimPrefix(output, "\n"), true
}

// codexOutput is the text of a tool's result, a command's header made short, and whether the tool failed.
func codexOutput(raw json.RawMessage) (text string, failed bool) {
	text, bare := bareString(raw)
	if !bare {
		var object struct {
			Content json.RawMessage `json:"content"`
			Success *bool           `json:"success"`
		}
		if text = joined(blocks(raw)); text == "" && decode(raw, &object) {
			text = joined(blocks(object.Content))
			failed = object.Success != nil && !*object.Success
		}
	}
	if short, code, ok := oldOutput(text); ok {
		return short, code != 0
	}
	header, output, ok := execHeader(text)
	if !ok {
		return text, failed || execFailed(text)
	}
	state := ""
	if code, ok := execCode(header); ok {
		state, failed = fmt.Sprintf("exited %d", code), code != 0
	} else if id, ok := execSession(header); ok {
		state = "running as " + id
	}
	if seconds, ok := execWall(header); ok {
		state = strings.TrimPrefix(state+" · "+seconds+"s", " · ")
	}
	return strings.TrimSuffix(state+"\n"+output, "\n"), failed
}

// oldOutput reads the results of clients that wrote them as JSON.
func oldOutput(text string) (short string, code int, ok bool) {
	var old struct {
		Output   *string `json:"output"`
		Metadata *struct {
			Code    int         `json:"exit_code"`
			Seconds json.Number `json:"duration_seconds"`
		} `json:"metadata"`
	}
	if !strings.HasPrefix(text, `{"output"`) || json.Unmarshal([]byte(text), &old) != nil || old.Output == nil || old.Metadata == nil {
		return "", 0, false
	}
	return fmt.Sprintf("exited %d · %ss\n%s", old.Metadata.Code, old.Metadata.Seconds, *old.Output), old.Metadata.Code, true
}
