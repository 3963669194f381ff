package realclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Codex is a Codex session in a terminal.
type Codex struct {
	*Terminal
	// SessionID is known before the first prompt.
	SessionID string
	home      string
}

// StartCodex starts a session that asks for no permission, with its model at modelURL, and returns when it takes
// prompts.
func StartCodex(t testing.TB, n *Network, h *Home, modelURL string) *Codex {
	t.Helper()
	program := Find(t, "codex")
	c := &Codex{home: filepath.Join(h.User, ".codex")}
	h.WriteFile(t, filepath.Join(c.home, "config.toml"), codexConfig(h, modelURL))
	env := map[string]string{
		"CODEX_HOME": c.home, "STUB_KEY": apiKey,
		// It fetches a tip of the day from a public server and has no switch for that: nobody listens on this proxy.
		"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1",
	}
	c.Terminal = NewTerminal(t, n, h, h.Env(env), program,
		"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--no-daemon", "-C", h.Work)
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	// The composer is painted at once; the line under it comes when the session can be used.
	if err := c.WaitScreen(ctx, " · "+h.Work); err != nil {
		t.Fatalf("start Codex: %v", err)
	}
	if err := eventually(ctx, "the lock of the session", func() (bool, error) {
		locks, err := filepath.Glob(filepath.Join(c.home, "thread-writer-locks", "[0-9a-f]*.lock"))
		if err != nil || len(locks) != 1 {
			return false, err
		}
		c.SessionID = strings.TrimSuffix(filepath.Base(locks[0]), ".lock")
		return true, nil
	}); err != nil {
		t.Fatalf("start Codex: %v", err)
	}
	return c
}

// codexConfig is what a user who has met every first question would have, with the stub as the only provider.
func codexConfig(h *Home, modelURL string) string {
	q := strconv.Quote
	return strings.Join([]string{
		`model = "gpt-5.5"`,
		`model_provider = "stub"`,
		`check_for_update_on_startup = false`,
		`[model_providers.stub]`,
		`name = "stub"`,
		`base_url = ` + q(modelURL+"/v1"),
		`wire_api = "responses"`,
		`env_key = "STUB_KEY"`,
		`[features]`,
		`daemon_auto_start = false`, // a server that would outlive the session
		`plugins = false`,           // it would fetch a list of them from a public server
		`[analytics]`,
		`enabled = false`,
		`[notice.model_migrations]`, // no question whether to try another model
		`"gpt-5.5" = "gpt-6-sol"`,
		`[projects.` + q(h.Work) + `]`,
		`trust_level = "trusted"`,
		``,
	}, "\n")
}

// Prompt pastes text and submits it. It does not wait for the turn.
func (c *Codex) Prompt(text string) error { return c.submit(text) }

// Rollout is the path of the session's transcript; there is none before the first prompt.
func (c *Codex) Rollout() (string, error) {
	files, err := filepath.Glob(filepath.Join(c.home, "sessions", "*", "*", "*", "rollout-*-"+c.SessionID+".jsonl"))
	if err != nil || len(files) == 0 {
		return "", err
	}
	return files[0], nil
}

// Turns are the ends of the session's turns so far: the model's last words, or "error: " and the reason.
func (c *Codex) Turns() ([]string, error) {
	path, err := c.Rollout()
	if err != nil || path == "" {
		return nil, err
	}
	var out []string
	err = eachLine(path, func(line []byte) {
		var r struct {
			Payload struct {
				Type  string `json:"type"`
				Last  string `json:"last_agent_message"`
				Error *struct {
					Message string `json:"message"`
				} `json:"error"`
				Reason string `json:"reason"`
			} `json:"payload"`
		}
		if json.Unmarshal(line, &r) != nil {
			return // of another form
		}
		switch p := r.Payload; {
		case p.Type == "turn_aborted":
			out = append(out, "error: "+p.Reason)
		case p.Type == "task_complete" && p.Error != nil:
			out = append(out, "error: "+p.Error.Message)
		case p.Type == "task_complete":
			out = append(out, p.Last)
		}
	})
	return out, err
}

// WaitTurn waits for the end of the n-th turn.
func (c *Codex) WaitTurn(ctx context.Context, n int) (string, error) {
	return waitTurn(ctx, n, c.Turns)
}

// Exit leaves the session as a user does, and returns when the process has ended.
func (c *Codex) Exit(ctx context.Context) error { return c.quit(ctx, "/quit") }

// waitTurn waits until turns gives n ends or more, and returns the n-th.
func waitTurn(ctx context.Context, n int, turns func() ([]string, error)) (end string, err error) {
	err = eventually(ctx, fmt.Sprintf("the end of turn %d", n), func() (bool, error) {
		ends, err := turns()
		if len(ends) < n {
			return false, err
		}
		end = ends[n-1]
		return true, nil
	})
	return end, err
}

// eachLine calls f with each whole line of a file.
func eachLine(path string, f func(line []byte)) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(b) {
		if bytes.HasSuffix(line, []byte("\n")) { // the last one may not be whole yet
			f(line)
		}
	}
	return nil
}
