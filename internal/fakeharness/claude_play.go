package fakeharness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// claudePlay is the model's side of one turn.
type claudePlay struct {
	*claude
	turn    *claudeTurn
	prompt  string
	steps   []step
	message string   // the id of the message that is being written
	blocks  []object // its blocks
	tool    string   // the last tool's output
	partial string   // what was streamed when it was interrupted
	running object   // the tool call that was
}

var errHung = errors.New("the turn hangs")

// all plays the steps. The error is an apiError, or an interruption.
func (y *claudePlay) all() (final string, err error) {
	ctx := y.turn.ctx
	if err := sleep(ctx, y.knobs.turn); err != nil {
		return "", err
	}
	if y.knobs.silent {
		<-ctx.Done()
		return "", errHung
	}
	if y.knobs.fail != "" {
		return "", &apiError{y.knobs.fail}
	}
	said := ""
	for _, s := range y.steps {
		text, err := y.step(ctx, s)
		if err != nil {
			return "", err
		}
		if text != "" {
			said = text
		}
	}
	final = answer(y.prompt, y.steps, y.tool)
	if said != "" {
		final = said
	}
	return final, ctx.Err()
}

// step plays one step. text is an answer that the step itself gives.
func (y *claudePlay) step(ctx context.Context, s step) (text string, err error) {
	switch s.verb {
	case "TOOL":
		return "", y.call(ctx, false, s.arg)
	case "BG":
		return "", y.call(ctx, true, s.arg)
	case "PAR":
		return "", y.call(ctx, false, strings.Split(s.arg, " | ")...)
	case "STOPBG":
		y.stopTask()
	case "COMPACT":
		y.compact()
	case "PERMIT":
		return "", y.permit(ctx, s.arg)
	case "SUB":
		return "", y.subagent(s.arg)
	case "BADTOOL":
		y.use("no_such_tool", obj("x", 1))
		y.emit("tool_use")
		y.result(y.turn, y.running, "<tool_use_error>Error: No such tool available: no_such_tool</tool_use_error>", true, nil)
	case "THINK":
		y.say("thinking", s.arg)
	case "SAY":
		y.say("text", s.arg)
		y.claude.say("● " + s.arg)
	case "SLOW":
		return "", y.stream(ctx, duration(s.arg))
	case "HANG":
		<-ctx.Done()
		return "", errHung
	case "ERR", "FAIL":
		code, after, _ := strings.Cut(s.arg, " ")
		if code == "" {
			code = "529"
		}
		if err := sleep(ctx, duration(after)); err != nil {
			return "", err
		}
		return "", &apiError{code}
	case "REMEMBER":
		y.mu.Lock()
		y.memory = s.arg
		y.mu.Unlock()
	case "RECALL":
		y.mu.Lock()
		defer y.mu.Unlock()
		return "Recalled: " + y.memory, nil
	case "DIE":
		crash(s.arg)
	}
	return "", nil
}

// crash ends the process with nothing tidied.
func crash(arg string) {
	if arg == "9" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	status, err := strconv.Atoi(arg)
	if err != nil {
		status = 1
	}
	os.Exit(status)
}

// say adds a block to the message.
func (y *claudePlay) say(kind, text string) {
	block := obj("type", kind, kind, text)
	if kind == "thinking" {
		block = block.and("signature", "c3R1Yg==")
	}
	y.blocks = append(y.blocks, block)
}

// use adds a tool call to the message.
func (y *claudePlay) use(name string, input object) {
	y.running = obj("type", "tool_use", "id", "toolu_"+hexID(12), "name", name, "input", input)
	y.blocks = append(y.blocks, y.running)
}

// emit writes the message, a record a block, and begins another.
func (y *claudePlay) emit(stop any) {
	for _, block := range y.blocks {
		y.assistant(obj("id", y.message, "type", "message", "role", "assistant", "model", "claude-opus-5-5", "content", []any{block},
			"stop_reason", stop, "stop_sequence", nil, "usage", obj("input_tokens", 100, "output_tokens", 20)))
	}
	y.blocks, y.message = nil, "msg_"+hexID(12)
}

