package fakeharness

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// piExtension does what csd's extension for Pi does, word for word: this client cannot run the real one. A nil one does
// nothing.
type piExtension struct {
	p               *pi
	exe, root, name string

	tellMu sync.Mutex // one hook at a time

	mu      sync.Mutex
	turn    string
	held    object // a stop that is none if the client tries again
	timer   *time.Timer
	attempt int
	ended   bool
}

const (
	piHook  = 5 * time.Second
	piGrace = 3 * time.Second
	piError = 700 * time.Millisecond
)

// newPiExtension is nil where the environment is not that of a worker.
func newPiExtension(p *pi) *piExtension {
	x := &piExtension{p: p, exe: p.env.get("CSD_EXE"), root: p.env.get("CSD_WORKER_DIR"), name: p.env.get("CSD_TMUX_NAME")}
	if x.exe == "" || x.root == "" || x.name == "" {
		return nil
	}
	return x
}

func (x *piExtension) tell(event string, more ...any) {
	x.p.mu.Lock()
	said := obj("hook_event_name", event, "session_id", x.p.session, "transcript_path", x.p.path, "cwd", x.p.dir, "pid", os.Getpid())
	x.p.mu.Unlock()
	x.mu.Lock()
	if x.turn != "" {
		said = said.and("turn_id", x.turn)
	}
	x.mu.Unlock()
	x.tellMu.Lock()
	defer x.tellMu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), piHook)
	defer cancel()
	cmd := exec.CommandContext(ctx, x.exe, "hook", "pi", x.root, x.name)
	cmd.Dir, cmd.Env, cmd.Stdin = x.p.dir, x.p.env.with("PI_CODING_AGENT=true"), bytes.NewReader(encode(said.and(more...)))
	err := cmd.Run()
	x.p.logf("hook %s %v", event, err)
}

// state is what csd reads beside the events.
func (x *piExtension) state(word string) {
	path := filepath.Join(x.p.home, "csd-state.json")
	var err error
	if word == "" {
		err = os.Remove(path)
	} else {
		x.p.mu.Lock()
		session := x.p.session
		x.p.mu.Unlock()
		err = writeWhole(path, encode(obj("state", word, "pid", os.Getpid(), "session_id", session, "since", time.Now().UnixMilli())))
	}
	if err != nil {
		x.p.logf("state: %v", err)
	}
}

func (x *piExtension) drop() (was object) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timer != nil {
		x.timer.Stop()
	}
	was, x.held = x.held, nil
	return was
}

func (x *piExtension) flush() {
	if was := x.drop(); was != nil {
		x.stop(was)
	}
}

func (x *piExtension) hold(d time.Duration, more object) {
	x.drop()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held = more
	x.timer = time.AfterFunc(d, x.flush)
}

func (x *piExtension) stop(more object) {
	x.mu.Lock()
	x.attempt = 0
	x.mu.Unlock()
	x.state("idle")
	x.tell("stop", pairs(more)...)
}

func (x *piExtension) end(reason string) {
	x.mu.Lock()
	was := x.ended
	x.ended = true
	x.mu.Unlock()
	if was {
		return
	}
	x.flush()
	x.tell("session_end", "reason", reason)
	x.state("")
}

func (x *piExtension) sessionStart(reason string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	x.ended, x.turn = false, ""
	x.mu.Unlock()
	x.state("idle")
	x.tell("session_start", "source", reason)
}

func (x *piExtension) steered(text string) {
	if x != nil {
		x.tell("user_prompt_submit", "prompt", text, "queued", true)
	}
}

func (x *piExtension) beforeAgentStart() {
	if x != nil {
		x.flush()
		x.state("working")
	}
}

// entered says that a prompt is in the session, where its id is that of the turn.
func (x *piExtension) entered(id, prompt string) {
	if x == nil {
		return
	}
	x.mu.Lock()
	x.turn = id
	x.mu.Unlock()
	x.tell("user_prompt_submit", "prompt", prompt)
}

func (x *piExtension) agentStart() {
	if x != nil {
		x.drop()
		x.state("working")
	}
}

func (x *piExtension) toolStart(tool, id string, args object) {
	if x != nil {
		x.tell("pre_tool_use", "tool_name", tool, "tool_use_id", id, "tool_input", args)
	}
}

func (x *piExtension) toolEnd(tool, id string, failed bool) {
	if x != nil {
		x.tell("post_tool_use", "tool_name", tool, "tool_use_id", id, "is_error", failed)
	}
}

func (x *piExtension) agentEnd(end piEnd) {
	if x == nil {
		return
	}
	more := obj("last_assistant_message", end.text, "stop_reason", end.reason)
	if end.failure != "" {
		more = more.and("error", end.failure)
	}
	if end.reason != "error" {
		x.stop(more)
		return
	}
	x.mu.Lock()
	again := x.p.retry.Enabled && x.attempt < x.p.retry.MaxRetries && retryable.MatchString(end.failure)
	if again {
		x.attempt++
	}
	attempt := x.attempt
	x.mu.Unlock()
	if !again {
		x.hold(piError, more)
		return
	}
	x.state("retrying")
	x.hold(time.Duration(x.p.retry.BaseDelay)*time.Millisecond<<(attempt-1)+piGrace, more)
}

func (x *piExtension) shutdown(reason string) {
	switch {
	case x == nil:
	case reason == "quit":
		x.end("quit")
	default:
		x.flush() // another session begins
	}
}

func (x *piExtension) exit() {
	if x != nil {
		x.end("exit")
	}
}
