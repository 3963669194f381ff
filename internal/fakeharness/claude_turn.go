package fakeharness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sessevents/sessevents/internal/shellwords"
)

// claudeTurn is a turn that runs, or several that follow each other out of the queue.
type claudeTurn struct {
	id     string // of the prompt
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	begun  time.Time
}

// begins starts a turn. p.mu is held, and no turn runs. bang says that the text is a shell command of the person's.
func (p *claude) begins(q queued, bang bool) {
	t := &claudeTurn{id: uuid4(), done: make(chan struct{}), begun: time.Now()}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	p.turn = t
	p.state = "busy"
	go func() { // ends with the turn, which end waits for
		defer close(t.done)
		defer t.cancel()
		if bang {
			p.bang(t, q.text)
		} else {
			p.setState("busy", "")
			p.hooksMu.Lock()
			_ = sleep(context.Background(), p.knobs.submitLag)
			p.fire("UserPromptSubmit", p.payload("UserPromptSubmit", t.id).and("prompt", q.text))
			p.hooksMu.Unlock()
			if q.notification {
				p.operation("enqueue", q.text)
				p.operation("dequeue", "")
			}
			p.run(t, q, "typed")
		}
		for {
			next, ok := p.next(t)
			if !ok {
				return
			}
			p.operation("dequeue", "")
			p.run(t, next, "queued")
		}
	}()
}

// next takes the next prompt out of the queue, as a turn of its own; without one no turn runs any more. p.hooksMu is
// held since the end of the turn before, so that no prompt falls between.
func (p *claude) next(t *claudeTurn) (queued, bool) {
	defer p.hooksMu.Unlock()
	p.mu.Lock()
	if len(p.queue) == 0 || p.leaving {
		p.turn = nil
		p.mu.Unlock()
		p.setState("idle", "")
		return queued{}, false
	}
	q := p.queue[0]
	p.queue = p.queue[1:]
	t.id, t.begun = uuid4(), time.Now()
	t.ctx, t.cancel = context.WithCancel(context.Background())
	p.mu.Unlock()
	return q, true
}

// enqueue keeps a prompt that came while a turn runs. The hook tells of it at once, with the id of that turn.
func (p *claude) enqueue(q queued) {
	p.hooksMu.Lock()
	defer p.hooksMu.Unlock()
	p.mu.Lock()
	if p.turn == nil { // it has ended since
		p.begins(q, false)
		p.mu.Unlock()
		return
	}
	id := p.turn.id
	p.queue = append(p.queue, q)
	p.mu.Unlock()
	p.changed()
	p.operation("enqueue", q.text)
	p.fire("UserPromptSubmit", p.payload("UserPromptSubmit", id).and("prompt", q.text))
}

// fold puts what is queued into the turn that runs, which has a tool's result to send still.
func (p *claude) fold() (texts []string) {
	p.hooksMu.Lock()
	defer p.hooksMu.Unlock()
	p.mu.Lock()
	all := p.queue
	p.queue = nil
	p.mu.Unlock()
	for _, q := range all {
		p.operation("remove", q.text)
		kind, mode := "human", "prompt"
		if q.notification {
			kind, mode = "task-notification", "task-notification"
		} else {
			texts = append(texts, unwrapPasted(q.text))
		}
		p.write(obj("attachment", obj("type", "queued_command", "prompt", q.text, "source_uuid", uuid4(), "commandMode", mode,
			"origin", obj("kind", kind), "timestamp", stamp()), "type", "attachment"))
	}
	return texts
}

// run is one turn, from the prompt's record to its end. It returns with p.hooksMu held.
func (p *claude) run(t *claudeTurn, q queued, source string) {
	p.mu.Lock()
	p.lastPrompt = t.id
	p.count++
	p.mu.Unlock()
	p.setState("busy", "")
	p.prompt(t, q, source)
	prompt := unwrapPasted(q.text)
	play := claudePlay{claude: p, turn: t, prompt: prompt, steps: parseScript(prompt), message: "msg_" + hexID(12)}
	if q.notification {
		play.steps = []step{{"ANSWER", "Noted."}}
	}
	final, err := play.all()
	var failed *apiError
	switch {
	case errors.As(err, &failed):
		p.fails(t, failed)
	case err != nil:
		play.interrupted(final)
		p.hooksMu.Lock()
	default:
		p.succeeds(&play, final)
	}
}

func (p *claude) succeeds(play *claudePlay, final string) {
	t := play.turn
	stop := p.payload("Stop", t.id).and("stop_hook_active", false)
	close := func() {
		if final != "" {
			play.say("text", final)
			p.say("● " + final)
		}
		play.emit("end_turn")
	}
	if p.knobs.eventLag == 0 {
		close()
		stop = stop.and("last_assistant_message", final)
	}
	p.hooksMu.Lock()
	p.fire("Stop", stop.and("background_tasks", p.running(), "session_crons", []any{}))
	if p.knobs.eventLag > 0 {
		_ = sleep(context.Background(), p.knobs.eventLag)
		close()
	}
	p.write(obj("type", "system", "subtype", "stop_hook_summary", "hookCount", len(p.hooks["Stop"]), "hookInfos", []any{}, "hookErrors", []any{},
		"preventedContinuation", false, "stopReason", "", "hasOutput", false, "level", "suggestion"))
	p.write(obj("type", "system", "subtype", "turn_duration", "durationMs", time.Since(t.begun).Milliseconds(), "messageCount", 2, "isMeta", false))
}

