package fakeharness

import (
	"errors"
	"os"
	"time"
)

// item adds a record to the rollout, which the first one makes.
func (p *codex) item(kind string, payload object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := os.Stat(p.path); errors.Is(err, os.ErrNotExist) {
		p.record("session_meta", obj("account_scoped", true, "session_id", p.session, "id", p.session, "timestamp", stamp(), "cwd", p.dir,
			"originator", "codex-tui", "cli_version", "0.171.0", "source", "cli", "thread_source", "user", "model_provider", "openai"))
	}
	p.record(kind, payload)
}

func (p *codex) record(kind string, payload object) {
	if err := appendLine(p.path, obj("timestamp", stamp(), "ordinal", p.ordinal, "type", kind, "payload", payload)); err != nil {
		p.logf("rollout: %v", err)
	}
	p.ordinal++
}

func (p *codex) event(payload object) { p.item("event_msg", payload) }

// completed is an item of a turn.
func (p *codex) completed(t *codexTurn, item object) { p.itemOf(t.id, item) }

func (p *codex) itemOf(turn string, item object) {
	p.mu.Lock()
	session := p.session
	p.mu.Unlock()
	now := time.Now().UnixMilli()
	p.event(obj("type", "item_completed", "thread_id", session, "turn_id", turn, "item", item, "started_at_ms", now, "completed_at_ms", now))
}

// respond is a message to or from the model in a turn.
func (p *codex) respond(t *codexTurn, payload object) {
	p.item("response_item", payload.and("internal_chat_message_metadata_passthrough", obj("turn_id", t.id)))
}

// synthetic is a message of the user's that no person wrote.
func (p *codex) synthetic(t *codexTurn, text string) {
	p.respond(t, obj("type", "message", "id", "msg_"+uuid7(), "role", "user", "content", []any{obj("type", "input_text", "text", text)}))
}

func (p *codex) taskStarted(t *codexTurn, trigger any) {
	p.event(obj("type", "task_started", "turn_attribution", obj("turn_id", t.id, "turn_trigger", trigger, "parent_turn_id", nil, "root_turn_id", t.id),
		"turn_id", t.id, "root_turn_id", t.id, "started_at", t.begun.Unix(), "model_context_window", 258400, "collaboration_mode_kind", "default"))
}

func (p *codex) taskComplete(t *codexTurn, last any, failure object) {
	o := obj("type", "task_complete", "root_turn_id", t.id, "turn_id", t.id, "last_agent_message", last)
	if failure != nil {
		o = o.and("error", failure)
	}
	p.event(o.and("started_at", t.begun.Unix(), "completed_at", time.Now().Unix(), "duration_ms", time.Since(t.begun).Milliseconds()))
}
