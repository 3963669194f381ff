package fakeharness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sessevents/sessevents/internal/proc"
)

// claude behaves as Claude Code 2.1.332.
type claude struct {
	*client
	config string // its folder
	global string // its .claude.json
	skip   bool   // --dangerously-skip-permissions
	mute   bool   // it takes itself for a part of another session, and keeps no transcript

	hooks map[string][]hook
	away  sync.WaitGroup // the goroutines of turns and tasks

	// Under client.mu.
	session    string
	transcript string
	parent     string          // the last record
	written    <-chan struct{} // closed when that stands in the transcript; nil: it does
	ready      bool
	turn       *claudeTurn
	queue      []queued
	tasks      []*claudeTask
	state      string
	waits      string
	lastPrompt string // the id of the last turn
	started    time.Time
	count      int
	exitAsked  time.Time // the first Ctrl-C
	warning    string
}

// queued is a prompt that waits for the end of a turn.
type queued struct {
	text         string
	notification bool
}

// claudeTask is a command in the background.
type claudeTask struct {
	*task
	id, tool, description, command string
	stop                           context.CancelFunc
	over                           chan struct{} // closed behind its end
	quiet                          bool          // its end is no news
}

func newClaude(c *client) *claude {
	p := &claude{client: c, state: "idle", started: time.Now(), hooks: map[string][]hook{}}
	home := c.env.get("HOME")
	p.config, p.global = filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json")
	if dir := c.env.get("CLAUDE_CONFIG_DIR"); dir != "" {
		p.config, p.global = dir, filepath.Join(dir, ".claude.json")
	}
	p.skip = slices.Contains(c.args, "--dangerously-skip-permissions")
	p.mute = c.env.get("CLAUDE_CODE_CHILD_SESSION") != ""
	if p.mute {
		p.warning = "⚠ Transcript saving is off — inherited CLAUDE_CODE_CHILD_SESSION marker · restart with CLAUDE_CODE_FORCE_SESSION_PERSISTENCE=1"
	}
	return p
}

// option is the value of an argument, in either form.
func option(args []string, names ...string) (string, bool) {
	for i, arg := range args {
		for _, name := range names {
			if value, ok := strings.CutPrefix(arg, name+"="); ok {
				return value, true
			}
			if arg == name && i+1 < len(args) {
				return args[i+1], true
			}
		}
	}
	return "", false
}

// die ends a start with words on the screen.
func (p *claude) die(words string, status int) {
	p.say(words)
	p.draw(p)
	p.put("\r\n")
	p.leave(status)
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func (p *claude) boot() {
	if p.skip && os.Getuid() == 0 && p.env.get("IS_SANDBOX") != "1" && !p.knobs.lax {
		p.die("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons", 1)
		return
	}
	settings, err := p.settings()
	if err != nil {
		p.die("Error processing settings: "+err.Error(), 1)
		return
	}
	if !p.gates(settings) {
		return
	}
	_ = sleep(context.Background(), p.knobs.boot)
	if source := p.open(); source != "" {
		p.begin(source)
	}
}

// open finds the session of the arguments. It returns the source of the session's start, or nothing where it is over.
func (p *claude) open() (source string) {
	id, resume := option(p.args, "--resume", "-r")
	if !resume {
		id, _ = option(p.args, "--session-id")
	}
	if id == "" {
		id = uuid4()
	}
	p.enter(id)
	_, err := os.Stat(p.transcript)
	switch {
	case !uuidForm.MatchString(id):
		p.die("Error: Invalid session ID. Must be a valid UUID.", 1)
	case resume && err != nil:
		p.fire("SessionEnd", p.payload("SessionEnd", "").and("reason", "other"))
		p.die("No conversation found with session ID: "+id, 1)
	case resume:
		p.recall()
		return "resume"
	case err == nil:
		p.die("Error: Session ID "+id+" is already in use.", 1)
	default:
		return "startup"
	}
	return ""
}

// enter makes id the session.
func (p *claude) enter(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.parent = id, ""
	p.transcript = filepath.Join(p.config, "projects", claudeProject(p.dir), id+".jsonl")
}

// claudeProject is the name of a folder's transcripts: letter by letter of UTF-16, cut and hashed where it is long.
func claudeProject(dir string) string {
	var b strings.Builder
	var hash int32
	for _, unit := range utf16Units(dir) {
		hash = hash*31 + int32(unit)
		if unit < 0x80 && strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", rune(unit)) {
			b.WriteByte(byte(unit))
		} else {
			b.WriteByte('-')
		}
	}
	name := b.String()
	if len(name) <= 200 {
		return name
	}
	wide := int64(hash)
	if wide < 0 {
		wide = -wide
	}
	return name[:200] + "-" + strconv.FormatInt(wide, 36)
}

