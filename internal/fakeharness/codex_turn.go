package fakeharness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prompt is a turn that a prompt begins.
func (p *codex) prompt(t *codexTurn, text string) {
	p.taskStarted(t, "user")
	p.hooksMu.Lock()
	_ = sleep(context.Background(), p.knobs.submitLag)
	p.mu.Lock()
	source := p.source
	p.source = ""
	p.mu.Unlock()
	if source != "" {
		p.synthetic(t, "<environment_context>\n  <cwd>"+p.dir+"</cwd>\n  <shell>bash</shell>\n</environment_context>")
		p.fire("SessionStart", "", p.payload("SessionStart", "").and("source", source))
	}
	p.hooksMu.Unlock()
	p.asked(t, text)
	y := &codexPlay{codex: p, turn: t}
	final, err := y.all(text)
	var failed *apiError
	switch {
	case errors.As(err, &failed):
		message, info := failed.codex()
		p.say("■ " + message)
		p.taskComplete(t, nil, obj("message", message, "codex_error_info", info))
	case err != nil:
		p.fire("Interrupt", "", p.payload("Interrupt", t.id))
		p.say("■ Conversation interrupted - tell the model what to do differently.")
		p.synthetic(t, "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may still be running in the background.\n</turn_aborted>")
		p.event(obj("type", "turn_aborted", "root_turn_id", t.id, "turn_id", t.id, "reason", "interrupted", "duration_ms", time.Since(t.begun).Milliseconds()))
	default:
		end := func() {
			if final != "" {
				y.say(final)
			}
		}
		stop := p.payload("Stop", t.id).and("stop_hook_active", false)
		if p.knobs.eventLag == 0 {
			end()
			stop = stop.and("last_assistant_message", final)
		}
		p.fire("Stop", "", stop)
		if p.knobs.eventLag > 0 {
			_ = sleep(context.Background(), p.knobs.eventLag)
			end()
		}
		p.taskComplete(t, final, nil)
	}
}

// asked tells of a prompt and writes it down.
func (p *codex) asked(t *codexTurn, text string) {
	p.fire("UserPromptSubmit", "", p.payload("UserPromptSubmit", t.id).and("prompt", text))
	p.say("› " + text)
	p.respond(t, obj("type", "message", "id", "msg_"+uuid7(), "role", "user", "content", []any{obj("type", "input_text", "text", text)}))
	p.completed(t, obj("type", "UserMessage", "id", uuid7(), "client_id", uuid4(), "content", []any{obj("type", "text", "text", text, "text_elements", []any{})}))
}

// codex is how this client says an error of the API.
func (e *apiError) codex() (message, info string) {
	switch e.code {
	case "400":
		return `{"error": {"message": "stub says 400", "type": "invalid_request_error"}}`, "other"
	case "429":
		return "You've hit your usage limit. Try again later.", "usage_limit_exceeded"
	case "413":
		return "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.", "context_window_exceeded"
	case "500":
		return "We're currently experiencing high demand, which may cause temporary errors.", "internal_server_error"
	}
	return "stream disconnected before completion: stub " + e.code, "other"
}

// codexPlay is the model's side of one turn.
type codexPlay struct {
	*codex
	turn *codexTurn
	tool string
	last string // the last folded prompt
}

func (y *codexPlay) say(text string) {
	id := "msg_" + hexID(8)
	y.codex.say("• " + text)
	y.completed(y.turn, obj("type", "AgentMessage", "id", id, "content", []any{obj("type", "Text", "text", text)}))
	y.respond(y.turn, obj("type", "message", "status", "completed", "id", id, "role", "assistant",
		"content", []any{obj("type", "output_text", "text", text, "annotations", []any{})}))
}

func (y *codexPlay) all(prompt string) (string, error) {
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
	steps := parseScript(prompt)
	said := ""
	for _, s := range steps {
		text, err := y.step(ctx, s)
		if err != nil {
			return "", err
		}
		if text != "" {
			said = text
		}
	}
	switch {
	case y.last != "":
		said = answer(y.last, nil, "")
	case said == "":
		said = answer(prompt, steps, y.tool)
	}
	return said, ctx.Err()
}

