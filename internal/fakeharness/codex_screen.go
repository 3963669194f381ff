package fakeharness

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// view is the screen. The input box is painted before the first questions, and only the line under it says that the
// client takes prompts.
func (p *codex) view(width int) []string {
	lines := []string{
		"╭───────────────────────────────────────╮",
		"│ >_ OpenAI Codex (v0.171.0)            │",
		"│ permissions: YOLO mode                │",
		"╰───────────────────────────────────────╯", "",
	}
	lines = append(lines, p.said...)
	if p.menu != nil {
		return append(lines, p.menu.view()...)
	}
	if !p.started || p.leaving {
		return lines
	}
	if p.turn != nil {
		lines = append(lines, fmt.Sprintf("• Working (%ds • esc to interrupt)", int(time.Since(p.turn.begun).Seconds())), "")
	}
	if len(p.queue) > 0 {
		lines = append(lines, "• Queued follow-up inputs")
		for _, text := range p.queue {
			lines = append(lines, wrap("  ↳ "+text, "    ", width)...)
		}
		lines = append(lines, "")
	}
	n := 0
	for _, t := range p.tasks {
		if t.background {
			n++
		}
	}
	if n > 0 {
		lines = append(lines, fmt.Sprintf("  %d background terminals running · /ps to view · /stop to close", n), "")
	}
	text := p.box.shown()
	if text == "" {
		text = "Ask Codex to do anything"
	}
	lines = append(append(lines, wrap("› "+text, "  ", width)...), "")
	if !p.ready {
		return append(lines, "  ? for shortcuts")
	}
	return append(lines, "  "+strings.ToUpper(p.model)+" default · "+p.dir)
}

// key takes a key for the input box.
func (p *codex) key(k key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leaving {
		return
	}
	switch k.name {
	case "paste":
		if !p.lost() {
			p.paste(strings.ReplaceAll(strings.ReplaceAll(k.text, "\r\n", "\n"), "\r", "\n"))
		}
	case "Enter":
		p.enterKey()
	case "Escape":
		if p.turn != nil {
			p.turn.cancel()
		}
	case "C-c":
		switch {
		case !p.box.empty():
			p.box.clear()
		case p.turn != nil:
			p.turn.cancel()
		default:
			go p.quit() // ends the process
		}
	default:
		p.edit(k)
	}
}

// paste shows more than a thousand letters as a few words.
func (p *codex) paste(text string) {
	if n := len([]rune(text)); n > 1000 {
		p.box.insertBlock(text, fmt.Sprintf("[Pasted Content %d chars]", n))
		return
	}
	p.box.insert(text)
}

func (p *codex) enterKey() {
	if !p.ready || p.swallowed() {
		return
	}
	raw := p.box.value(func(text string) string { return text })
	text := strings.TrimSpace(raw)
	switch {
	case text == "":
		return
	case strings.HasPrefix(raw, "/"):
		p.command(text)
		return
	case strings.HasPrefix(raw, "!"):
		p.box.clear()
		if p.turn == nil {
			p.begins(strings.TrimSpace(text[1:]), p.bang)
		}
		return
	}
	p.box.clear()
	if p.turn != nil {
		p.queue = append(p.queue, text)
		return
	}
	p.begins(text, p.prompt)
}

// command runs what begins with a slash. What is unknown stays in the box. p.mu is held.
func (p *codex) command(text string) {
	known := true
	switch strings.Fields(text)[0] {
	case "/quit", "/exit":
		if p.knobs.noExit == "" {
			go p.quit() // ends the process
		}
	case "/new":
		go p.fresh("startup") // returns at once
	case "/clear":
		p.said = nil
		go p.fresh("clear") // returns at once
	case "/stop":
		go p.stopAll() // returns when they have ended
	case "/compact":
		if p.turn == nil {
			p.begins("", p.compact)
		}
	default:
		known = false
		p.said = append(p.said, "• Unrecognized command '"+strings.Fields(text)[0]+"'. Type \"/\" for a list of supported commands.", "")
	}
	if known {
		p.box.clear()
	}
}

// stopAll ends every background terminal.
func (p *codex) stopAll() {
	p.mu.Lock()
	all := slices.Clone(p.tasks)
	for _, t := range all {
		t.stopped = true
		t.stop()
	}
	p.mu.Unlock()
	if len(all) > 0 {
		p.say("• Stopping all background terminals.")
	}
	for _, t := range all {
		<-t.over
	}
}

// quit ends the client in order.
func (p *codex) quit() {
	if !p.startLeaving() {
		return
	}
	p.mu.Lock()
	turn, told := p.turn, p.source == ""
	if turn != nil {
		turn.cancel()
	}
	p.mu.Unlock()
	if turn != nil {
		<-turn.done
	}
	p.stopAll()
	if told {
		p.fire("SessionEnd", "", p.payload("SessionEnd", "").and("reason", "other"))
	}
	if err := os.Remove(p.lockFile()); err != nil {
		p.logf("lock: %v", err)
	}
	p.leave(0)
}

// hangup and terminate leave no time for hooks. The commands in the background end, and nothing says so.
func (p *codex) hangup()    { p.drop(129) }
func (p *codex) terminate() { p.drop(143) }

func (p *codex) drop(status int) {
	p.mu.Lock()
	p.leaving = true
	for _, t := range p.tasks {
		t.stop()
	}
	if p.turn != nil {
		p.turn.cancel()
	}
	p.mu.Unlock()
	p.leave(status)
}

// begins starts a turn with a text; play is its kind. p.mu is held, and no turn runs.
func (p *codex) begins(text string, play func(t *codexTurn, text string)) {
	t := &codexTurn{id: uuid7(), done: make(chan struct{}), begun: time.Now()}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	p.turn = t
	go func() { // ends with the turn, which quit waits for
		play(t, text)
		t.cancel()
		p.mu.Lock()
		p.turn = nil
		if len(p.queue) > 0 && !p.leaving {
			next := p.queue[0]
			p.queue = p.queue[1:]
			p.begins(next, p.prompt)
		}
		p.mu.Unlock()
		close(t.done)
		p.changed()
	}()
}
