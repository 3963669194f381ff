package fakeharness_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/fakeharness"
)

const claudeID = "cf53166a-d911-4a53-8c62-6dd73c332124"

// claude starts one with every hook.
func (l *lab) claude(env []string, args ...string) {
	l.Helper()
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "SessionEnd", "SubagentStop", "PreCompact"} {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": fmt.Sprintf("cat >>'%s'", l.hooks), "timeout": 10}}}}
	}
	settings, err := json.Marshal(map[string]any{"skipDangerousModePermissionPrompt": true, "hooks": hooks})
	if err != nil {
		l.Fatal(err)
	}
	l.start(env, append([]string{"claude", "--settings", string(settings), "--dangerously-skip-permissions"}, args...)...)
}

func (l *lab) readyClaude(env []string, args ...string) {
	l.Helper()
	fakeharness.SeedClaude(l, l.home, l.work)
	l.claude(env, append([]string{"--session-id", claudeID}, args...)...)
	l.fired("SessionStart", 1)
	l.shows("⏵⏵ bypass permissions on")
}

func (l *lab) claudeStatus() string {
	text, err := os.ReadFile(filepath.Join(l.home, ".claude", "sessions", fmt.Sprint(l.pane.PID)+".json"))
	if err != nil {
		return err.Error()
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		l.Fatal(err)
	}
	return strings.TrimSpace(r.str("status") + " " + r.str("waitingFor"))
}

func TestClaudeTurns(t *testing.T) {
	l := newLab(t)
	l.readyClaude(nil)
	l.send("hello worker")
	stop := l.fired("Stop", 1)
	submit := l.fired("UserPromptSubmit", 1)
	if submit.str("prompt") != "hello worker" || stop.str("last_assistant_message") != "Echo: hello worker" || submit.str("prompt_id") != stop.str("prompt_id") {
		t.Errorf("%v\n%v", submit, stop)
	}
	l.send("SAY I will look.\nTHINK ls\nTOOL echo out; exit 3")
	l.fired("Stop", 2)
	if got := l.events(); got != "SessionStart UserPromptSubmit Stop UserPromptSubmit PreToolUse PostToolUseFailure Stop" {
		t.Errorf("hooks: %s", got)
	}
	if failure := l.fired("PostToolUseFailure", 1); failure.str("error") != "Exit code 3\nout" {
		t.Error(failure)
	}
	var said []string
	for _, r := range l.records(stop.str("transcript_path")) {
		said = append(said, r.str("type")+r.str("subtype")+r.str("origin", "kind"))
	}
	want := "mode permission-mode userhuman last-prompt assistant systemstop_hook_summary systemturn_duration " +
		"userhuman last-prompt assistant assistant assistant user assistant systemstop_hook_summary systemturn_duration"
	l.until("the last record", func() bool { return len(l.records(stop.str("transcript_path"))) >= len(strings.Fields(want)) })
	said = said[:0]
	for _, r := range l.records(stop.str("transcript_path")) {
		said = append(said, r.str("type")+r.str("subtype")+r.str("origin", "kind"))
	}
	if got := strings.Join(said, " "); got != want {
		t.Errorf("the transcript has\n%s\nwant\n%s", got, want)
	}
	l.until("status idle", func() bool { return l.claudeStatus() == "idle" })
	l.send("/exit")
	if end := l.fired("SessionEnd", 1); end.str("reason") != "prompt_input_exit" {
		t.Error(end)
	}
	if p := l.ended(); p.Status != 0 {
		t.Errorf("ended with %d", p.Status)
	}
}

func TestClaudeWrapsLongPastes(t *testing.T) {
	l := newLab(t)
	l.readyClaude(nil)
	text := strings.Repeat("line\twith `x` <b>\n", 1000)
	l.paste(text)
	l.shows("❯ [Pasted text #1 +1000 lines]")
	l.keys("Enter")
	got := l.fired("UserPromptSubmit", 1).str("prompt")
	inner, ok := strings.CutPrefix(got, "\n\n<pasted_content id=\"")
	if _, inner, _ = strings.Cut(inner, ">\n"); !ok || !strings.HasPrefix(inner, strings.ReplaceAll(text, "\t", "    ")+"\n</pasted_content") {
		t.Errorf("%.200q", got)
	}
	l.fired("Stop", 1)
	l.paste("short\ntext")
	l.shows("❯ short\n  text")
	l.keys("C-u", "C-u", "C-u")
	l.until("an empty box", func() bool { return strings.Contains(l.screen(), "\n❯\n") })
}

