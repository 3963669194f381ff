package fakeharness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// piRoot is the root that the hook of a pi is given; it only shows in the arguments.
const piRoot = "/csd-root"

// pi starts one with csd's extension, whose hook writes to l.hooks.
func (l *lab) pi(env []string, args ...string) {
	l.Helper()
	csd := filepath.Join(l.dir, "csd")
	script := "#!/bin/sh\n[ \"$*\" = 'hook pi " + piRoot + " w' ] || exit 1\n{ cat; echo; } >>'" + l.hooks + "'\n"
	if err := os.WriteFile(csd, []byte(script), 0o700); err != nil {
		l.Fatal(err)
	}
	extension := filepath.Join(l.dir, "csd.mjs")
	if err := os.WriteFile(extension, nil, 0o600); err != nil {
		l.Fatal(err)
	}
	env = append([]string{"PI_CODING_AGENT_DIR=" + l.dir, "CSD_EXE=" + csd, "CSD_WORKER_DIR=" + piRoot, "CSD_TMUX_NAME=w"}, env...)
	l.start(env, append([]string{"pi", "--session-dir", filepath.Join(l.dir, "sessions"), "-e", extension}, args...)...)
}

func (l *lab) readyPi(env []string, args ...string) record {
	l.Helper()
	l.pi(env, args...)
	start := l.fired("session_start", 1)
	l.shows("0.0%/200k (auto)")
	return start
}

func TestPiTurns(t *testing.T) {
	l := newLab(t)
	start := l.readyPi(nil)
	path := start.str("transcript_path")
	if _, err := os.Stat(path); err == nil || start.str("source") != "startup" {
		t.Errorf("a session before the first answer: %v", start)
	}
	l.send("  hello\tthere\n")
	stop := l.fired("stop", 1)
	submit := l.fired("user_prompt_submit", 1)
	if submit.str("prompt") != "hello    there" || stop.str("last_assistant_message") != "Echo: hello    there" || stop.str("stop_reason") != "stop" {
		t.Errorf("%v\n%v", submit, stop)
	}
	l.send("SAY Running it.\nTOOL echo hi; exit 3\nBADTOOL")
	l.fired("stop", 2)
	if got, want := l.events(), "session_start user_prompt_submit stop user_prompt_submit pre_tool_use post_tool_use pre_tool_use post_tool_use stop"; got != want {
		t.Errorf("hooks: %s", got)
	}
	var said []string
	turn := ""
	for _, r := range l.records(path) {
		said = append(said, strings.TrimSuffix(r.str("type")+":"+r.str("message", "role")+":"+r.str("message", "stopReason"), ":"))
		if r.str("message", "role") == "user" && turn == "" {
			turn = r.str("id")
		}
	}
	want := "session: model_change: thinking_level_change: message:user message:assistant:stop message:user message:assistant:toolUse " +
		"message:toolResult message:assistant:toolUse message:toolResult message:assistant:stop"
	if got := strings.Join(said, " "); got != want {
		t.Errorf("the session has\n%s\nwant\n%s", got, want)
	}
	if submit.str("turn_id") != turn || stop.str("turn_id") != turn {
		t.Errorf("turn %s, but %v and %v", turn, submit, stop)
	}
	l.send("/quit")
	if end := l.fired("session_end", 1); end.str("reason") != "quit" {
		t.Error(end)
	}
	if p := l.ended(); p.Status != 0 {
		t.Errorf("ended with %d", p.Status)
	}
}

func TestPiSteersAndGivesBack(t *testing.T) {
	l := newLab(t)
	l.readyPi(nil)
	goes := filepath.Join(l.dir, "go")
	l.send("TOOL until test -e " + goes + "; do sleep 0.05; done")
	l.fired("pre_tool_use", 1)
	l.send("steered one")
	if s := l.fired("user_prompt_submit", 2); s["queued"] != true || s.str("prompt") != "steered one" {
		t.Error(s)
	}
	l.shows("Steering: steered one")
	if err := os.WriteFile(goes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if stop := l.fired("stop", 1); stop.str("last_assistant_message") != "Echo: steered one" {
		t.Error(stop)
	}
	l.send("HANG")
	l.fired("user_prompt_submit", 3)
	l.send("queued")
	l.fired("user_prompt_submit", 4)
	l.keys("Escape")
	if stop := l.fired("stop", 2); stop.str("stop_reason") != "aborted" {
		t.Error(stop)
	}
	l.until("the text in the box", func() bool { return strings.Contains(l.screen(), "─\nqueued\n─") })
	l.keys("C-c")
	l.until("an empty box", func() bool { return strings.Contains(l.screen(), "─\n\n─") })
}

func TestPiTriesAgain(t *testing.T) {
	l := newLab(t)
	if err := os.WriteFile(filepath.Join(l.dir, "settings.json"), []byte(`{"retry":{"baseDelayMs":200}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.readyPi(nil)
	l.send("FLAKY 2")
	l.shows("Retrying (1/3)")
	l.send("lost without a word")
	if stop := l.fired("stop", 1); stop.str("last_assistant_message") != "Recovered." {
		t.Error(stop)
	}
	l.send("ERR 500")
	if stop := l.fired("stop", 2); stop.str("stop_reason") != "error" || stop.str("error") != "500 stub says 500" {
		t.Error(stop)
	}
	l.send("ERR 400")
	l.fired("stop", 3)
	errors := 0
	for _, r := range l.records(l.fired("stop", 1).str("transcript_path")) {
		if r.str("message", "stopReason") == "error" {
			errors++
		}
	}
	if errors != 2+4+1 || strings.Contains(l.events(), "user_prompt_submit user_prompt_submit") {
		t.Errorf("%d errors; hooks: %s", errors, l.events())
	}
}

func TestPiTakesCommandsAsTextAndResumes(t *testing.T) {
	l := newLab(t)
	start := l.readyPi(nil)
	l.send("csd:text:/quit REMEMBER me")
	if s := l.fired("user_prompt_submit", 1); s.str("prompt") != "/quit REMEMBER me" {
		t.Error(s)
	}
	l.fired("stop", 1)
	l.send("!echo ran")
	l.shows("$ echo ran")
	l.send("REMEMBER green")
	l.fired("stop", 2)
	if err := l.tmux.Kill(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if end := l.fired("session_end", 1); end.str("reason") != "exit" {
		t.Error(end)
	}
	l.pi(nil, "--session", start.str("session_id"))
	if again := l.fired("session_start", 2); again.str("session_id") != start.str("session_id") || again.str("transcript_path") != start.str("transcript_path") {
		t.Error(again)
	}
	l.shows("(auto)")
	l.send("RECALL")
	if stop := l.fired("stop", 3); stop.str("last_assistant_message") != "Recalled: green" {
		t.Error(stop)
	}
	l.send("/new")
	if other := l.fired("session_start", 3); other.str("source") != "new" || other.str("session_id") == start.str("session_id") {
		t.Error(other)
	}
}
