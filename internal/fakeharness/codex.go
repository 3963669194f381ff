package fakeharness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// codex behaves as Codex 0.171.0.
type codex struct {
	*client
	home   string
	config map[string]any
	hooks  map[string][]codexHook
	model  string

	// Under client.mu.
	session string
	source  string // of the session's start, which is told with the first prompt; empty when it was
	begun   time.Time
	path    string // of the rollout
	ordinal int
	started bool // the first frame is painted
	ready   bool
	turn    *codexTurn
	queue   []string
	tasks   []*codexTask
	calls   int
}

type codexHook struct {
	hook
	matcher *regexp.Regexp // nil for all tools
}

// codexTurn is a turn that runs.
type codexTurn struct {
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	begun  time.Time
}

// codexTask is a background terminal.
type codexTask struct {
	*task
	call, process, command, turn string
	begun                        time.Time
	stop                         context.CancelFunc
	stopped                      bool
	background                   bool          // the turn goes on without it
	over                         chan struct{} // closed at its end, with what follows
	text                         string
}

func newCodex(c *client) *codex {
	p := &codex{client: c, home: c.env.get("CODEX_HOME"), hooks: map[string][]codexHook{}, config: map[string]any{}}
	if p.home == "" {
		p.home = filepath.Join(c.env.get("HOME"), ".codex")
	}
	if dir, ok := option(c.args, "-C", "--cd"); ok {
		p.dir = dir
	}
	return p
}

func (p *codex) die(words string) {
	p.say(words)
	p.draw(p)
	p.put("\r\n")
	p.leave(1)
}

func (p *codex) boot() {
	p.mu.Lock()
	p.started = true
	p.mu.Unlock()
	p.changed()
	if err := p.configure(); err != nil {
		p.die("Error loading config.toml: " + err.Error())
		return
	}
	_ = sleep(context.Background(), p.knobs.lateDialog)
	if !p.gates() {
		return
	}
	if !p.open() {
		return
	}
	_ = sleep(context.Background(), p.knobs.boot)
	p.mu.Lock()
	p.ready = true
	p.mu.Unlock()
	p.changed()
}

