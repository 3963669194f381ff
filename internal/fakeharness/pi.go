package fakeharness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pi behaves as Pi 0.73.1. It cannot load an extension: what csd's does is done by piExtension.
type pi struct {
	*client
	home     string // its folder
	sessions string
	ext      *piExtension // nil without one
	retry    piRetry

	// Under client.mu.
	session  string
	path     string   // of the session's file, which is made with the first answer
	pending  []object // entries that wait for that
	leaf     string
	ready    bool
	turn     *piTurn
	steered  []string
	retrying string // what the screen says of the wait for the next attempt
	cleared  time.Time
}

// piTurn is a prompt that runs, and what was steered into it.
type piTurn struct {
	ctx    context.Context
	cancel context.CancelFunc
	flaky  int
}

// piRetry is how the client asks again after an error of the API.
type piRetry struct {
	Enabled    bool  `json:"enabled"`
	MaxRetries int   `json:"maxRetries"`
	BaseDelay  int64 `json:"baseDelayMs"`
}

func newPi(c *client) *pi {
	p := &pi{client: c, home: c.env.get("PI_CODING_AGENT_DIR"), retry: piRetry{true, 3, 2000}}
	if p.home == "" {
		p.home = filepath.Join(c.env.get("HOME"), ".pi", "agent")
	}
	p.sessions = filepath.Join(p.home, "sessions", "--"+strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimPrefix(c.dir, "/"))+"--")
	if dir, ok := option(c.args, "--session-dir"); ok {
		p.sessions = dir
	}
	for _, file := range []string{filepath.Join(p.home, "settings.json"), filepath.Join(c.dir, ".pi", "settings.json")} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it need not be there
		}
		settings := struct{ Retry *piRetry }{&p.retry}
		if err := json.Unmarshal(text, &settings); err != nil {
			c.logf("%s: %v", file, err)
		}
	}
	return p
}

// die ends a start with words on the screen.
func (p *pi) die(words string) {
	p.say(words)
	p.draw(p)
	p.put("\r\n")
	p.leave(1)
}

func (p *pi) boot() {
	if file, ok := option(p.args, "-e", "--extension"); ok {
		if _, err := os.Stat(file); err != nil {
			p.die(fmt.Sprintf("Error: Failed to load extension %q: %v", file, err))
			return
		}
		p.ext = newPiExtension(p)
	}
	if model, ok := option(p.args, "--model"); ok && strings.Contains(model, "nosuch") {
		p.die(fmt.Sprintf("Error: Model %q not found. Use --list-models to see available models.", model))
		return
	}
	_ = sleep(context.Background(), p.knobs.lateDialog)
	if p.knobs.unknownDialog {
		p.ask(menu{above: []string{"What is your favourite colour? [y/N]", ""}, items: []string{"Red", "Blue"}, cursor: "→", below: "enter select"})
	}
	if !p.open() {
		return
	}
	_ = sleep(context.Background(), p.knobs.boot)
	p.mu.Lock()
	p.ready = true
	p.mu.Unlock()
	p.changed()
	p.ext.sessionStart("startup") // the screen comes before its handlers
}

// open finds the session of the arguments, or begins one.
func (p *pi) open() bool {
	which, ok := option(p.args, "--session")
	if !ok {
		p.fresh()
		return true
	}
	path := which
	if !strings.Contains(which, "/") && !strings.HasSuffix(which, ".jsonl") {
		found, err := filepath.Glob(filepath.Join(p.sessions, "*_"+which+"*.jsonl"))
		if err != nil || len(found) == 0 {
			p.die(fmt.Sprintf("No session found matching '%s'", which))
			return false
		}
		path = found[0]
	}
	return p.load(path)
}

// fresh begins a session, of which there is no file yet.
func (p *pi) fresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.leaf = uuid7(), ""
	p.path = filepath.Join(p.sessions, strings.NewReplacer(":", "-", ".", "-").Replace(stamp())+"_"+p.session+".jsonl")
	p.pending = []object{obj("type", "session", "version", 3, "id", p.session, "timestamp", stamp(), "cwd", p.dir)}
	p.entry("model_change", "provider", "stub", "modelId", "stub-model")
	p.entry("thinking_level_change", "thinkingLevel", "off")
}

// load continues the session of a file. The client runs where the file says.
func (p *pi) load(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		p.die(err.Error())
		return false
	}
	p.mu.Lock()
	p.path = path
	for line := range strings.Lines(string(text)) {
		var e struct{ Type, ID, CWD string }
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		if e.Type != "session" {
			p.leaf = e.ID
			continue
		}
		p.session, p.dir = e.ID, e.CWD
	}
	if all := remembered.FindAllStringSubmatch(string(text), -1); all != nil {
		p.memory = all[len(all)-1][1]
	}
	dir := p.dir
	p.mu.Unlock()
	if _, err := os.Stat(dir); err != nil {
		p.ask(menu{above: []string{"cwd from session file does not exist", dir, ""}, items: []string{"Continue", "Cancel"}, cursor: "→", below: "enter select"})
	}
	return true
}

