package fakeharness

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
)

// view is what the client shows: what was said, and the input box, or the question that is open.
func (p *claude) view(width int) []string {
	lines := []string{
		" ▐▛███▛█   Claude Code v" + claudeVersion,
		"▝▜██████▀  Opus 5.5 · API Usage Billing",
		" ▝▝   ▝▝   " + p.dir, "",
	}
	if p.warning != "" {
		lines = append(lines, p.warning, "")
	}
	lines = append(lines, p.said...)
	if p.menu != nil {
		return append(lines, p.menu.view()...)
	}
	if !p.ready || p.leaving {
		return lines
	}
	if p.state == "busy" {
		lines = append(lines, "✻ Thinking… (esc to interrupt)", "")
	}
	for _, q := range p.queue {
		if !q.notification {
			lines = append(lines, wrap("❯ "+unwrapPasted(q.text), "  ", width)...)
			lines = append(lines, "  ⎿  Queued · ctrl+x ctrl+s to send now")
		}
	}
	line := strings.Repeat("─", width)
	lines = append(lines, line)
	lines = append(lines, wrap("❯ "+p.box.shown(), "  ", width)...)
	footer := "  ⏵⏵ bypass permissions on (shift+tab to cycle)"
	if !p.skip {
		footer = "  ⏵⏵ auto mode on (shift+tab to cycle)"
	}
	if p.state == "busy" {
		footer += " · esc to interrupt"
	}
	if n := len(p.tasks); n > 0 {
		footer += fmt.Sprintf(" · %d shells · ↓ to manage", n)
	}
	return append(lines, line, footer)
}

// key takes a key for the input box.
func (p *claude) key(k key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leaving {
		return
	}
	switch k.name {
	case "paste":
		if p.lost() {
			return
		}
		p.paste(strings.ReplaceAll(clean(k.text), "\x00", ""))
	case "Enter":
		p.enterKey()
	case "Escape":
		if p.turn != nil {
			p.turn.cancel()
		}
	case "C-c":
		p.interruptKey()
	default:
		p.edit(k)
	}
}

// paste shows a long text as a few words: four lines and more, or more than some 800 letters.
func (p *claude) paste(text string) {
	lines := strings.Count(text, "\n")
	if lines < 3 && len([]rune(text)) <= 800 {
		p.box.insert(text)
		return
	}
	p.pastes++
	label := fmt.Sprintf("[Pasted text #%d]", p.pastes)
	if lines > 0 {
		label = fmt.Sprintf("[Pasted text #%d +%d lines]", p.pastes, lines)
	}
	p.box.insertBlock(text, label)
}

// wrapPasted is how such a text reaches the model, the hooks and the transcript.
func wrapPasted(text string) string {
	id := 1000 + rand.IntN(9000)
	return fmt.Sprintf("\n\n<pasted_content id=\"%d\">\n%s\n</pasted_content id=\"%d\">\n", id, text, id)
}

var pastedForm = regexp.MustCompile(`(?s)\n\n<pasted_content id="(\d+)">\n(.*?)\n</pasted_content id="\d+">\n`)

// unwrapPasted is the text as a person pasted it.
func unwrapPasted(text string) string {
	return strings.TrimSpace(pastedForm.ReplaceAllString(text, "$2"))
}

func (p *claude) interruptKey() {
	switch {
	case p.turn != nil:
		p.turn.cancel()
	case !p.box.empty():
		p.box.clear()
	case time.Since(p.exitAsked) < 2*time.Second:
		go p.exit() // ends the process
	default:
		p.exitAsked = time.Now()
	}
}

var (
	commandForm = regexp.MustCompile(`^/[A-Za-z][\w:-]*(\s|$)`)
	exitWords   = []string{"/exit", "/quit", "exit", "quit", ":q", ":q!", ":wq", ":wq!"}
)

