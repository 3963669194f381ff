package realclient

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"
)

// Pi is a Pi session in a terminal.
type Pi struct {
	*Terminal
	sessions string
}

// gauge is the part of Pi's last line that shows how full the context is: it is there when Pi takes prompts.
var gauge = regexp.MustCompile(`(\?|[0-9.]+%)/[0-9.]+[kM]?`)

// StartPi starts a session with its model at modelURL, and returns when it takes prompts. More arguments, such as an
// extension, may be added.
func StartPi(t testing.TB, n *Network, h *Home, modelURL string, args ...string) *Pi {
	t.Helper()
	program := Find(t, "pi")
	agent := filepath.Join(h.User, ".pi", "agent")
	p := &Pi{sessions: filepath.Join(agent, "sessions")}
	h.WriteJSON(t, filepath.Join(agent, "models.json"), map[string]any{"providers": map[string]any{"stub": map[string]any{
		"baseUrl": modelURL + "/v1", "api": "openai-completions", "apiKey": apiKey,
		"models": []any{map[string]any{"id": "stub-model", "contextWindow": 200000, "maxTokens": 8000}},
	}}})
	h.WriteJSON(t, filepath.Join(agent, "settings.json"), map[string]any{
		"defaultProvider": "stub", "defaultModel": "stub-model", "quietStartup": true,
	})
	// Offline: without it Pi looks for a new version, and fetches tools that it misses.
	env := map[string]string{"PI_CODING_AGENT_DIR": agent, "PI_OFFLINE": "1"}
	argv := append([]string{program, "--session-dir", p.sessions}, args...)
	p.Terminal = NewTerminal(t, n, h, h.Env(env), argv...)
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	if err := eventually(ctx, "the gauge of Pi's context", func() (bool, error) {
		return gauge.MatchString(p.Screen()), nil
	}); err != nil {
		t.Fatalf("start Pi: %v", err)
	}
	return p
}

// Prompt pastes text and submits it. It does not wait for the turn.
func (p *Pi) Prompt(text string) error { return p.submit(text) }

// Turns are the ends of the session's turns so far: the model's last words, or "error: " and the reason. A request
// that Pi tries again is an end of its own.
func (p *Pi) Turns() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(p.sessions, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	var out []string
	err = eachLine(files[0], func(line []byte) {
		var r struct {
			Message struct {
				Role       string `json:"role"`
				StopReason string `json:"stopReason"`
				Error      string `json:"errorMessage"`
				Content    json.RawMessage
			} `json:"message"`
		}
		if json.Unmarshal(line, &r) != nil || r.Message.Role != "assistant" || r.Message.StopReason == "toolUse" {
			return
		}
		if r.Message.Error != "" {
			out = append(out, "error: "+r.Message.Error)
			return
		}
		var blocks []struct{ Text string }
		if json.Unmarshal(r.Message.Content, &blocks) != nil {
			return
		}
		text := ""
		for _, b := range blocks {
			text += b.Text
		}
		out = append(out, text)
	})
	return out, err
}

// WaitTurn waits for the end of the n-th turn.
func (p *Pi) WaitTurn(ctx context.Context, n int) (string, error) { return waitTurn(ctx, n, p.Turns) }

// Exit leaves the session as a user does, and returns when the process has ended.
func (p *Pi) Exit(ctx context.Context) error { return p.quit(ctx, "/quit") }
