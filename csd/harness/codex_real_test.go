package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/internal/modelstub"
)

// newCodex is a rig of a Codex with an API key for a login, and a model that is given in the arguments.
func newCodex(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, "codex")
	r.home.WriteJSON(t, filepath.Join(r.home.User, ".codex", "auth.json"), map[string]any{"auth_mode": "apikey", "OPENAI_API_KEY": "stub-key"})
	// It fetches a tip of the day from a public server and has no switch for that: nobody listens on this proxy.
	r.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	r.setenv("NO_PROXY", "127.0.0.1")
	r.w.Args = []string{"-c", "openai_base_url=" + strconv.Quote(r.model.URL()+"/v1"), "-c", "features.plugins=false"}
	return r
}

func execTool(command string) modelstub.Tool {
	return modelstub.Tool{Name: "exec_command", Input: map[string]any{"cmd": command, "yield_time_ms": 10000}}
}

// TestCodexStartsTakesPromptsAsTextAndEnds is one life of a worker, and a second one of its session. Its folder is
// below the operator's home, which the client abbreviates, and a repository, which it asks about.
func TestCodexStartsTakesPromptsAsTextAndEnds(t *testing.T) {
	t.Parallel()
	r := newCodex(t)
	r.w.CWD = filepath.Join(r.home.User, `a "quoted" \ é folder`, strings.Repeat("with a long name/", 10))
	r.must(os.MkdirAll(filepath.Join(r.w.CWD, ".git"), 0o700))
	r.setenv("CODEX_THREAD_ID", "11111111-2222-4333-8444-555555555555") // F22
	r.launch()
	if exe, err := os.Readlink("/proc/" + strconv.Itoa(r.pane.PID) + "/exe"); err == nil && filepath.Base(exe) != "codex" {
		t.Errorf("the pane's process is %s", exe)
	}

	r.model.Add(modelstub.Reply{Text: "I look.", Tools: []modelstub.Tool{execTool("echo $((40+2))")}}, modelstub.Reply{Text: "42"})
	end := r.turn("count\nfor me")
	begun, asked := r.waitTold("session_start", 1), r.told("user_prompt_submit")[0]
	if end.Last != "42" || end.TurnID == "" || end.TurnID != asked.TurnID || asked.Prompt != "count\nfor me" || end.SessionID != begun.SessionID {
		t.Errorf("stop %s after %s", end.Raw, asked.Raw)
	}
	if !strings.HasPrefix(begun.Transcript, filepath.Join(r.w.Home, "sessions")) || begun.Mode != "bypassPermissions" {
		t.Errorf("session_start %s", begun.Raw)
	}
	before, after := r.waitTold("pre_tool_use", 1), r.waitTold("post_tool_use", 1)
	if before.Tool != "Bash" || before.ToolID == "" || before.ToolID != after.ToolID {
		t.Errorf("%s, %s", before.Raw, after.Raw)
	}
	r.home.WriteFile(t, filepath.Join(r.w.CWD, "word.txt"), "")
	for _, prompt := range []string{
		"/help me", "use $sk", "/quit", "!echo $((40+2))", "exit", `ends in a backslash\`, "look at @wo",
		"several\n\nlines\nof\ntext\n", "a tab\there", strings.Repeat("long ", 4000),
	} {
		n := len(r.told("user_prompt_submit"))
		r.turn(prompt)
		got := r.told("user_prompt_submit")[n:]
		if len(got) != 1 || event.Digest(got[0].Prompt) != event.Digest(prompt) {
			t.Errorf("prompt %.80q arrived as %+v", prompt, got)
		}
	}

	// A prompt for the turn that runs leaves the box at once, and is told of when that turn takes it in.
	first := make(chan struct{})
	r.model.Add(modelstub.Reply{Text: "first", Until: first, Tools: []modelstub.Tool{execTool("true")}}, modelstub.Reply{Text: "both"})
	stops, prompts := len(r.told("stop")), len(r.told("user_prompt_submit"))
	r.send("a turn")
	r.asked("a turn")
	r.paste("more for it")
	r.enter("more for it", func() bool { return !r.InComposer(r.screen(), "more for it") })
	close(first)
	end = r.waitTold("stop", stops+1)
	told := r.told("user_prompt_submit")[prompts:]
	if len(told) != 2 || told[1].Prompt != "more for it" || told[0].TurnID != told[1].TurnID || end.TurnID != told[1].TurnID || end.Last != "both" {
		t.Errorf("prompts %+v, then %s", told, end.Raw)
	}

	// Text in the box and a turn that runs are both in the way of /quit.
	hold := make(chan struct{})
	defer close(hold)
	r.model.Add(modelstub.Reply{Text: "never", Until: hold})
	r.send("a long turn")
	r.asked("a long turn") // else the next question gets the answer that never comes
	r.must(r.server.Paste(t.Context(), r.pane.Target(), []byte("half\ntyped")))
	r.eventually("the text in the box", func() bool { return r.InComposer(r.screen(), "half typed") })
	r.quit()
	r.waitTold("interrupt", 1)
	r.waitTold("session_end", 1)

	// Its session again, from what is put aside.
	m := r.meta()
	m.SessionID, m.TranscriptPath = begun.SessionID, begun.Transcript
	r.must(r.Keep(t.Context(), r.worker(), m))
	r.must(os.RemoveAll(r.w.Home))
	start, err := r.Resume(t.Context(), r.worker(), begun.SessionID)
	r.must(err)
	r.must(r.run(start))
	r.model.Otherwise(func(modelstub.Request) modelstub.Reply { return modelstub.Reply{Text: "I remember."} })
	if n := r.turn("and now?"); n.Last != "I remember." || n.SessionID != begun.SessionID {
		t.Errorf("stop %s", n.Raw)
	}
	if n := r.waitTold("session_start", 2); n.Source != "resume" || n.Transcript != start.TranscriptPath {
		t.Errorf("session_start %s, want transcript %s", n.Raw, start.TranscriptPath)
	}
	r.remembers("and now?", "count\nfor me")
	r.quit()
	r.net.RequireNone(t)
}

// TestCodexWithoutALoginSaysSo: F17.
func TestCodexWithoutALoginSaysSo(t *testing.T) {
	t.Parallel()
	r := newCodex(t)
	r.must(os.RemoveAll(filepath.Join(r.home.User, ".codex")))
	start, err := r.Prepare(t.Context(), r.worker())
	r.must(err)
	var dialog *DialogError
	if err := r.run(start); !errors.As(err, &dialog) || dialog.What != "login" {
		t.Errorf("%v", err)
	}
	r.quit()
}

// TestCodexAnswersItsQuestions: what csd writes down beforehand, so that nothing is asked, a newer client may not know.
func TestCodexAnswersItsQuestions(t *testing.T) {
	t.Parallel()
	r := newCodex(t)
	r.must(os.MkdirAll(filepath.Join(r.w.CWD, ".git"), 0o700))
	start, err := r.Prepare(t.Context(), r.worker())
	r.must(err)
	config := filepath.Join(r.w.Home, "config.toml")
	text := mustRead(t, config)
	for _, known := range []string{`"gpt-5.5" = "gpt-6-sol"`, `trust_level = "trusted"`} {
		if !strings.Contains(text, known) {
			t.Fatalf("the configuration has no %s", known)
		}
		text = strings.Replace(text, known, "", 1)
	}
	r.home.WriteFile(t, config, text)
	start.Launch.Argv = withoutArg(start.Launch.Argv, "--dangerously-bypass-hook-trust")
	r.must(r.run(start))
	if n := r.turn("hello"); n.Last != "ok" {
		t.Errorf("stop %s", n.Raw)
	}
	if got := mustRead(t, config); !strings.Contains(got, `model = "gpt-5.5"`) {
		t.Errorf("the model was changed: %s", got)
	}
	r.quit()
}

func withoutArg(argv []string, arg string) []string {
	var out []string
	for _, a := range argv {
		if a != arg {
			out = append(out, a)
		}
	}
	return out
}