func (y *codexPlay) step(ctx context.Context, s step) (text string, err error) {
	switch s.verb {
	case "TOOL":
		return "", y.exec(ctx, s.arg, false)
	case "BG":
		return "", y.exec(ctx, s.arg, true)
	case "COMPACT":
		y.shorten(y.turn)
	case "POLL":
		return "", y.poll(ctx)
	case "PATCH":
		return "", y.patch(s.arg)
	case "BADTOOL":
		call := y.call("nosuch", "{}")
		y.output(call, "unsupported call: nosuch")
	case "THINK":
		id := "rs_" + hexID(8)
		y.completed(y.turn, obj("type", "Reasoning", "id", id, "summary_text", []any{s.arg}, "raw_content", []any{}))
		y.respond(y.turn, obj("type", "reasoning", "id", id, "summary", []any{obj("type", "summary_text", "text", s.arg)}, "content", nil))
	case "SAY":
		y.say(s.arg)
	case "SLOW":
		return "", sleep(ctx, duration(s.arg)) // text that streams is in no record before its end
	case "HANG":
		<-ctx.Done()
		return "", errHung
	case "ERR", "FAIL":
		code, after, _ := strings.Cut(s.arg, " ")
		if code == "" {
			code = "500"
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

// call writes a tool call and returns its id.
func (y *codexPlay) call(name, arguments string) string {
	id := y.nextCall()
	y.respond(y.turn, obj("type", "function_call", "status", "completed", "id", "fc_"+hexID(6), "name", name, "arguments", arguments, "call_id", id))
	return id
}

func (p *codex) nextCall() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	return fmt.Sprintf("call_%d_%s", p.calls, hexID(4))
}

func (y *codexPlay) output(call, text string) {
	y.respond(y.turn, obj("type", "function_call_output", "id", "fco_"+uuid7(), "call_id", call, "output", text))
	y.fold()
}

// fold takes in what was asked meanwhile: the model gets it with the tool's result.
func (y *codexPlay) fold() {
	y.mu.Lock()
	all := y.queue
	y.queue = nil
	y.mu.Unlock()
	for _, text := range all {
		y.asked(y.turn, text)
		y.last = text
	}
}

func (y *codexPlay) hook(event, tool, call string, input object) object {
	return y.payload(event, y.turn.id).and("tool_name", tool, "tool_input", input)
}

// exec runs a command, or leaves it in a background terminal.
func (y *codexPlay) exec(ctx context.Context, command string, background bool) error {
	wait := 10000
	if background {
		wait = 1000
	}
	call := y.call("exec_command", string(encode(obj("cmd", command, "yield_time_ms", wait))))
	input := obj("command", command)
	y.codex.say("• Ran " + command)
	y.fire("PreToolUse", "Bash", y.hook("PreToolUse", "Bash", call, input).and("tool_use_id", call))
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := y.terminal(call, command)
	if err != nil {
		return err
	}
	if background {
		y.mu.Lock()
		t.background = true
		y.mu.Unlock()
		_ = sleep(ctx, 50*time.Millisecond) // for its first words
		y.output(call, fmt.Sprintf("Chunk ID: %s\nWall time: 1.0102 seconds\nProcess running with session ID %s\nOriginal token count: 0\nOutput:\n%s", hexID(6), t.process, t.read()))
		return ctx.Err()
	}
	select {
	case <-t.over:
	case <-ctx.Done():
		t.stop()
		<-t.over
		return ctx.Err()
	}
	y.ran(t, call)
	return nil
}

// ran tells of a command that has ended.
func (y *codexPlay) ran(t *codexTask, call string) {
	y.tool = t.text
	y.fire("PostToolUse", "Bash", y.hook("PostToolUse", "Bash", t.call, obj("command", t.command)).and("tool_response", t.text, "tool_use_id", t.call))
	y.output(call, fmt.Sprintf("Chunk ID: %s\nWall time: %.4f seconds\nProcess exited with code %d\nOriginal token count: %d\nOutput:\n%s",
		hexID(6), time.Since(t.begun).Seconds(), t.code(), len(t.text)/4, t.text))
}

// poll waits for the last background terminal, whose end is told only so.
func (y *codexPlay) poll(ctx context.Context) error {
	y.mu.Lock()
	var t *codexTask
	if n := len(y.tasks); n > 0 {
		t = y.tasks[n-1]
	}
	y.mu.Unlock()
	if t == nil {
		y.output(y.call("write_stdin", `{"session_id":1,"chars":""}`), "write_stdin failed: Unknown process id 1")
		return nil
	}
	call := y.call("write_stdin", `{"session_id":`+t.process+`,"chars":""}`)
	select {
	case <-t.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	y.ran(t, call)
	return nil
}

// patch adds a file.
func (y *codexPlay) patch(name string) error {
	call := y.nextCall()
	text := "*** Begin Patch\n*** Add File: " + name + "\n+hello from patch\n*** End Patch\n"
	y.respond(y.turn, obj("type", "custom_tool_call", "id", "ctc_"+hexID(6), "status", "completed", "call_id", call, "name", "apply_patch", "input", text))
	input := obj("command", text)
	y.fire("PreToolUse", "apply_patch", y.hook("PreToolUse", "apply_patch", call, input).and("tool_use_id", call))
	path := filepath.Join(y.dir, name)
	if err := os.WriteFile(path, []byte("hello from patch\n"), 0o600); err != nil {
		return err
	}
	said := "Success. Updated the following files:\nA " + name + "\n"
	y.completed(y.turn, obj("type", "FileChange", "id", call, "changes", map[string]any{path: obj("type", "add", "content", "hello from patch\n")}, "status", "completed", "stdout", said))
	y.fire("PostToolUse", "apply_patch", y.hook("PostToolUse", "apply_patch", call, input).and("tool_response", said, "tool_use_id", call))
	y.respond(y.turn, obj("type", "custom_tool_call_output", "id", "ctco_"+uuid7(), "call_id", call, "output", "Exit code: 0\nWall time: 0 seconds\nOutput:\n"+said))
	y.tool = said
	y.fold()
	return nil
}

// terminal starts a command. Its end is written down whenever it comes.
func (p *codex) terminal(call, command string) (*codexTask, error) {
	p.mu.Lock()
	env := p.env.with("CODEX_THREAD_ID="+p.session, "CODEX_TOOL_CALL_ID="+call)
	turn := p.turn.id
	p.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	started, err := p.startTask(ctx, "", env, "/bin/bash", "-c", command)
	if err != nil {
		stop()
		return nil, err
	}
	t := &codexTask{
		task: started, call: call, process: strconv.Itoa(10000 + rand.IntN(90000)), command: command, turn: turn, begun: time.Now(), stop: stop, over: make(chan struct{}),
	}
	p.mu.Lock()
	p.tasks = append(p.tasks, t)
	p.mu.Unlock()
	p.changed()
	go func() { // ends with the command, which stopAll waits for
		defer close(t.over)
		defer stop()
		p.over(t)
	}()
	return t, nil
}

// over writes the end of a command down.
func (p *codex) over(t *codexTask) {
	text, code := t.wait()
	p.mu.Lock()
	p.tasks = slices.DeleteFunc(p.tasks, func(other *codexTask) bool { return other == t })
	if t.stopped {
		code = -1
	}
	p.mu.Unlock()
	t.text = text
	status := "completed"
	if code != 0 {
		status = "failed"
	}
	took := time.Since(t.begun)
	p.itemOf(t.turn, obj("type", "CommandExecution", "id", t.call, "process_id", t.process, "command", []any{"/bin/bash", "-lc", t.command}, "cwd", "file://"+p.dir,
		"source", "unified_exec_startup", "status", status, "aggregated_output", text, "exit_code", code,
		"duration", obj("secs", int(took.Seconds()), "nanos", took.Nanoseconds()%1e9)))
	p.changed()
}

// code is the exit status of a command that has ended.
func (t *codexTask) code() int { return t.cmd.ProcessState.ExitCode() }

// bang runs a shell command of the person's: no hook tells of it.
func (p *codex) bang(t *codexTurn, command string) {
	p.taskStarted(t, nil)
	started, err := p.startTask(t.ctx, "", p.env, "/bin/bash", "-c", command)
	if err != nil {
		p.say("■ " + err.Error())
		return
	}
	out, code := started.wait()
	p.say("• You ran " + command + "\n" + out)
	p.completed(t, obj("type", "CommandExecution", "id", uuid4(), "command", []any{"/bin/bash", "-lc", command}, "source", "user_shell",
		"status", "completed", "aggregated_output", out, "exit_code", code))
	p.synthetic(t, fmt.Sprintf("<user_shell_command>\n<command>\n%s\n</command>\n<result>\nExit code: %d\nDuration: 0.1 seconds\nOutput:\n%s\n</result>\n</user_shell_command>", command, code, out))
	p.taskComplete(t, nil, nil)
}

// compact replaces the conversation by a summary.
func (p *codex) compact(t *codexTurn, _ string) {
	p.event(obj("type", "task_started", "turn_id", t.id, "root_turn_id", t.id, "started_at", t.begun.Unix()))
	p.shorten(t)
	p.taskComplete(t, nil, nil)
}

func (p *codex) shorten(t *codexTurn) {
	p.fire("PreCompact", "", p.payload("PreCompact", t.id).and("trigger", "manual"))
	p.item("compacted", obj("message", "Another language model started to solve this problem and produced a summary of its thinking process."))
	p.completed(t, obj("type", "ContextCompaction", "id", uuid7()))
	p.fire("PostCompact", "", p.payload("PostCompact", t.id).and("trigger", "manual"))
	p.say("• Context compacted")
}