var remembered = regexp.MustCompile(`REMEMBER ([^"\\]+)`)

// recall finds in the transcript of a resumed session what was to be kept, and where its records end.
func (p *claude) recall() {
	text, err := os.ReadFile(p.transcript)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := remembered.FindAllSubmatch(text, -1); all != nil {
		p.memory = string(all[len(all)-1][1])
	}
	for line := range strings.Lines(string(text)) {
		var r struct{ UUID string }
		if json.Unmarshal([]byte(line), &r) == nil && r.UUID != "" {
			p.parent = r.UUID
		}
	}
}

// begin tells of the session and takes prompts from then on.
func (p *claude) begin(source string) {
	p.setState("idle", "")
	start := p.payload("SessionStart", "").and("source", source)
	if source == "resume" {
		start = start.and("seconds_since_last_response", 40, "context_tokens", 120, "prompt_cache_likely_expired", false)
	} else {
		start = start.and("model", "claude-opus-5-5")
	}
	p.fire("SessionStart", start)
	p.mu.Lock()
	p.ready = true
	p.mu.Unlock()
	p.changed()
}

// payload is what every hook is told.
func (p *claude) payload(event, promptID string) object {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := obj("session_id", p.session, "transcript_path", p.transcript, "cwd", p.dir)
	if promptID != "" {
		o = o.and("prompt_id", promptID)
		switch event {
		case "SessionEnd", "SubagentStart", "Notification", "PreCompact", "StopFailure":
		default:
			o = o.and("permission_mode", p.mode())
		}
		switch event {
		case "UserPromptSubmit", "SessionEnd", "SubagentStart", "Notification", "PreCompact":
		default:
			o = o.and("effort", obj("level", "medium"))
		}
	}
	return o.and("hook_event_name", event)
}

func (p *claude) mode() string {
	if p.skip {
		return "bypassPermissions"
	}
	return "auto"
}

// fire runs the hooks of an event, one after the other.
func (p *claude) fire(event string, input object) {
	env := p.env.with("CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR="+p.dir)
	for _, h := range p.hooks[event] {
		if out, status := p.runHook(event, h, input, env); status != 0 || strings.TrimSpace(out) != "" {
			p.say(fmt.Sprintf("  ⎿  %s hook said (%d): %s", event, status, strings.TrimSpace(out)))
		}
	}
}

// setState keeps the client's own file about itself.
func (p *claude) setState(state, waits string) {
	p.mu.Lock()
	if state == "idle" && len(p.tasks) > 0 {
		state = "shell"
	}
	p.state, p.waits = state, waits
	now := time.Now().UnixMilli()
	o := obj("pid", os.Getpid(), "sessionId", p.session, "cwd", p.dir, "startedAt", p.started.UnixMilli())
	if token, err := proc.StartToken(os.Getpid()); err == nil {
		o = o.and("procStart", token)
	}
	o = o.and("version", claudeVersion, "kind", "interactive", "entrypoint", "cli", "name", filepath.Base(p.dir), "nameSource", "derived",
		"updatedAt", now, "status", state)
	if waits != "" {
		o = o.and("waitingFor", waits)
	}
	o = o.and("statusUpdatedAt", now)
	path := p.registry()
	p.mu.Unlock()
	p.changed()
	if err := writeWhole(path, encode(o)); err != nil {
		p.logf("write %s: %v", path, err)
	}
}

func (p *claude) registry() string {
	return filepath.Join(p.config, "sessions", strconv.Itoa(os.Getpid())+".json")
}

// writeWhole replaces a file.
func writeWhole(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := path + ".tmp" + hexID(6)
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

const claudeVersion = "2.1.332"
