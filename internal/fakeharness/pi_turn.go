package fakeharness

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// piText is what csd puts before a prompt that the client would take for a command. Its extension takes it off.
const piText = "csd:text:"

// submit takes a prompt as the client does: it begins a turn, steers the one that runs, or is lost. p.mu is held.
func (p *pi) submit(text string) {
	if p.ext != nil {
		text = strings.TrimPrefix(text, piText)
	}
	switch {
	case p.retrying != "": // the client's own fault: nothing is queued, and nothing said
	case p.knobs.noModel:
		p.said = append(p.said, "Error: No API key found for the selected model.", "")
	case p.turn != nil:
		p.steered = append(p.steered, text)
		go p.ext.steered(text) // returns when the hook has run
	default:
		t := &piTurn{flaky: -1}
		t.ctx, t.cancel = context.WithCancel(context.Background())
		p.turn = t
		go p.run(t, text) // ends with the turn; a client that quits does not wait for it
	}
}

// run is a prompt, with all attempts at it and all that is steered into it.
func (p *pi) run(t *piTurn, text string) {
	defer t.cancel()
	p.hooksMu.Lock()
	_ = sleep(context.Background(), p.knobs.submitLag)
	p.ext.beforeAgentStart()
	p.ext.entered(p.user(text), text)
	p.hooksMu.Unlock()
	for attempt := 1; ; attempt++ {
		p.ext.agentStart()
		end := p.agent(t, text)
		again := end.reason == "error" && p.retry.Enabled && attempt <= p.retry.MaxRetries && retryable.MatchString(end.failure)
		p.hooksMu.Lock()
		p.mu.Lock()
		if !again {
			p.turn = nil
			if end.reason == "aborted" { // what was queued comes back into the input box
				p.box.insert(strings.Join(p.steered, "\n"))
			}
			p.steered = nil
		} else {
			delay := time.Duration(p.retry.BaseDelay) * time.Millisecond << (attempt - 1)
			p.retrying = fmt.Sprintf("Retrying (%d/%d) in %ds... (escape to cancel)", attempt, p.retry.MaxRetries, int(delay.Seconds()))
		}
		p.mu.Unlock()
		p.ext.agentEnd(end)
		p.hooksMu.Unlock()
		p.changed()
		if !again {
			return
		}
		err := sleep(t.ctx, time.Duration(p.retry.BaseDelay)*time.Millisecond<<(attempt-1))
		p.mu.Lock()
		p.retrying = ""
		if err != nil { // no event tells of it
			p.turn = nil
			p.mu.Unlock()
			p.changed()
			return
		}
		p.mu.Unlock()
	}
}

// retryable are the errors after which the client asks again.
var retryable = regexp.MustCompile(`(?i)overloaded|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|terminated|timeout`)

// piEnd is how a run of the agent ended.
type piEnd struct{ reason, failure, text string }

// agent runs a prompt, and then what was steered meanwhile.
func (p *pi) agent(t *piTurn, text string) piEnd {
	end := p.play(t, text)
	for end.reason == "stop" {
		p.mu.Lock()
		if len(p.steered) == 0 {
			p.mu.Unlock()
			break
		}
		next := p.steered[0]
		p.steered = p.steered[1:]
		p.mu.Unlock()
		p.user(next)
		end = p.play(t, next)
	}
	return end
}

// piPlay is the model's side of a prompt.
type piPlay struct {
	*pi
	turn   *piTurn
	blocks []any
	text   string // the last text
	tool   string
}

func (p *pi) play(t *piTurn, prompt string) piEnd {
	y := &piPlay{pi: p, turn: t}
	steps := parseScript(prompt)
	said, err := y.all(prompt, steps)
	var failed *apiError
	switch {
	case errors.As(err, &failed):
		message := failed.code + " stub says " + failed.code
		y.assistant("error", message, y.blocks...)
		y.pi.say("Error: " + message)
		return piEnd{"error", message, y.text}
	case err != nil:
		y.assistant("aborted", "Operation aborted", y.blocks...)
		y.pi.say("Operation aborted")
		return piEnd{"aborted", "Operation aborted", y.text}
	}
	if said != "" {
		y.say(said)
	}
	y.assistant("stop", "", y.blocks...)
	return piEnd{"stop", "", y.text}
}

func (y *piPlay) say(text string) {
	y.blocks = append(y.blocks, obj("type", "text", "text", text))
	y.text = text
	y.pi.say(text)
}