// configure reads config.toml.
func (p *codex) configure() error {
	text, err := os.ReadFile(filepath.Join(p.home, "config.toml"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if p.config, err = parseTOML(string(text)); err != nil {
		return err
	}
	p.model, _ = p.config["model"].(string)
	if model, ok := option(p.args, "-m", "--model"); ok {
		p.model = model
	}
	if p.model == "" {
		p.model = "gpt-6.2-sol"
	}
	hooks, _ := p.config["hooks"].(map[string]any)
	for event, groups := range hooks {
		list, _ := groups.([]any)
		for _, entry := range list {
			group, ok := entry.(map[string]any)
			if !ok {
				return fmt.Errorf("hooks.%s is no list of tables", event)
			}
			if err := p.addHooks(event, group); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *codex) addHooks(event string, group map[string]any) error {
	var matcher *regexp.Regexp
	if pattern, ok := group["matcher"].(string); ok {
		var err error
		if matcher, err = regexp.Compile(pattern); err != nil {
			return err
		}
	}
	list, _ := group["hooks"].([]any)
	for _, entry := range list {
		h, _ := entry.(map[string]any)
		if h["type"] != "command" {
			continue
		}
		seconds, given := h["timeout"].(float64)
		switch short := event == "SessionEnd" || event == "Interrupt"; {
		case short && !given:
			seconds = 1
		case short:
			seconds = min(seconds, 3)
		case !given:
			seconds = 600
		}
		command, _ := h["command"].(string)
		p.hooks[event] = append(p.hooks[event], codexHook{hook{command, time.Duration(seconds * float64(time.Second))}, matcher})
	}
	return nil
}

// gates asks what the client asks at its start. It is false when that ended it.
func (p *codex) gates() bool {
	ask := func(above []string, items ...string) int {
		return p.ask(menu{above: append(above, ""), items: items, numbered: true, cursor: "›", below: "Press enter to continue", digits: true})
	}
	model := func() {
		if ask([]string{"  Meet GPT-6 Sol", "", "  Our most capable model."}, "Try new model", "Use existing model") == 0 {
			p.mu.Lock()
			p.model = "gpt-6-sol"
			p.mu.Unlock()
		}
	}
	trust := func() bool {
		if ask([]string{"  Folder access", "", "  " + p.dir, "", "  Trust this folder?"}, "Trust and continue", "Back to Agent Command Center") != 0 {
			p.leave(1)
			return false
		}
		return true
	}
	if p.knobs.unknownDialog {
		ask([]string{"  What is your favourite colour?"}, "Red", "Blue")
	}
	if p.knobs.trust != "" && !trust() {
		return false
	}
	if p.knobs.trust == "twice" {
		model()
	}
	if p.knobs.lax {
		return true
	}
	_, err := os.Stat(filepath.Join(p.home, "auth.json"))
	if _, provider := p.config["model_provider"]; err != nil && !provider {
		ask([]string{"  Welcome to Codex, OpenAI's command-line coding agent"}, "Sign in with ChatGPT", "Sign in with Device Code", "Provide your own API key")
		p.die("Login cancelled")
		return false
	}
	bypass := slices.Contains(p.args, "--dangerously-bypass-hook-trust")
	hooks, _ := p.config["hooks"].(map[string]any)
	if _, trusted := hooks["state"]; len(p.hooks) > 0 && !bypass && !trusted {
		above := []string{"  Hooks need review", fmt.Sprintf("  %d hooks are new or changed.", len(p.hooks))}
		if ask(above, "Review hooks", "Trust all and continue", "Continue without trusting") != 1 {
			p.hooks = map[string][]codexHook{} // they are passed over without a word
		}
	}
	notice, _ := p.config["notice"].(map[string]any)
	if _, known := within(mapOr(notice), "model_migrations")[p.model]; p.model == "gpt-5.5" && !known {
		model()
	}
	projects, _ := p.config["projects"].(map[string]any)
	if _, known := projects[p.dir]; !known && p.knobs.trust == "" && inGit(p.dir) {
		return trust()
	}
	return true
}

func mapOr(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func inGit(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// open finds the session of the arguments, or begins one.
func (p *codex) open() bool {
	if len(p.args) < 2 || p.args[0] != "resume" {
		p.fresh("startup")
		return true
	}
	id := p.args[1]
	found, err := filepath.Glob(filepath.Join(p.home, "sessions", "*", "*", "*", "rollout-*-"+id+".jsonl"))
	if err != nil || len(found) == 0 {
		p.die("ERROR: No saved session found with ID " + id + ". Run `codex resume` without an ID to choose from existing sessions.")
		return false
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		p.die(err.Error())
		return false
	}
	p.mu.Lock()
	p.session, p.path, p.source = id, found[0], "resume"
	for line := range strings.Lines(string(text)) {
		var r struct{ Ordinal int }
		if json.Unmarshal([]byte(line), &r) == nil {
			p.ordinal = r.Ordinal + 1
		}
	}
	if all := remembered.FindAllStringSubmatch(string(text), -1); all != nil {
		p.memory = all[len(all)-1][1]
	}
	p.mu.Unlock()
	p.lock()
	return true
}

// fresh begins a session, which is told of with its first prompt.
func (p *codex) fresh(source string) {
	now := time.Now()
	p.mu.Lock()
	p.session, p.source, p.begun, p.ordinal = uuid7(), source, now, 0
	p.path = filepath.Join(p.home, "sessions", now.Format("2006/01/02"), "rollout-"+now.Format("2006-01-02T15-04-05")+"-"+p.session+".jsonl")
	p.mu.Unlock()
	p.lock()
}

func (p *codex) lockFile() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return filepath.Join(p.home, "thread-writer-locks", p.session+".lock")
}

func (p *codex) lock() {
	if err := writeWhole(p.lockFile(), nil); err != nil {
		p.logf("lock: %v", err)
	}
}

// fire runs the hooks of an event. What they print is no good.
func (p *codex) fire(event, tool string, input object) {
	for _, h := range p.hooks[event] {
		if tool != "" && h.matcher != nil && !h.matcher.MatchString(tool) {
			continue
		}
		out, status := p.runHook(event, h.hook, input, p.env)
		switch {
		case status != 0:
			p.say(fmt.Sprintf("• Hook failed\n  hook exited with code %d", status))
		case strings.TrimSpace(out) != "" && event == "Stop":
			p.say("• Hook failed\n  hook returned invalid stop hook JSON output")
		}
	}
}

// payload is what every hook is told.
func (p *codex) payload(event, turn string) object {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := obj("session_id", p.session)
	if turn != "" {
		o = o.and("turn_id", turn)
	}
	o = o.and("transcript_path", p.path, "cwd", p.dir, "hook_event_name", event)
	switch event {
	case "SessionEnd":
		return o
	case "PreCompact", "PostCompact":
		return o.and("model", p.model)
	}
	mode := "default"
	if slices.Contains(p.args, "--dangerously-bypass-approvals-and-sandbox") {
		mode = "bypassPermissions"
	}
	return o.and("model", p.model, "permission_mode", mode)
}
