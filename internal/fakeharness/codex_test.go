package fakeharness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// codex starts one with every hook. The configuration has a login's place taken by a provider.
func (l *lab) codex(env []string, args ...string) {
	l.Helper()
	config := fmt.Sprintf("model = \"gpt-5.5\" # the old one\nmodel_provider = 'stub'\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n[projects.%s]\ntrust_level = \"trusted\"\n", strconv.Quote(l.work))
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "Interrupt", "SessionEnd", "PreCompact"} {
		config += fmt.Sprintf("[[hooks.%s]]\nmatcher = \".*\"\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = %s\ntimeout = 3\n", event, event, strconv.Quote("cat >>'"+l.hooks+"'"))
	}
	if err := os.WriteFile(filepath.Join(l.dir, "config.toml"), []byte(config), 0o600); err != nil {
		l.Fatal(err)
	}
	l.start(append([]string{"CODEX_HOME=" + l.dir}, env...),
		append(append([]string{"codex"}, args...), "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--no-daemon", "-C", l.work)...)
}

func (l *lab) readyCodex(env []string) {
	l.Helper()
	l.codex(env)
	l.shows("GPT-5.5 default · " + l.work)
}

// rollout has the types of its records, in short.
func (l *lab) rollout(path string) string {
	l.Helper()
	var all []string
	for i, r := range l.records(path) {
		if int(r["ordinal"].(float64)) != i {
			l.Errorf("record %d is numbered %v", i, r["ordinal"])
		}
		word := r.str("type")
		if kind := r.str("payload", "type"); kind != "" {
			word = kind
		}
		if item := r.str("payload", "item", "type"); item != "" {
			word = item
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

func TestCodexTurns(t *testing.T) {
	l := newLab(t)
	l.readyCodex(nil)
	locks, err := filepath.Glob(filepath.Join(l.dir, "thread-writer-locks", "*.lock"))
	if err != nil || len(locks) != 1 || l.events() != "" {
		t.Errorf("locks %v, %v; hooks %s", locks, err, l.events())
	}
	l.send("  line one\nline\ttwo\n")
	stop := l.fired("Stop", 1)
	submit, start := l.fired("UserPromptSubmit", 1), l.fired("SessionStart", 1)
	if submit.str("prompt") != "line one\nline\ttwo" || stop.str("last_assistant_message") != "Echo: line one\nline\ttwo" || submit.str("turn_id") != stop.str("turn_id") {
		t.Errorf("%v\n%v", submit, stop)
	}
	if start.str("source") != "startup" || filepath.Base(locks[0]) != start.str("session_id")+".lock" || start.str("permission_mode") != "bypassPermissions" {
		t.Error(start)
	}
	l.send("THINK about it\nSAY I will run it.\nTOOL echo hi-tool; exit 3\nPATCH new.txt")
	l.fired("Stop", 2)
	if got, want := l.events(), "SessionStart UserPromptSubmit Stop UserPromptSubmit PreToolUse PostToolUse PreToolUse PostToolUse Stop"; got != want {
		t.Errorf("hooks: %s", got)
	}
	path := stop.str("transcript_path")
	want := "session_meta task_started message message UserMessage AgentMessage message task_complete " +
		"task_started message UserMessage Reasoning reasoning AgentMessage message function_call CommandExecution function_call_output " +
		"custom_tool_call FileChange custom_tool_call_output AgentMessage message task_complete"
	l.until("the end of the turn", func() bool { return len(strings.Fields(l.rollout(path))) >= len(strings.Fields(want)) })
	if got := l.rollout(path); got != want {
		t.Errorf("the rollout has\n%s\nwant\n%s", got, want)
	}
	l.send(" /not a command")
	if s := l.fired("UserPromptSubmit", 3); s.str("prompt") != "/not a command" {
		t.Error(s)
	}
	l.fired("Stop", 3)
	l.send("/unknown")
	l.shows("Unrecognized command '/unknown'")
	l.keys("C-c")
	l.shows("› Ask Codex to do anything")
	l.send("/quit")
	if end := l.fired("SessionEnd", 1); end.str("reason") != "other" {
		t.Error(end)
	}
	if p := l.ended(); p.Status != 0 {
		t.Errorf("ended with %d", p.Status)
	}
}

func TestCodexQueuesFoldsAndInterrupts(t *testing.T) {
	l := newLab(t)
	l.readyCodex(nil)
	goes := filepath.Join(l.dir, "go")
	l.send("TOOL until test -e " + goes + "; do sleep 0.05; done")
	first := l.fired("PreToolUse", 1)
	l.send("folded")
	l.shows("↳ folded")
	if err := os.WriteFile(goes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := l.fired("UserPromptSubmit", 2); s.str("prompt") != "folded" || s.str("turn_id") != first.str("turn_id") {
		t.Error(s)
	}
	l.fired("Stop", 1)
	l.send("HANG")
	l.fired("UserPromptSubmit", 3)
	l.send("next")
	l.shows("↳ next")
	l.keys("Escape")
	l.fired("Interrupt", 1)
	if stop := l.fired("Stop", 2); stop.str("last_assistant_message") != "Echo: next" {
		t.Error(stop)
	}
	l.send("ERR 400")
	l.until("the end of the failed turn", func() bool {
		all := l.records(first.str("transcript_path"))
		return all[len(all)-1].str("payload", "error", "codex_error_info") == "other"
	})
	if got := l.rollout(first.str("transcript_path")); strings.Count(got, "turn_aborted") != 1 || strings.Count(l.events(), "Stop") != 2 {
		t.Errorf("the rollout has %s\nhooks: %s", got, l.events())
	}
}

func TestCodexBackgroundTerminalsAndResume(t *testing.T) {
	l := newLab(t)
	l.readyCodex(nil)
	l.send("BG sleep 1000\nREMEMBER red")
	stop := l.fired("Stop", 1)
	l.shows("1 background terminals running")
	l.send("/stop")
	ended := func() bool {
		for _, r := range l.records(stop.str("transcript_path")) {
			if r.str("payload", "item", "type") == "CommandExecution" {
				item := r["payload"].(map[string]any)["item"].(map[string]any)
				return item["exit_code"] == -1.0 && item["status"] == "failed"
			}
		}
		return false
	}
	l.until("the end of the terminal", ended)
	l.send("BG sleep 0.3; echo done\nPOLL")
	if after := l.fired("PostToolUse", 1); after.str("tool_response") != "done\n" {
		t.Error(after)
	}
	l.fired("Stop", 2)
	if err := l.tmux.Kill(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	l.codex(nil, "resume", stop.str("session_id"))
	l.shows("GPT-5.5 default · " + l.work)
	l.send("RECALL")
	again := l.fired("Stop", 3)
	if start := l.fired("SessionStart", 2); start.str("source") != "resume" || start.str("session_id") != stop.str("session_id") || again.str("last_assistant_message") != "Recalled: red" {
		t.Errorf("%v\n%v", start, again)
	}
	l.rollout(stop.str("transcript_path")) // numbered on
	l.send("/clear")
	l.send("another")
	if start := l.fired("SessionStart", 3); start.str("source") != "clear" || start.str("session_id") == stop.str("session_id") {
		t.Error(start)
	}
	if strings.Contains(l.events(), "SessionEnd") {
		t.Errorf("hooks: %s", l.events())
	}
}

func TestCodexAsksAtItsStart(t *testing.T) {
	l := newLab(t)
	if err := os.Mkdir(filepath.Join(l.work, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := "model = \"gpt-5.5\"\nmodel_provider = \"stub\"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"true\"\n"
	if err := os.WriteFile(filepath.Join(l.dir, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	l.start([]string{"CODEX_HOME=" + l.dir}, "codex")
	l.shows("Hooks need review")
	l.keys("2")
	l.shows("Meet GPT-6 Sol")
	l.keys("Down")
	l.shows("› 2. Use existing model")
	l.keys("Enter")
	l.shows("Trust this folder?")
	l.keys("Enter")
	l.shows("GPT-5.5 default · " + l.work)
}