// claudeCall is one call of the shell tool, and what came of it.
type claudeCall struct {
	use        object
	command    string
	background bool

	text     string
	failed   bool
	response object
	err      error
}

func (c *claudeCall) id() string    { return c.use[1].value.(string) }
func (c *claudeCall) input() object { return c.use[3].value.(object) }

// call runs commands with the shell tool, all at once.
func (y *claudePlay) call(ctx context.Context, background bool, commands ...string) error {
	calls := make([]*claudeCall, len(commands))
	for i, command := range commands {
		input := obj("command", command, "description", "bg "+command)
		if background {
			input = input.and("run_in_background", true)
		}
		y.use("Bash", input)
		calls[i] = &claudeCall{use: y.running, command: command, background: background}
		y.claude.say("● Bash(" + command + ")")
	}
	y.emit("tool_use")
	var all sync.WaitGroup
	for _, c := range calls {
		all.Go(func() { c.err = y.execute(ctx, c) })
	}
	all.Wait()
	for _, c := range calls {
		if c.err != nil {
			return c.err
		}
		y.result(y.turn, c.use, c.text, c.failed, c.response)
		if !background {
			y.tool = c.response[0].value.(string)
		}
	}
	y.running = nil
	y.fire("PostToolBatch", y.payload("PostToolBatch", y.turn.id))
	for _, folded := range y.fold() {
		y.prompt += "\n" + folded
	}
	return nil
}

// execute is one call with its hooks.
func (y *claudePlay) execute(ctx context.Context, c *claudeCall) error {
	began := time.Now()
	about := func(event string) object {
		return y.payload(event, y.turn.id).and("tool_name", "Bash", "tool_input", c.input())
	}
	y.fire("PreToolUse", about("PreToolUse").and("tool_use_id", c.id()))
	if err := ctx.Err(); err != nil {
		return err
	}
	c.response = obj("stdout", "", "stderr", "", "interrupted", false, "isImage", false, "noOutputExpected", false)
	if c.background {
		task, output, err := y.background(c.id(), c.command)
		if err != nil {
			return err
		}
		c.text = "Command running in background with ID: " + task + ". Output is being written to: " + output + ". You will be notified when it completes."
		c.response = c.response.and("backgroundTaskId", task)
	} else {
		out, code := y.shell(ctx, c.command)
		if err := ctx.Err(); err != nil {
			return err
		}
		c.text = strings.TrimSuffix(out, "\n")
		c.response[0].value = c.text
		if c.failed = code != 0; c.failed {
			c.text = strings.TrimSuffix(fmt.Sprintf("Exit code %d\n%s", code, c.text), "\n")
		}
	}
	took := time.Since(began).Milliseconds()
	if c.failed {
		y.fire("PostToolUseFailure", about("PostToolUseFailure").and("tool_use_id", c.id(), "error", c.text, "is_interrupt", false, "duration_ms", took))
	} else {
		y.fire("PostToolUse", about("PostToolUse").and("tool_response", c.response, "tool_use_id", c.id(), "duration_ms", took))
	}
	return nil
}

// stopTask ends the last command in the background. Nothing else tells of its end.
func (y *claudePlay) stopTask() {
	y.mu.Lock()
	var t *claudeTask
	if n := len(y.tasks); n > 0 {
		t = y.tasks[n-1]
		t.quiet = true
	}
	y.mu.Unlock()
	if t == nil {
		return
	}
	input := obj("task_id", t.id)
	y.use("TaskStop", input)
	y.emit("tool_use")
	use := y.running
	about := func(event string) object {
		return y.payload(event, y.turn.id).and("tool_name", "TaskStop", "tool_input", input)
	}
	id := use[1].value
	y.fire("PreToolUse", about("PreToolUse").and("tool_use_id", id))
	t.stop()
	<-t.over
	response := obj("message", "Successfully stopped task: "+t.id, "task_id", t.id, "task_type", "local_bash", "command", t.command)
	y.fire("PostToolUse", about("PostToolUse").and("tool_response", response, "tool_use_id", id))
	y.result(y.turn, use, string(encode(response)), false, response)
	y.running = nil
}

