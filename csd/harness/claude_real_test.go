package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/internal/modelstub"
)

// newClaude is a rig of a Claude Code that was run before, and no more: folder and key are not known to it.
func newClaude(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, "claude")
	r.w.SessionID = "5a0e6f3c-9c1d-4b7e-8f2a-0123456789ab"
	r.home.WriteJSON(t, r.home.User+"/.claude.json", map[string]any{"hasCompletedOnboarding": true})
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": r.model.URL(), "ANTHROPIC_API_KEY": "stub-key-for-loopback-only", "IS_SANDBOX": "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1", "CLAUDE_CODE_TMPDIR": r.home.Tmp,
	} {
		r.setenv(name, value)
	}
	return r
}

func (r *rig) meta() store.Meta {
	return store.Meta{TmuxName: r.w.Name, SessionID: r.start.SessionID, CWD: r.w.CWD, ConfigDir: r.start.ConfigDir, TranscriptPath: r.start.TranscriptPath}
}

// TestClaudeStartsTakesPromptsAsTextAndEnds is one life of a worker: a folder and a key that the client does not know,
// inside another Claude Code; prompts that it would take for commands; its live state; a menu on the way out.
func TestClaudeStartsTakesPromptsAsTextAndEnds(t *testing.T) {
	t.Parallel()
	r := newClaude(t)
	// F22: what a surrounding session leaves. With the second, the client would keep no transcript.
	for name, value := range map[string]string{
		"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDE_CODE_SESSION_ID": "11111111-2222-4333-8444-555555555555",
		"CLAUDE_CODE_SSE_PORT": "1", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli", "CLAUDE_CODE_USE_BEDROCK": "",
	} {
		r.setenv(name, value)
	}
	r.launch()

	hold := make(chan struct{})
	r.model.Add(modelstub.Reply{Text: "hello", Until: hold})
	r.send("first prompt")
	r.eventually("busy", func() bool { l, ok := r.Live(t.Context(), r.pane.PID, r.meta()); return ok && l.State == Busy })
	close(hold)
	if n := r.waitTold("stop", 1); n.Last != "hello" || n.SessionID != r.w.SessionID || n.Mode != "bypassPermissions" {
		t.Errorf("stop %s", n.Raw)
	}
	r.eventually("idle", func() bool {
		l, ok := r.Live(t.Context(), r.pane.PID, r.meta())
		return ok && l.State == Idle && l.SessionID == r.w.SessionID && !l.Since.IsZero()
	})
	if _, err := os.Stat(r.start.TranscriptPath); err != nil {
		t.Errorf("no transcript: %v", err)
	}
	r.home.WriteFile(t, filepath.Join(r.w.CWD, "word.txt"), "")
	for _, prompt := range []string{
		"/help me", "/exit", "!echo $((40+2))", "exit", `ends in a backslash\`, "/tmp/a path/ and words", "look at @wo",
		"several\nlines\nof\ntext\nand more\n", "a tab\there", strings.Repeat("long ", 4000),
	} {
		n := len(r.told("user_prompt_submit"))
		r.turn(prompt)
		got := r.told("user_prompt_submit")[n:]
		if len(got) != 1 || event.Digest(got[0].Prompt) != event.Digest(prompt) {
			t.Errorf("prompt %.80q arrived as %.300q", prompt, got[0].Prompt)
		}
	}

	// A prompt for the turn that runs is told of at once, and reaches the model: within that turn or in one of its own.
	// Which of the two, and whose id its events have, differs from run to run.
	first := make(chan struct{})
	r.model.Add(modelstub.Reply{Text: "first", Until: first, Tools: []modelstub.Tool{{Name: "Bash", Input: map[string]any{"command": "true", "description": "x"}}}})
	r.send("a turn")
	r.asked("a turn")
	r.send("more for it")
	close(first)
	r.asked("more for it")
	told := r.told("user_prompt_submit")
	if a, b := told[len(told)-2], told[len(told)-1]; a.Prompt != "a turn" || b.Prompt != "more for it" {
		t.Errorf("%s\n%s", a.Raw, b.Raw)
	}
	r.eventually("idle", func() bool { l, ok := r.Live(t.Context(), r.pane.PID, r.meta()); return ok && l.State == Idle })

	// A command in the background, and text in the box: both are in the way of /exit.
	r.model.Add(modelstub.Reply{Tools: []modelstub.Tool{{Name: "Bash", Input: map[string]any{
		"command": "sleep 300", "description": "sleep", "run_in_background": true,
	}}}}, modelstub.Reply{Text: "started"})
	r.turn("start it")
	r.eventually("shell", func() bool { l, ok := r.Live(t.Context(), r.pane.PID, r.meta()); return ok && l.State == Shell })
	r.must(r.server.Paste(t.Context(), r.pane.Target(), []byte("half\ntyped\ntext")))
	r.eventually("the text in the box", func() bool { return r.InComposer(r.screen(), "half typed text") })
	r.quit()
	if n := r.waitTold("session_end", 1); n.Reason != "prompt_input_exit" {
		t.Errorf("session_end %s", n.Raw)
	}
	if _, ok := r.Live(t.Context(), r.pane.PID, r.meta()); ok {
		t.Error("a client that ended says that it lives")
	}

	// The same session again.
	start, err := r.Resume(t.Context(), r.worker(), r.w.SessionID)
	r.must(err)
	r.must(r.run(start))
	if n := r.waitTold("session_start", 2); n.Source != "resume" || n.SessionID != r.w.SessionID {
		t.Errorf("session_start %s", n.Raw)
	}
	if _, err := r.Resume(t.Context(), r.worker(), r.w.SessionID); err == nil || !strings.Contains(err.Error(), "is open in process") {
		t.Errorf("a second client on one session: %v", err)
	}
	// In the way of /exit is a dialog now.
	r.must(r.Literal(t.Context(), "/help"))
	r.eventually("the dialog", func() bool {
		r.must(r.Keys(t.Context(), "Enter"))
		l, ok := r.Live(t.Context(), r.pane.PID, r.meta())
		return ok && l.State == Waiting && l.WaitingFor == "dialog"
	})
	if r.InComposer(r.screen(), "/help") {
		t.Error("an Enter would go to the dialog")
	}
	r.quit()
	r.net.RequireNone(t)
}

// TestClaudeAnswersItsQuestions: F15, F16. What csd arranges beforehand, so that nothing is asked, a newer client may
// not know. In each of these questions "No" is chosen at first.
func TestClaudeAnswersItsQuestions(t *testing.T) {
	t.Parallel()
	r := newClaude(t)
	start, err := r.Prepare(t.Context(), r.worker())
	r.must(err)
	start.Launch.Env = withoutArg(start.Launch.Env, "CLAUDE_CODE_SANDBOXED=1")
	for i, arg := range start.Launch.Argv {
		start.Launch.Argv[i] = strings.Replace(arg, `"skipDangerousModePermissionPrompt":true`, `"skipDangerousModePermissionPrompt":false`, 1)
	}
	r.must(r.run(start))
	if n := r.turn("hello"); n.Last != "ok" {
		t.Errorf("stop %s", n.Raw)
	}
	// Broken off in the middle of a turn.
	hold := make(chan struct{})
	defer close(hold)
	r.model.Add(modelstub.Reply{Text: "never", Until: hold})
	r.send("a long turn")
	r.quit()
	r.waitTold("session_end", 1)
}

// TestClaudeThatCannotStartSaysWhy: F17, F18.
func TestClaudeThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	t.Run("root without a sandbox", func(t *testing.T) {
		t.Parallel()
		if os.Getuid() != 0 {
			t.Skip("only root is refused")
		}
		r := newClaude(t)
		r.setenv("IS_SANDBOX", "yes") // the client wants a 1
		start, err := r.Prepare(t.Context(), r.worker())
		r.must(err)
		var died *DiedError
		if err := r.run(start); !errors.As(err, &died) || died.Status != 1 || !strings.Contains(died.Hint, "IS_SANDBOX=1") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a question for a person", func(t *testing.T) {
		t.Parallel()
		r := newClaude(t)
		r.home.WriteJSON(t, filepath.Join(r.w.CWD, ".mcp.json"), map[string]any{"mcpServers": map[string]any{"x": map[string]any{"command": "true"}}})
		start, err := r.Prepare(t.Context(), r.worker())
		r.must(err)
		var dialog *DialogError
		if err := r.run(start); !errors.As(err, &dialog) || !strings.Contains(dialog.Pane, "Use this MCP server") || dialog.Hint == "" {
			t.Errorf("%v", err)
		}
	})
	t.Run("no such session", func(t *testing.T) {
		t.Parallel()
		r := newClaude(t)
		if _, err := r.Resume(context.Background(), r.worker(), r.w.SessionID); err == nil {
			t.Error("resumed a session that never was")
		}
	})
}
