package transcript

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
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

// Patterns are compiled when they are first needed: hooks and most commands need none, and have no time for it.
var (
	execHead = pattern(`(?m)^(?:Process exited with code|Exit code:) (-?\d+)$`)
	execWall = pattern(`(?m)^Wall time: ([0-9.]+) seconds?$`)
	execRuns = pattern(`(?m)^Process running with session ID (\S+)$`)
	execLine = pattern(`^(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines): .*$|^Process .*$`)
	execFail = pattern(`^(?:unsupported call: |[a-z_]+ failed: )`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// execHeader parts the header that Codex puts before the output of a command from the output. The output may hold lines
// like it, so the header must be all of the text before the first "Output:", and of nothing but its own lines.
func execHeader(text string) (header, output string, ok bool) {
	header, output, ok = strings.Cut(text, "\nOutput:")
	if !ok {
		return "", "", false
	}
	for line := range strings.SplitSeq(header, "\n") {
		if !execLine().MatchString(line) {
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
		return text, failed || execFail().MatchString(text)
	}
	state := ""
	if code := execHead().FindStringSubmatch(header); code != nil {
		state, failed = "exited "+code[1], code[1] != "0"
	} else if id := execRuns().FindStringSubmatch(header); id != nil {
		state = "running as " + id[1]
	}
	if wall := execWall().FindStringSubmatch(header); wall != nil {
		state = strings.TrimPrefix(state+" · "+wall[1]+"s", " · ")
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