// entry adds one to the session; p.mu is held. The file is made when the first answer is there.
func (p *pi) entry(kind string, more ...any) (id string) {
	id = hexID(8)
	var parent any
	if p.leaf != "" {
		parent = p.leaf
	}
	p.leaf = id
	o := obj("type", kind, "id", id, "parentId", parent, "timestamp", stamp()).and(more...)
	p.pending = append(p.pending, o)
	_, err := os.Stat(p.path)
	answered := slices.ContainsFunc(p.pending, func(o object) bool {
		m, ok := o[len(o)-1].value.(object)
		return ok && m[0].value == "assistant"
	})
	if err != nil && !answered {
		return id
	}
	for _, o := range p.pending {
		if err := appendLine(p.path, o); err != nil {
			p.logf("session: %v", err)
		}
	}
	p.pending = nil
	return id
}

// message adds a message to the session.
func (p *pi) message(m object) (id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entry("message", "message", m)
}

func (p *pi) user(text string) (id string) {
	p.say(text)
	return p.message(obj("role", "user", "content", []any{obj("type", "text", "text", text)}, "timestamp", time.Now().UnixMilli()))
}

// assistant adds an answer. content are its blocks.
func (p *pi) assistant(reason, failure string, content ...any) {
	if content == nil {
		content = []any{}
	}
	m := obj("role", "assistant", "content", content, "api", "openai-completions", "provider", "stub", "model", "stub-model",
		"usage", obj("input", 100, "output", 20, "cacheRead", 0, "cacheWrite", 0, "totalTokens", 120), "stopReason", reason, "timestamp", time.Now().UnixMilli())
	if failure != "" {
		m = m.and("errorMessage", failure)
	}
	p.message(m)
}

// view is the screen.
func (p *pi) view(width int) []string {
	lines := []string{" pi v0.73.1", " escape to interrupt · ctrl+c to clear · ctrl+c twice to exit · / for commands · ! to run bash", ""}
	lines = append(lines, p.said...)
	if p.menu != nil {
		return append(lines, p.menu.view()...)
	}
	if !p.ready || p.leaving {
		return lines
	}
	if p.knobs.noModel {
		lines = append(lines, "Warning: No models available. Use /login or set an API key environment variable.", "")
	}
	switch {
	case p.retrying != "":
		lines = append(lines, p.retrying, "")
	case p.turn != nil:
		lines = append(lines, "⠹ Working...", "")
	}
	for _, text := range p.steered {
		lines = append(lines, wrap("Steering: "+text, "  ", width)...)
	}
	rule := strings.Repeat("─", width)
	lines = append(append(append(lines, rule), wrap(p.box.shown(), "", width)...), rule)
	gauge := "0.0%/200k (auto)"
	if p.knobs.noModel {
		gauge = "0.0%/0 (auto)"
	}
	return append(lines, p.dir, gauge+"          stub-model")
}

// key takes a key for the input box.
func (p *pi) key(k key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leaving {
		return
	}
	switch k.name {
	case "paste":
		if !p.lost() {
			p.paste(clean(k.text))
		}
	case "Enter":
		p.enterKey()
	case "Escape":
		if p.turn != nil {
			p.turn.cancel()
		}
	case "C-c":
		if time.Since(p.cleared) < 500*time.Millisecond {
			go p.quit() // ends the process
			return
		}
		p.cleared = time.Now()
		p.box.clear()
	case "C-d":
		if p.box.empty() {
			go p.quit() // ends the process
		}
	default:
		p.edit(k)
	}
}

// paste shows more than ten lines, or a thousand letters, as a few words.
func (p *pi) paste(text string) {
	lines, letters := strings.Count(text, "\n")+1, len([]rune(text))
	switch {
	case lines > 10:
		p.pastes++
		p.box.insertBlock(text, fmt.Sprintf("[paste #%d +%d lines]", p.pastes, lines))
	case letters > 1000:
		p.pastes++
		p.box.insertBlock(text, fmt.Sprintf("[paste #%d %d chars]", p.pastes, letters))
	default:
		p.box.insert(text)
	}
}

// piCommands are the client's own.
var piCommands = strings.Fields("/settings /model /new /compact /reload /quit /resume /tree /fork /clone /login /logout /copy /export /import /share /name /session /changelog /hotkeys /scoped-models /debug")

func (p *pi) enterKey() {
	if !p.ready || p.swallowed() {
		return
	}
	text := p.box.value(func(text string) string { return text })
	if rest, ok := strings.CutSuffix(text, `\`); ok {
		p.box.clear()
		p.box.insert(rest + "\n")
		return
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	p.box.clear()
	switch {
	case text == "/quit":
		if p.knobs.noExit == "" {
			go p.quit() // ends the process
		}
	case text == "/new":
		go p.another() // returns at once
	case slices.Contains(piCommands, strings.Fields(text)[0]):
	case strings.HasPrefix(text, "!"):
		go p.bang(strings.TrimLeft(text, "!")) // returns when the command has ended
	default:
		p.submit(text)
	}
}
