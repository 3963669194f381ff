package realclient

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Claude is a Claude Code session in a terminal.
type Claude struct {
	*Terminal
	// Inbox is the path of its message socket, SessionID its id; both come from its registry.
	Inbox     string
	SessionID string
	config    string
}

// ClaudeOptions says how a session starts.
type ClaudeOptions struct {
	// ModelURL is where its model listens.
	ModelURL string
	// Bypass starts it with no permission prompts. Otherwise it prompts, but for Bash, which is allowed.
	Bypass bool
	// Env is added to its environment, Path put before its search path.
	Env  map[string]string
	Path string
}

// apiKey is no key: its model is a stub. The client asks whether it may use a key unless it finds the last 20
// characters approved.
const apiKey = "stub-key-for-loopback-only"

// readyTimeout is how long a client may take to start on a loaded machine.
const readyTimeout = 90 * time.Second

// StartClaude starts a session and returns when it is idle and its inbox listens.
func StartClaude(t testing.TB, n *Network, h *Home, o ClaudeOptions) *Claude {
	t.Helper()
	program := Find(t, "claude")
	c := &Claude{config: filepath.Join(h.User, ".claude")}
	c.seed(t, h, o)
	env := map[string]string{
		"CLAUDE_CONFIG_DIR": c.config, "CLAUDE_CODE_TMPDIR": h.Tmp,
		"ANTHROPIC_BASE_URL": o.ModelURL, "ANTHROPIC_API_KEY": apiKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
		// Without this it clones its list of plugins from a public server at its first start.
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
	}
	argv := []string{program, "--debug-file", c.debugLog()}
	if o.Bypass {
		argv = append(argv, "--dangerously-skip-permissions")
		env["IS_SANDBOX"] = "1" // without it root may not bypass permissions
	} else {
		argv = append(argv, "--permission-mode", "default")
	}
	if o.Path != "" {
		env["PATH"] = o.Path + string(os.PathListSeparator) + os.Getenv("PATH")
	}
	for name, value := range o.Env {
		env[name] = value
	}
	c.Terminal = NewTerminal(t, n, h, h.Env(env), argv...)
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	if err := c.WaitIdle(ctx); err != nil {
		t.Fatalf("start Claude Code: %v", err)
	}
	return c
}

// seed writes what a user who has met every first question would have.
func (c *Claude) seed(t testing.TB, h *Home, o ClaudeOptions) {
	t.Helper()
	h.WriteJSON(t, filepath.Join(c.config, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "lastOnboardingVersion": "2.1.332",
		"customApiKeyResponses":         map[string]any{"approved": []string{apiKey[len(apiKey)-20:]}, "rejected": []string{}},
		"bypassPermissionsModeAccepted": true,
		"projects": map[string]any{h.Work: map[string]any{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{},
		}},
	})
	settings := map[string]any{"skipDangerousModePermissionPrompt": true}
	if !o.Bypass {
		settings["permissions"] = map[string]any{"allow": []string{"Bash"}}
	}
	h.WriteJSON(t, filepath.Join(c.config, "settings.json"), settings)
}

func (c *Claude) debugLog() string { return filepath.Join(c.config, "debug.txt") }

// DebugLog is what the client wrote to its own log so far.
func (c *Claude) DebugLog() string {
	b, err := os.ReadFile(c.debugLog())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// registry is the part of a session's registry file that matters here.
type registry struct {
	SessionID string `json:"sessionId"`
	Inbox     string `json:"messagingSocketPath"`
	// Status is idle, busy, waiting (for an answer to a dialog) or shell: the turn is over, background commands run.
	Status string `json:"status"`
}

func (c *Claude) registry() (r registry, err error) {
	b, err := os.ReadFile(filepath.Join(c.config, "sessions", fmt.Sprintf("%d.json", c.PID)))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("read the session's registry: %w", err) // it is being written
	}
	return r, nil
}

// WaitStatus waits until the session's registry has one of these words.
func (c *Claude) WaitStatus(ctx context.Context, words ...string) error {
	return eventually(ctx, "status "+strings.Join(words, " or "), func() (bool, error) {
		if dead, err := c.Dead(); dead || err != nil {
			return false, fmt.Errorf("the program has ended (%w)", err)
		}
		r, err := c.registry()
		if err != nil {
			return false, err
		}
		for _, word := range words {
			if r.Status == word {
				c.SessionID, c.Inbox = r.SessionID, r.Inbox
				return true, nil
			}
		}
		return false, fmt.Errorf("status is %q", r.Status)
	})
}

// WaitIdle waits until no turn runs and the inbox is there.
func (c *Claude) WaitIdle(ctx context.Context) error {
	if err := c.WaitStatus(ctx, "idle", "shell"); err != nil {
		return err
	}
	return eventually(ctx, "the inbox "+c.Inbox, func() (bool, error) {
		_, err := os.Stat(c.Inbox)
		return err == nil, err
	})
}

// Prompt pastes text and submits it. It does not wait for the turn.
func (c *Claude) Prompt(text string) error { return c.submit(text) }

// Exit leaves the session as a user does, and ends its background commands when it asks about them. It returns when
// the process has ended.
func (c *Claude) Exit(ctx context.Context) error {
	if err := c.Keys("C-u"); err != nil { // what stands in the input box would join the command
		return err
	}
	return c.quit(ctx, "/exit")
}

// Row is one line of the transcript, as far as it matters here.
type Row struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	IsMeta  bool   `json:"isMeta"`
	Origin  Origin `json:"origin"`
	Mode    string `json:"permissionMode"`
}

// Origin says where a user message came from.
type Origin struct {
	Kind     string `json:"kind"`
	From     string `json:"from"`
	Name     string `json:"name"`
	FromMode string `json:"fromMode"`
	MsgID    string `json:"msg_id"`
	Body     string `json:"body"`
	SelfSent bool   `json:"selfSent"`
	PeerPID  int    `json:"verifiedPeerPid"`
}

// Transcript is the session's transcript so far. There is none before the first prompt.
func (c *Claude) Transcript() ([]Row, error) {
	files, err := filepath.Glob(filepath.Join(c.config, "projects", "*", c.SessionID+".jsonl"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	var rows []Row
	err = eachLine(files[0], func(line []byte) {
		var r Row
		if json.Unmarshal(line, &r) == nil { // rows of other kinds may have members of other types
			rows = append(rows, r)
		}
	})
	return rows, err
}

// Peers are the messages from other processes that the session has taken, oldest first.
func (c *Claude) Peers() ([]Origin, error) {
	rows, err := c.Transcript()
	var out []Origin
	for _, r := range rows {
		if r.Type == "user" && r.Origin.Kind == "peer" {
			out = append(out, r.Origin)
		}
	}
	return out, err
}

// WaitPeer waits for a message from another process in the transcript.
func (c *Claude) WaitPeer(ctx context.Context, match func(Origin) bool) (found Origin, err error) {
	err = eventually(ctx, "a peer's message in the transcript", func() (bool, error) {
		peers, err := c.Peers()
		for _, o := range peers {
			if match(o) {
				found = o
				return true, nil
			}
		}
		return false, err
	})
	return found, err
}