// apiError is an answer of the API that ends a turn.
type apiError struct{ code string }

func (e *apiError) Error() string { return "api error " + e.code }

// words are how the client says it, and what it calls it.
func (e *apiError) words() (text, kind string) {
	switch e.code {
	case "429":
		return "API Error: Request rejected (429) · Usage limit reached", "rate_limit"
	case "400":
		return "API Error: 400 stub says 400", "unknown"
	case "401":
		return "Please run /login · API Error: 401 invalid x-api-key", "authentication_failed"
	case "402":
		return "Credit balance is too low", "billing_error"
	case "404":
		return "There's an issue with the selected model (claude-opus-5-5). It may not exist or you may not have access to it.", "model_not_found"
	}
	return "API Error: " + e.code + " stub overloaded_error. This is a server-side issue, usually temporary — try again in a moment.", "server_error"
}

func (p *claude) fails(t *claudeTurn, failed *apiError) {
	text, kind := failed.words()
	p.say("● " + text)
	p.assistant(obj("id", uuid4(), "model", "<synthetic>", "role", "assistant", "stop_reason", "stop_sequence", "stop_sequence", "", "type", "message",
		"content", []any{obj("type", "text", "text", text)}),
		"error", kind, "isApiErrorMessage", true, "apiErrorStatus", atoi(failed.code))
	p.hooksMu.Lock()
	p.fire("StopFailure", p.payload("StopFailure", t.id).and("error", kind, "last_assistant_message", text))
}

// bang runs a shell command of the person's: no hook tells of the prompt, and one does of the end. It returns with
// p.hooksMu held.
func (p *claude) bang(t *claudeTurn, command string) {
	p.setState("busy", "")
	p.say("! " + command)
	out, _ := p.shell(t.ctx, command)
	p.say("  ⎿  " + out)
	p.user(t, "<bash-input>"+command+"</bash-input>")
	p.user(t, "<bash-stdout>"+out+"</bash-stdout><bash-stderr></bash-stderr>")
	p.hooksMu.Lock()
	p.fire("Stop", p.payload("Stop", t.id).and("stop_hook_active", false, "last_assistant_message", "", "background_tasks", p.running(), "session_crons", []any{}))
}

// shell runs a command as the tool does.
func (p *claude) shell(ctx context.Context, command string) (output string, code int) {
	t, err := p.startTask(ctx, "", p.toolEnv(), "/bin/bash", "-c", "eval "+shellwords.Quote(command))
	if err != nil {
		return err.Error(), -1
	}
	return t.wait()
}

func (p *claude) toolEnv() environment {
	return p.env.with("CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli")
}

// running is what the end of a turn says of the background.
func (p *claude) running() []any {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []any{}
	for _, t := range p.tasks {
		list = append(list, obj("id", t.id, "type", t.tool, "status", "running", "description", t.description, "command", t.command))
	}
	return list
}

// background starts a command that outlives its turn, and whose end begins one of its own.
func (p *claude) background(toolUse, command string) (id, output string, err error) {
	id = "b" + hexID(8)
	dir := filepath.Join(p.config, "fake-tmp", claudeProject(p.dir), p.sessionNow(), "tasks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	output = filepath.Join(dir, id+".output")
	ctx, stop := context.WithCancel(context.Background())
	started, err := p.startTask(ctx, output, p.toolEnv(), "/bin/bash", "-c", "eval "+shellwords.Quote(command))
	if err != nil {
		stop()
		return "", "", err
	}
	t := &claudeTask{task: started, id: id, tool: "shell", description: "bg " + command, command: command, stop: stop, over: make(chan struct{})}
	p.mu.Lock()
	p.tasks = append(p.tasks, t)
	p.mu.Unlock()
	p.away.Go(func() {
		defer close(t.over)
		_, code := t.wait()
		stop()
		p.taskEnded(t, toolUse, code)
	})
	return id, output, nil
}

func (p *claude) taskEnded(t *claudeTask, toolUse string, code int) {
	status, summary := "completed", fmt.Sprintf("Background command %q completed (exit code 0)", t.description)
	switch code { // what the client makes of a signal
	case 128 + 15:
		code = 144
	case 128 + 9:
		code = 1
	}
	if code != 0 {
		status, summary = "failed", fmt.Sprintf("Background command %q failed with exit code %d", t.description, code)
	}
	p.mu.Lock()
	p.tasks = slices.DeleteFunc(p.tasks, func(other *claudeTask) bool { return other == t })
	silent := p.leaving || t.quiet
	p.mu.Unlock()
	if silent {
		return
	}
	text := "<task-notification>\n<task-id>" + t.id + "</task-id>\n<tool-use-id>" + toolUse + "</tool-use-id>\n<output-file>" + t.output +
		"</output-file>\n<status>" + status + "</status>\n<summary>" + summary + "</summary>\n</task-notification>"
	p.mu.Lock()
	idle := p.turn == nil
	if idle {
		p.begins(queued{text: text, notification: true}, false)
	}
	p.mu.Unlock()
	if !idle {
		p.enqueue(queued{text: text, notification: true})
	}
}

func (p *claude) sessionNow() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}
