package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/internal/modelstub"
)

// newPi is a rig of a Pi whose operator has a model and a login.
func newPi(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, "pi")
	operator := filepath.Join(r.home.User, ".pi", "agent")
	r.home.WriteJSON(t, filepath.Join(operator, "models.json"), map[string]any{"providers": map[string]any{"stub": map[string]any{
		"baseUrl": r.model.URL() + "/v1", "api": "openai-completions", "apiKey": "stub-key",
		"models": []any{map[string]any{"id": "stub-model", "contextWindow": 200000, "maxTokens": 8000}},
	}}})
	r.home.WriteJSON(t, filepath.Join(operator, "settings.json"), map[string]any{
		"defaultProvider": "stub", "defaultModel": "stub-model",
		"retry": map[string]any{"maxRetries": 2, "baseDelayMs": 1000},
	})
	r.home.WriteFile(t, filepath.Join(operator, "auth.json"), `{"other":{"type":"oauth","expires":1000}}`)
	r.setenv("PI_OFFLINE", "1")
	return r
}

func bashTool(command string) modelstub.Tool {
	return modelstub.Tool{Name: "bash", Input: map[string]any{"command": command}}
}

// TestPiStartsTakesPromptsAsTextAndEnds is one life of a worker, and a second one of its session.
func TestPiStartsTakesPromptsAsTextAndEnds(t *testing.T) {
	t.Parallel()
	r := newPi(t)
	r.launch()
	begun := r.waitTold("session_start", 1)
	if begun.SessionID == "" || !strings.HasPrefix(begun.Transcript, r.w.Home) || begun.Source != "startup" || begun.PID != r.pane.PID {
		t.Errorf("session_start %s", begun.Raw)
	}
	if l, ok := r.Live(t.Context(), r.pane.PID, r.meta()); !ok || l.State != Idle || l.SessionID != begun.SessionID {
		t.Errorf("live %+v %v", l, ok)
	}

	r.model.Add(modelstub.Reply{Text: "I look.", Tools: []modelstub.Tool{bashTool("echo $((40+2))")}}, modelstub.Reply{Text: "42"})
	end := r.turn("count\nfor me")
	asked := r.told("user_prompt_submit")[0]
	if end.Last != "42" || end.StopReason != "stop" || end.TurnID == "" || end.TurnID != asked.TurnID || asked.Prompt != "count\nfor me" {
		t.Errorf("stop %s after %s", end.Raw, asked.Raw)
	}
	if !strings.Contains(mustRead(t, begun.Transcript), `"id":"`+end.TurnID+`"`) {
		t.Errorf("the transcript has no entry %s", end.TurnID)
	}
	before, after := r.waitTold("pre_tool_use", 1), r.waitTold("post_tool_use", 1)
	if before.Tool != "bash" || before.ToolID == "" || before.ToolID != after.ToolID || !strings.Contains(string(before.Input), "40+2") {
		t.Errorf("%s, %s", before.Raw, after.Raw)
	}

	r.home.WriteFile(t, filepath.Join(r.w.CWD, "word.txt"), "")
	for _, prompt := range []string{
		"/quit", "/skill:none at all", "!echo $((40+2))", "csd:text:/x", `ends in a backslash\`, "look at @wo",
		"several\n\nlines\nof\ntext\n", "a tab\there", strings.Repeat("long ", 4000),
	} {
		n := len(r.told("user_prompt_submit"))
		r.turn(prompt)
		got := r.told("user_prompt_submit")[n:]
		if len(got) != 1 || event.Digest(got[0].Prompt) != event.Digest(prompt) {
			t.Errorf("prompt %.80q arrived as %+v", prompt, got)
		}
	}

	// A prompt for the turn that runs is told of at once, and is no turn.
	hold := make(chan struct{})
	r.model.Add(modelstub.Reply{Text: "first", Tools: []modelstub.Tool{bashTool("true")}, Until: hold}, modelstub.Reply{Text: "both"})
	stops := len(r.told("stop"))
	r.send("a long turn")
	r.send("/steer it")
	close(hold)
	end = r.waitTold("stop", stops+1)
	told := r.told("user_prompt_submit")
	if last := told[len(told)-1]; !last.Queued || last.Prompt != "/steer it" || last.TurnID != end.TurnID || end.Last != "both" {
		t.Errorf("%s, then %s", last.Raw, end.Raw)
	}

	// Text in the box and a command that runs are both in the way of /quit.
	r.model.Add(modelstub.Reply{Tools: []modelstub.Tool{bashTool("sleep 300")}})
	r.send("sleep")
	r.waitTold("pre_tool_use", 3)
	r.must(r.server.Paste(t.Context(), r.pane.Target(), []byte("half typed")))
	r.eventually("the text in the box", func() bool { return r.InComposer(r.screen(), "half typed") })
	r.quit()
	if n := r.waitTold("session_end", 1); n.Reason != "quit" {
		t.Errorf("session_end %s", n.Raw)
	}
	if got := r.told("stop"); got[len(got)-1].StopReason != "aborted" {
		t.Errorf("the turn that was broken off ended with %s", got[len(got)-1].Raw)
	}

	// Its session again, from what is put aside, in another folder.
	m := r.meta()
	m.SessionID, m.TranscriptPath = begun.SessionID, begun.Transcript
	r.must(r.Keep(t.Context(), r.worker(), m))
	r.must(os.RemoveAll(r.w.Home))
	r.w.CWD = r.home.Tmp
	start, err := r.Resume(t.Context(), r.worker(), begun.SessionID)
	r.must(err)
	r.must(r.run(start))
	if n := r.waitTold("session_start", 2); n.SessionID != begun.SessionID {
		t.Errorf("session_start %s", n.Raw)
	}
	r.model.Add(modelstub.Reply{Text: "I remember."})
	if n := r.turn("and now?"); n.Last != "I remember." {
		t.Errorf("stop %s", n.Raw)
	}
	r.remembers("and now?", "a long turn")

	// F32: a person begins another session in the same client.
	r.must(r.Literal(t.Context(), "/new"))
	r.eventually("the command", func() bool { return r.InComposer(r.screen(), "/new") })
	r.must(r.Keys(t.Context(), "Enter"))
	next := r.waitTold("session_start", 3)
	if next.Source != "new" || next.SessionID == begun.SessionID {
		t.Errorf("session_start %s", next.Raw)
	}
	r.model.Add(modelstub.Reply{Text: "a fresh start"})
	if n := r.turn("who are you?"); n.SessionID != next.SessionID || n.Transcript == begun.Transcript || n.Last != "a fresh start" {
		t.Errorf("stop %s", n.Raw)
	}
	if n := len(r.told("session_end")); n != 1 {
		t.Errorf("%d session_end events while it lives", n)
	}
	// The terminal goes away under it.
	r.must(r.server.Kill(t.Context(), r.w.Name))
	if n := r.waitTold("session_end", 2); n.Reason != "exit" || n.SessionID != next.SessionID {
		t.Errorf("session_end %s", n.Raw)
	}
	r.net.RequireNone(t)
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPiSaysOneStopForAllItsRetries, with its error, and that a prompt would be lost meanwhile.
func TestPiSaysOneStopForAllItsRetries(t *testing.T) {
	t.Parallel()
	r := newPi(t)
	r.launch()
	r.model.Otherwise(func(modelstub.Request) modelstub.Reply { return modelstub.Reply{Status: 503, Message: "out of order"} })
	r.send("fail")
	r.eventually("retrying", func() bool { l, ok := r.Live(t.Context(), r.pane.PID, r.meta()); return ok && l.State == Retrying })
	if n := len(r.told("stop")); n != 0 {
		t.Errorf("%d stops while it tries again", n)
	}
	end := r.waitTold("stop", 1)
	if end.StopReason != "error" || !strings.Contains(end.Error, "503") || end.TurnID != r.told("user_prompt_submit")[0].TurnID {
		t.Errorf("stop %s", end.Raw)
	}
	r.model.Otherwise(func(modelstub.Request) modelstub.Reply { return modelstub.Reply{Text: "well again"} })
	if n := r.turn("again"); n.Last != "well again" || n.Error != "" || len(r.told("stop")) != 2 {
		t.Errorf("stop %s", n.Raw)
	}
	// In order also when it is told to end by a signal.
	proc, err := os.FindProcess(r.pane.PID)
	r.must(err)
	r.must(proc.Signal(syscall.SIGTERM))
	if n := r.waitTold("session_end", 1); n.Reason != "quit" {
		t.Errorf("session_end %s", n.Raw)
	}
}

// TestPiReturnsARenewedLogin.
func TestPiReturnsARenewedLogin(t *testing.T) {
	t.Parallel()
	r := newPi(t)
	operator := filepath.Join(r.home.User, ".pi", "agent", "auth.json")
	if _, err := r.Prepare(t.Context(), r.worker()); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(r.w.Home, "auth.json")
	if got := mustRead(t, ours); got != mustRead(t, operator) {
		t.Errorf("the copy is %q", got)
	}
	r.home.WriteFile(t, ours, `{"other":{"type":"oauth","expires":2000}}`)
	r.must(r.Return(t.Context(), r.worker()))
	if got := mustRead(t, operator); !strings.Contains(got, "2000") {
		t.Errorf("the operator has %q", got)
	}
}

// TestPiWithoutAModelSaysSo: it would take prompts, and lose them.
func TestPiWithoutAModelSaysSo(t *testing.T) {
	t.Parallel()
	r := newPi(t)
	r.must(os.RemoveAll(filepath.Join(r.home.User, ".pi")))
	start, err := r.Prepare(t.Context(), r.worker())
	r.must(err)
	var dialog *DialogError
	if err := r.run(start); !errors.As(err, &dialog) || dialog.What != "login" {
		t.Errorf("%v", err)
	}
	r.quit()
}
