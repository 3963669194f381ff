package fakeharness_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// members are the names of an object in their order.
func members(t *testing.T, raw []byte) (names []string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
	}
	return names
}

func rawLines(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

// sameHooks compares what hooks were told with what the real client's are told: name by name, in their order.
func (l *lab) sameHooks(sample string, events ...string) {
	l.Helper()
	read := func(path string, of map[string]string) {
		for _, raw := range rawLines(l.T, path) {
			var r record
			if err := json.Unmarshal(raw, &r); err != nil {
				l.Fatal(err)
			}
			if _, seen := of[r.str("hook_event_name")]; !seen {
				of[r.str("hook_event_name")] = strings.Join(members(l.T, raw), " ")
			}
		}
	}
	real, ours := map[string]string{}, map[string]string{}
	read(filepath.Join("testdata", sample), real)
	read(l.hooks, ours)
	for _, event := range events {
		if ours[event] != real[event] || ours[event] == "" {
			l.Errorf("%s has\n%s\nwant\n%s", event, ours[event], real[event])
		}
	}
}

// shapes are the paths of a value's members with the kinds of their values.
func shapes(v any, path string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			shapes(inner, path+"."+name, into)
		}
	case []any:
		for _, inner := range v {
			shapes(inner, path+"[]", into)
		}
		into[path+" list"] = true
	case nil:
	default:
		into[fmt.Sprintf("%s %T", path, v)] = true
	}
}

// kindOf is what tells one record from another.
func kindOf(r record) string {
	kind := r.str("type") + " " + r.str("subtype") + " " + r.str("payload", "type") + " " + r.str("payload", "item", "type") + " " + r.str("message", "role")
	if message, ok := r["message"].(map[string]any); ok {
		if blocks, ok := message["content"].([]any); ok && len(blocks) > 0 && r.str("parentUuid") != "" {
			kind += " " + record(blocks[0].(map[string]any)).str("type")
		}
	}
	return kind
}

// sameRecords checks that a transcript has no record, no member and no kind of value that the real client's have not.
func (l *lab) sameRecords(sample, path string, invented ...string) {
	l.Helper()
	real := map[string]map[string]bool{}
	for _, r := range l.records(filepath.Join("testdata", sample)) {
		kind := kindOf(r)
		if real[kind] == nil {
			real[kind] = map[string]bool{}
		}
		shapes(map[string]any(r), "", real[kind])
	}
	kinds := 0
	for _, r := range l.records(path) {
		kind := kindOf(r)
		if real[kind] == nil {
			l.Errorf("no real record is a %q", kind)
			continue
		}
		kinds++
		ours := map[string]bool{}
		shapes(map[string]any(r), "", ours)
		var odd []string
		for shape := range ours {
			if !real[kind][shape] && !slices.ContainsFunc(invented, func(s string) bool { return strings.HasPrefix(shape, s) }) {
				odd = append(odd, shape)
			}
		}
		if sort.Strings(odd); len(odd) > 0 {
			l.Errorf("a real %q has no %v", kind, odd)
		}
	}
	if kinds < 8 {
		l.Errorf("only %d records were compared", kinds)
	}
}

func TestClaudeIsLikeTheSamples(t *testing.T) {
	l := newLab(t)
	l.readyClaude(nil)
	l.send("THINK hm\nSAY I look.\nTOOL echo a\nTOOL exit 3")
	l.fired("Stop", 1)
	goes := filepath.Join(l.dir, "goes")
	l.send("BG until test -e " + goes + "; do sleep 0.02; done")
	l.fired("Stop", 2)
	l.until("the end of the turn", func() bool { return l.claudeStatus() == "shell" })
	if err := os.WriteFile(goes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.fired("Stop", 3)
	l.send("ERR 529")
	path := l.fired("StopFailure", 1).str("transcript_path")
	l.send("/compact")
	l.fired("PreCompact", 1)
	l.fired("SessionStart", 2)
	l.send("/exit")
	l.fired("SessionEnd", 1)
	l.sameHooks("claude-hooks.jsonl", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "SessionEnd", "PreCompact")
	l.sameRecords("claude-records.jsonl", path, ".toolUseResult", ".message.content[].input", ".isMeta")
}

func TestCodexIsLikeTheSamples(t *testing.T) {
	l := newLab(t)
	l.readyCodex(nil)
	l.send("THINK hm\nSAY I look.\nTOOL echo a\nPATCH new.txt\nBG sleep 1000")
	l.fired("Stop", 1)
	l.send("HANG")
	l.fired("UserPromptSubmit", 2)
	l.keys("Escape")
	path := l.fired("Interrupt", 1).str("transcript_path")
	l.send("ERR 400")
	l.until("the end of the failed turn", func() bool { return strings.Count(l.rollout(path), "task_complete") == 2 })
	l.send("/compact")
	l.fired("PreCompact", 1)
	l.send("/quit")
	l.fired("SessionEnd", 1)
	l.sameHooks("codex-hooks.jsonl", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "Interrupt", "PreCompact", "SessionEnd")
	l.sameRecords("codex-records.jsonl", path, ".payload.item.changes")
}

func TestPiIsLikeTheSamples(t *testing.T) {
	l := newLab(t)
	path := l.readyPi(nil).str("transcript_path")
	l.send("THINK hm\nSAY I look.\nTOOL echo a\nBADTOOL")
	l.fired("stop", 1)
	l.send("ERR 400")
	l.fired("stop", 2)
	l.send("HANG")
	l.fired("user_prompt_submit", 3)
	l.keys("Escape")
	l.fired("stop", 3)
	l.sameRecords("pi-records.jsonl", path)
}