// permit asks for leave first.
func (y *claudePlay) permit(ctx context.Context, command string) error {
	input := obj("command", command, "description", "asks")
	y.setState("waiting", "permission prompt")
	y.fire("PermissionRequest", y.payload("PermissionRequest", y.turn.id).and("tool_name", "Bash", "tool_input", input, "permission_suggestions", []any{}))
	choice := y.askWithin(ctx, menu{
		above: []string{strings.Repeat("─", y.width), " Bash command", "", " " + command, " This command requires approval", "", " Do you want to proceed?"},
		items: []string{"Yes", "Yes, and switch to auto mode", "No"}, numbered: true, cursor: "❯", below: "Esc to cancel · Tab to amend", digits: true,
	})
	y.setState("busy", "")
	if choice < 0 || choice == 2 {
		y.use("Bash", input)
		y.emit("tool_use")
		y.turn.cancel()
		return context.Canceled
	}
	return y.call(ctx, false, command)
}

// stream gives text bit by bit.
func (y *claudePlay) stream(ctx context.Context, d time.Duration) error {
	const tick = 100 * time.Millisecond
	for i := 0; d > 0; i++ {
		y.partial += fmt.Sprintf("tick %d\n", i)
		if err := sleep(ctx, min(d, tick)); err != nil {
			return err
		}
		d -= tick
	}
	y.say("text", y.partial)
	y.partial = ""
	return nil
}

// interrupted writes what an interruption leaves in the transcript. No hook tells of it.
func (y *claudePlay) interrupted(string) {
	said := "[Request interrupted by user]"
	switch {
	case y.running != nil:
		y.result(y.turn, y.running, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.", true, nil)
		said = "[Request interrupted by user for tool use]"
	case y.partial != "":
		y.claude.say("● " + y.partial)
		y.claudePlaySay()
	}
	y.claude.say("  ⎿  Interrupted · What should Claude do instead?")
	y.write(obj("promptId", y.turn.id, "type", "user", "message", obj("role", "user", "content", []any{obj("type", "text", "text", said)}),
		"rowSource", "harness", "interruptedMessageId", y.message))
}

// claudePlaySay writes what was streamed so far.
func (y *claudePlay) claudePlaySay() {
	id := y.message
	y.say("text", y.partial)
	y.emit(nil)
	y.message = id
}

// subagent asks another agent, whose records have a file of their own.
func (y *claudePlay) subagent(text string) error {
	agent := "a" + hexID(16)
	input := obj("description", "sub work", "prompt", text, "subagent_type", "general-purpose")
	y.use("Agent", input)
	y.emit("tool_use")
	call := y.running
	id := call[1].value.(string)
	y.fire("PreToolUse", y.payload("PreToolUse", y.turn.id).and("tool_name", "Agent", "tool_input", input, "tool_use_id", id))
	y.fire("SubagentStart", y.payload("SubagentStart", y.turn.id).and("agent_id", agent, "agent_type", "general-purpose"))
	file := filepath.Join(strings.TrimSuffix(y.transcript, ".jsonl"), "subagents", "agent-"+agent+".jsonl")
	reply := "Echo: " + text
	for _, message := range []object{
		obj("role", "user", "content", text),
		obj("role", "assistant", "content", []any{obj("type", "text", "text", reply)}, "stop_reason", "end_turn"),
	} {
		if err := appendLine(file, obj("isSidechain", true, "agentId", agent, "type", message[0].value, "message", message, "uuid", uuid4(),
			"timestamp", stamp(), "sessionId", y.sessionNow())); err != nil {
			return err
		}
	}
	y.fire("SubagentStop", y.payload("SubagentStop", y.turn.id).and("agent_id", agent, "agent_type", "general-purpose", "stop_hook_active", false,
		"agent_transcript_path", file, "last_assistant_message", reply, "background_tasks", y.claude.running(), "session_crons", []any{}))
	y.fire("PostToolUse", y.payload("PostToolUse", y.turn.id).and("tool_name", "Agent", "tool_input", input, "tool_response", obj("status", "completed", "agentId", agent), "tool_use_id", id))
	y.result(y.turn, call, reply, false, nil)
	y.running, y.tool = nil, reply
	return nil
}