func (p *claude) enterKey() {
	if !p.ready || p.box.empty() || p.swallowed() {
		return
	}
	raw, plain := p.box.value(wrapPasted), p.box.plain()
	if strings.TrimSpace(raw) == "" {
		return
	}
	if rest, ok := strings.CutSuffix(raw, `\`); ok && plain {
		p.box.clear()
		p.box.insert(rest + "\n")
		return
	}
	p.box.clear()
	text := raw
	if plain {
		text = strings.TrimSpace(raw)
	}
	switch {
	case plain && slices.Contains(exitWords, text):
		if p.knobs.noExit == "" {
			go p.exit() // ends the process, or returns when the person stays
		}
	case plain && commandForm.MatchString(text):
		go p.command(text) // returns when the command has run
	case plain && strings.HasPrefix(raw, "!"):
		p.begins(queued{text: strings.TrimPrefix(text, "!")}, true)
	default:
		p.submit(queued{text: text})
	}
}

// submit begins a turn, or queues the prompt behind the one that runs. p.mu is held.
func (p *claude) submit(q queued) {
	if p.turn == nil {
		p.begins(q, false)
		return
	}
	go p.enqueue(q) // waits for the hooks that run
}

// exit asks where commands run in the background, and ends the client.
func (p *claude) exit() {
	p.mu.Lock()
	tasks := slices.Clone(p.tasks)
	p.mu.Unlock()
	choice := 0
	if len(tasks) > 0 {
		above := []string{strings.Repeat("─", p.width), "  Background work is running", "  The following will stop when you exit:"}
		for _, t := range tasks {
			above = append(above, "  "+t.tool+" · "+t.description)
		}
		p.setState("waiting", "dialog open")
		choice = p.ask(menu{
			above: above, items: []string{"Exit and stop tasks", "Move to background and exit", "Stay"},
			numbered: true, cursor: "❯", below: "Enter to confirm · Esc to cancel", digits: true,
		})
	}
	if choice == 2 || choice < 0 {
		p.setState(p.stateNow(), "")
		return
	}
	p.end("prompt_input_exit", 0, choice == 0)
}

func (p *claude) stateNow() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn != nil {
		return "busy"
	}
	return "idle"
}

// end interrupts what runs, tells of the end, and ends the client.
func (p *claude) end(reason string, status int, stop bool) {
	if !p.startLeaving() {
		return
	}
	p.mu.Lock()
	turn, id := p.turn, p.lastPrompt
	tasks := slices.Clone(p.tasks)
	if turn != nil {
		turn.cancel()
	}
	p.mu.Unlock()
	if turn != nil {
		<-turn.done
	}
	p.fire("SessionEnd", p.payload("SessionEnd", id).and("reason", reason))
	if stop {
		for _, t := range tasks {
			t.stop()
		}
		p.away.Wait()
	}
	p.mu.Lock()
	written := p.written
	p.mu.Unlock()
	if written != nil {
		<-written
	}
	p.forget()
	p.say("Resume this session with:\nclaude --resume " + p.session)
	p.draw(p)
	p.put("\r\n")
	p.leave(status)
}

func (p *claude) hangup()    { go p.end("other", 129, true) } // ends the process
func (p *claude) terminate() { go p.end("other", 143, true) } // ends the process

// command is what begins with a slash: no hook tells of the prompt.
func (p *claude) command(text string) {
	p.say("❯ " + text)
	switch name, _, _ := strings.Cut(text, " "); name {
	case "/clear", "/new", "/reset":
		p.fire("SessionEnd", p.payload("SessionEnd", p.lastID()).and("reason", "clear"))
		p.enter(uuid4())
		p.begin("clear")
	case "/compact":
		p.compact()
	default:
		p.say("  ⎿  Unknown command: " + name)
		p.write(obj("type", "system", "subtype", "informational", "content", "Unknown command: "+name+". Did you mean /loop?",
			"isMeta", false, "level", "warning"))
	}
}

func (p *claude) lastID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastPrompt
}