func (y *piPlay) all(prompt string, steps []step) (string, error) {
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
	for _, s := range steps {
		text, err := y.step(ctx, s)
		if err != nil {
			return "", err
		}
		if text != "" {
			said = text
		}
	}
	if said == "" {
		said = answer(prompt, steps, y.tool)
	}
	return said, ctx.Err()
}

func (y *piPlay) step(ctx context.Context, s step) (text string, err error) {
	switch s.verb {
	case "TOOL":
		return "", y.call(ctx, "bash", s.arg)
	case "BG":
		return "", y.call(ctx, "bash", "("+s.arg+") >/dev/null 2>&1 &")
	case "COMPACT":
		y.mu.Lock()
		y.entry("compaction", "summary", "A summary.", "firstKeptEntryId", y.leaf, "tokensBefore", 120, "fromHook", false)
		y.mu.Unlock()
	case "BADTOOL":
		return "", y.call(ctx, "no_such_tool", "")
	case "THINK":
		y.blocks = append(y.blocks, obj("type", "thinking", "thinking", s.arg, "thinkingSignature", "reasoning_content"))
	case "SAY":
		y.say(s.arg)
	case "SLOW":
		return "", y.stream(ctx, duration(s.arg))
	case "HANG":
		<-ctx.Done()
		return "", errHung
	case "FLAKY":
		if y.turn.flaky < 0 {
			y.turn.flaky = atoi(s.arg)
		}
		if y.turn.flaky > 0 {
			y.turn.flaky--
			return "", &apiError{"500"}
		}
		return "Recovered.", nil
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

// call runs a tool.
func (y *piPlay) call(ctx context.Context, tool, command string) error {
	id := "call_" + hexID(8) + "_0"
	args := obj("command", command)
	y.assistant("toolUse", "", append(y.blocks, obj("type", "toolCall", "id", id, "name", tool, "arguments", args))...)
	y.blocks = nil
	y.pi.say("$ " + command)
	y.ext.toolStart(tool, id, args)
	text, failed := "Tool "+tool+" not found", true
	if tool == "bash" {
		t, err := y.startTask(ctx, "", y.env.with("PI_CODING_AGENT=true"), "/bin/bash", "-c", command)
		if err != nil {
			return err
		}
		out, code := t.wait()
		text, failed, y.tool = out, code != 0, out
		if failed {
			text = fmt.Sprintf("%s\n\nCommand exited with code %d", out, code)
		}
		if ctx.Err() != nil {
			text = "Command aborted"
		}
	}
	y.message(obj("role", "toolResult", "toolCallId", id, "toolName", tool, "content", []any{obj("type", "text", "text", text)},
		"isError", failed, "timestamp", time.Now().UnixMilli()))
	y.ext.toolEnd(tool, id, failed)
	return ctx.Err()
}

func (y *piPlay) stream(ctx context.Context, d time.Duration) error {
	const tick = 100 * time.Millisecond
	text := ""
	defer func() {
		if text != "" {
			y.say(text)
		}
	}()
	for i := 0; d > 0; i++ {
		text += fmt.Sprintf("tick %d\n", i)
		if err := sleep(ctx, min(d, tick)); err != nil {
			return err
		}
		d -= tick
	}
	return nil
}

// bang runs a shell command of the person's, of which no event tells.
func (p *pi) bang(command string) {
	t, err := p.startTask(context.Background(), "", p.env, "/bin/bash", "-c", command)
	if err != nil {
		p.say(err.Error())
		return
	}
	out, code := t.wait()
	p.say("$ " + command + "\n" + out)
	p.message(obj("role", "bashExecution", "command", command, "output", out, "exitCode", code, "cancelled", false, "truncated", false,
		"excludeFromContext", false, "timestamp", time.Now().UnixMilli()))
}

// another begins another session in the same process.
func (p *pi) another() {
	p.hooksMu.Lock()
	defer p.hooksMu.Unlock()
	p.ext.shutdown("new")
	p.fresh()
	p.ext.sessionStart("new")
}

// quit ends the client in order. A turn that runs is left as it is, and so is its command.
func (p *pi) quit() {
	if p.startLeaving() {
		p.ext.shutdown("quit")
		p.leave(0)
	}
}

// terminate is a clean end only where an extension listens to the signal too.
func (p *pi) terminate() {
	if p.ext == nil {
		p.leave(143)
		return
	}
	p.interrupt()
	go p.quit() // ends the process
}

func (p *pi) hangup() {
	p.interrupt()
	go func() { // ends the process
		if p.startLeaving() {
			p.ext.exit()
			p.leave(129)
		}
	}()
}

func (p *pi) interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn != nil {
		p.turn.cancel()
	}
}