func TestClaudeQueuesAndFolds(t *testing.T) {
	l := newLab(t)
	l.readyClaude(nil)
	l.send("HANG")
	first := l.fired("UserPromptSubmit", 1)
	l.send("queued one")
	second := l.fired("UserPromptSubmit", 2)
	if second.str("prompt") != "queued one" || second.str("prompt_id") != first.str("prompt_id") {
		t.Errorf("the queued prompt: %v", second)
	}
	if got := l.claudeStatus(); got != "busy" {
		t.Errorf("status %s", got)
	}
	l.keys("Escape") // no hook tells of it
	if stop := l.fired("Stop", 1); stop.str("last_assistant_message") != "Echo: queued one" || stop.str("prompt_id") == first.str("prompt_id") {
		t.Errorf("the queued prompt's end: %v", stop)
	}
	go_ := filepath.Join(l.dir, "go")
	l.send("TOOL until test -e " + go_ + "; do sleep 0.05; done")
	l.fired("PreToolUse", 1)
	l.send("folded")
	l.fired("UserPromptSubmit", 4)
	if err := os.WriteFile(go_, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.fired("Stop", 2)
	l.send("last")
	l.fired("Stop", 3)
	attachments := 0
	for _, r := range l.records(first.str("transcript_path")) {
		if r.str("attachment", "type") == "queued_command" && r.str("attachment", "prompt") == "folded" {
			attachments++
		}
	}
	if attachments != 1 {
		t.Errorf("%d attachments of the folded prompt", attachments)
	}
	if strings.Count(l.events(), " Stop") != 3 {
		t.Errorf("hooks: %s", l.events())
	}
}

func TestClaudeBackgroundWork(t *testing.T) {
	l := newLab(t)
	l.readyClaude(nil)
	l.send("BG sleep 1000")
	if stop := l.fired("Stop", 1); len(stop["background_tasks"].([]any)) != 1 {
		t.Error(stop)
	}
	l.until("status shell", func() bool { return l.claudeStatus() == "shell" })
	l.send("BG exit 7")
	note := l.fired("UserPromptSubmit", 3)
	if !strings.HasPrefix(note.str("prompt"), "<task-notification>") || !strings.Contains(note.str("prompt"), "failed with exit code 7") {
		t.Error(note)
	}
	l.until("two more ends or one", func() bool { return strings.Count(l.events(), " Stop") >= 2 && l.claudeStatus() == "shell" })
	l.send("/exit")
	l.shows("Background work is running")
	if got := l.claudeStatus(); got != "waiting dialog open" {
		t.Errorf("status %s", got)
	}
	l.keys("Enter")
	l.fired("SessionEnd", 1)
	l.ended()
}

func TestClaudeParallelToolsStoppedTasksAndCompaction(t *testing.T) {
	l := newLab(t)
	l.readyClaude(nil)
	// Each waits for the other.
	l.send("PAR touch a; until test -e b; do sleep 0.02; done; echo one | touch b; until test -e a; do sleep 0.02; done; echo two")
	if stop := l.fired("Stop", 1); stop.str("last_assistant_message") != "Tool said: two" {
		t.Error(stop)
	}
	l.send("BG sleep 1000\nSTOPBG\nCOMPACT")
	if stop := l.fired("Stop", 2); len(stop["background_tasks"].([]any)) != 0 {
		t.Error(stop)
	}
	want := "SessionStart UserPromptSubmit PreToolUse PreToolUse PostToolUse PostToolUse Stop " +
		"UserPromptSubmit PreToolUse PostToolUse PreToolUse PostToolUse PreCompact SubagentStop SessionStart Stop"
	if got := l.events(); got != want {
		t.Errorf("hooks: %s", got)
	}
}

func TestClaudeErrorsAndInterruptions(t *testing.T) {
	l := newLab(t)
	l.readyClaude(nil)
	l.send("ERR 529")
	if f := l.fired("StopFailure", 1); f.str("error") != "server_error" || !strings.HasPrefix(f.str("last_assistant_message"), "API Error: 529") {
		t.Error(f)
	}
	l.send("TOOL sleep 1000")
	path := l.fired("PreToolUse", 1).str("transcript_path")
	l.keys("Escape")
	l.until("idle", func() bool { return l.claudeStatus() == "idle" })
	all := l.records(path)
	last := all[len(all)-1]
	if text, err := json.Marshal(last); err != nil || !strings.Contains(string(text), "[Request interrupted by user for tool use]") {
		t.Errorf("the last record: %s, %v", text, err)
	}
	l.send("REMEMBER blue")
	l.fired("Stop", 1)
	if strings.Contains(l.events(), "PostTool") {
		t.Errorf("hooks: %s", l.events())
	}
	if err := l.tmux.Kill(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if end := l.fired("SessionEnd", 1); end.str("reason") != "other" {
		t.Error(end)
	}
	l.claude(nil, "--resume", claudeID)
	if s := l.fired("SessionStart", 2); s.str("source") != "resume" {
		t.Error(s)
	}
	l.shows("⏵⏵ bypass permissions on") // an Enter before that is lost
	l.send("RECALL")
	if stop := l.fired("Stop", 2); stop.str("last_assistant_message") != "Recalled: blue" {
		t.Error(stop)
	}
	l.send("/clear")
	if s := l.fired("SessionStart", 3); s.str("source") != "clear" || s.str("session_id") == claudeID {
		t.Error(s)
	}
}

func TestClaudeAsksAtItsStart(t *testing.T) {
	l := newLab(t)
	fakeharness.SeedClaude(t, l.home)
	l.claude([]string{"ANTHROPIC_API_KEY=sk-ant-0123456789012345678901234567890"}, "--session-id", claudeID)
	l.shows("❯ No, exit")
	l.keys("Down")
	l.shows("❯ Yes, I trust this folder")
	l.keys("Enter")
	l.shows("❯ 2. No (recommended)")
	l.keys("Up")
	l.shows("❯ 1. Yes")
	l.keys("Enter")
	l.fired("SessionStart", 1)
	var global record
	text, err := os.ReadFile(filepath.Join(l.home, ".claude.json"))
	if err == nil {
		err = json.Unmarshal(text, &global)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := global["projects"].(map[string]any)[l.work]; !ok {
		t.Errorf("nothing is kept: %s", text)
	}
}

func TestClaudeRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		args []string
		says string
	}{
		"trust":       {nil, []string{"--session-id", claudeID}, "this folder isn't trusted"},
		"session id":  {[]string{"FAKE_LAX=1"}, []string{"--session-id", "x"}, "Invalid session ID"},
		"resume":      {[]string{"FAKE_LAX=1"}, []string{"--resume", claudeID}, "No conversation found"},
		"first start": {[]string{"HOME=" + filepath.Join(t.TempDir(), "none")}, []string{"--session-id", claudeID}, "Unable to connect"},
		"at once":     {[]string{"FAKE_EXIT=4"}, nil, "ends at once"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			fakeharness.SeedClaude(t, l.home)
			l.claude(c.env, c.args...)
			if name == "trust" {
				l.shows("❯ No, exit")
				l.keys("Enter")
			}
			if p := l.ended(); p.Status == 0 {
				t.Errorf("ended with %d", p.Status)
			}
			if got := l.screen(); !strings.Contains(got, c.says) {
				t.Errorf("the screen has no %q:\n%s", c.says, got)
			}
		})
	}
}

func TestClaudeKnobs(t *testing.T) {
	l := newLab(t)
	dump := filepath.Join(l.dir, "dump")
	l.readyClaude([]string{"FAKE_SWALLOW=2", "FAKE_LOSE_PASTE=1", "FAKE_FAIL=1", "FAKE_NOEXIT=1", "FAKE_DUMP_ENV=" + dump})
	l.paste("lost")
	l.paste("kept")
	l.shows("❯ kept")
	l.keys("Enter")
	l.keys("Enter")
	l.shows("❯ kept")
	l.keys("Enter")
	if f := l.fired("StopFailure", 1); f.str("error") != "rate_limit" {
		t.Error(f)
	}
	if got := l.fired("UserPromptSubmit", 1).str("prompt"); got != "kept" {
		t.Errorf("prompt %q", got)
	}
	l.send("/exit")
	l.send("still here")
	l.fired("StopFailure", 2)
	var d record
	text, err := os.ReadFile(dump)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || d.str("dir") != l.work || !strings.Contains(string(text), `"FAKE_NOEXIT=1"`) {
		t.Errorf("the dump: %s, %v", text, err)
	}
}
