package fakeharness

import (
	"context"
	"errors"
	"os"
	"strconv"
)

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// write adds a record, chained to the one before.
func (p *claude) write(record object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parent any
	if p.parent != "" {
		parent = p.parent
	}
	id := uuid4()
	p.parent = id
	o := obj("parentUuid", parent, "isSidechain", false)
	if subtype := record[min(1, len(record)-1)].value; subtype == "compact_boundary" {
		o = obj("parentUuid", nil, "logicalParentUuid", parent, "isSidechain", false)
	}
	p.append(o.and(pairs(record)...).and("uuid", id, "timestamp", stamp(), "userType", "external", "entrypoint", "cli", "cwd", p.dir, "sessionId", p.session, "version", claudeVersion, "gitBranch", "HEAD"))
}

// append writes a line, at once or as late as it was asked to, always in order. p.mu is held.
func (p *claude) append(record object) {
	if p.mute {
		return
	}
	path, session := p.transcript, p.session
	if p.knobs.recordLag == 0 {
		p.appendTo(path, session, record)
		return
	}
	before, done := p.written, make(chan struct{})
	p.written = done
	go func() { // ends behind the records before it, which end waits for
		defer close(done)
		_ = sleep(context.Background(), p.knobs.recordLag)
		if before != nil {
			<-before
		}
		p.appendTo(path, session, record)
	}()
}

// appendTo writes a line; the first ones of a file say what mode it is in.
func (p *claude) appendTo(path, session string, record object) {
	lines := []object{record}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		lines = []object{
			obj("type", "mode", "mode", "normal", "sessionId", session),
			obj("type", "permission-mode", "permissionMode", p.mode(), "sessionId", session),
			record,
		}
	}
	for _, line := range lines {
		if err := appendLine(path, line); err != nil {
			p.logf("transcript: %v", err)
		}
	}
}

func pairs(o object) []any {
	var all []any
	for _, m := range o {
		all = append(all, m.name, m.value)
	}
	return all
}

// prompt is the record of what begins a turn.
func (p *claude) prompt(t *claudeTurn, q queued, source string) {
	origin, by := obj("kind", "human"), "human"
	if q.notification {
		origin, by, source = obj("kind", "task-notification", "producer", "session-task"), "task_notification", "system"
	}
	p.mu.Lock()
	count := p.count
	p.mu.Unlock()
	p.say("❯ " + unwrapPasted(q.text))
	p.write(obj("promptId", t.id, "type", "user", "message", obj("role", "user", "content", q.text), "permissionMode", p.mode(), "origin", origin,
		"promptSource", source, "turnOrigin", by, "turnPosition", obj("promptIndex", count, "turnIndex", count)))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.append(obj("type", "last-prompt", "lastPrompt", q.text, "leafUuid", p.parent, "sessionId", p.session))
}

// user is a record of the user's that is no prompt.
func (p *claude) user(t *claudeTurn, text string) {
	p.write(obj("promptId", t.id, "type", "user", "message", obj("role", "user", "content", text)))
}

// assistant is a record of the model's.
func (p *claude) assistant(message object, more ...any) {
	p.write(obj("message", message, "requestedModel", "claude-opus-5-5", "type", "assistant").and(more...).and("effort", "medium", "madeBy", "model"))
}

// result is what a tool gave.
func (p *claude) result(t *claudeTurn, call object, text string, failed bool, response object) {
	id := call[1].value
	record := obj("promptId", t.id, "type", "user", "message", obj("role", "user", "content", []any{
		obj("tool_use_id", id, "type", "tool_result", "content", text, "is_error", failed),
	}))
	switch {
	case failed:
		record = record.and("toolUseResult", "Error: "+text)
	case response != nil:
		record = record.and("toolUseResult", response)
	}
	p.write(record)
}

// operation is a record of the queue.
func (p *claude) operation(what, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := obj("type", "queue-operation", "operation", what, "timestamp", stamp(), "sessionId", p.session)
	switch what {
	case "enqueue":
		o = o.and("content", text)
	case "remove":
		o = o.and("content", text, "reason", "absorbed_mid_turn", "commandUuid", uuid4(), "deliveryId", uuid4())
	}
	p.append(o)
}

// compact replaces the conversation by a summary: neither a prompt nor the end of a turn is told.
func (p *claude) compact() {
	id := uuid4()
	p.fire("PreCompact", p.payload("PreCompact", id).and("trigger", "manual", "custom_instructions", nil))
	p.fire("SubagentStop", p.payload("SubagentStop", id).and("agent_id", "a"+hexID(16), "agent_type", "", "stop_hook_active", false))
	p.write(obj("type", "system", "subtype", "compact_boundary", "content", "Conversation compacted", "level", "info",
		"compactMetadata", obj("trigger", "manual", "preTokens", 120, "postTokens", 2950)))
	p.write(obj("promptId", id, "type", "user", "message", obj("role", "user", "content",
		"This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation."),
		"isVisibleInTranscriptOnly", true, "isCompactSummary", true))
	p.write(obj("promptId", id, "type", "user", "isMeta", true, "message", obj("role", "user", "content",
		"<local-command-caveat>Caveat: The messages below were generated by the user while running local commands.</local-command-caveat>")))
	p.write(obj("promptId", id, "type", "user", "message", obj("role", "user", "content", "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>")))
	p.write(obj("promptId", id, "type", "user", "message", obj("role", "user", "content", "<local-command-stdout>Compacted</local-command-stdout>")))
	p.fire("SessionStart", p.payload("SessionStart", "").and("source", "compact", "model", "claude-opus-5-5"))
	p.fire("PostCompact", p.payload("PostCompact", id).and("trigger", "manual"))
	p.say("  ⎿  Compacted")
}

// forget removes the client's own file about itself.
func (p *claude) forget() {
	if err := os.Remove(p.registry()); err != nil {
		p.logf("remove: %v", err)
	}
}
