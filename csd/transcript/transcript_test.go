package transcript

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// file writes a transcript of records, a line each.
func file(t testing.TB, records ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(records, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// add appends records to a transcript, and gives where they begin.
func add(t testing.TB, path string, records ...string) int64 {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(records, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func last(t testing.TB, kind Kind, path string) Turn {
	t.Helper()
	turn, err := Last(kind, path)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// digest stands for the digest of the events: only that it is the same for the same text matters here.
func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

const (
	person  = `{"type":"user","promptId":"p1","uuid":"u1","origin":{"kind":"human"},"message":{"role":"user","content":"do it"}}`
	working = `{"type":"assistant","uuid":"u2","message":{"id":"m1","role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"working on it"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"true"}}]}}`
	ran     = `{"type":"user","promptId":"p1","uuid":"u3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`
	done    = `{"type":"assistant","uuid":"u4","message":{"id":"m2","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]}}`
	over    = `{"type":"system","subtype":"turn_duration","uuid":"u5"}`
)

func TestF24_TornLastLineIsNotThereYet(t *testing.T) {
	path := file(t, person, working, ran)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(done); err != nil {
		t.Fatal(err)
	}
	if turn := last(t, Claude, path); turn.Complete() || turn.FinalText() != "working on it" {
		t.Errorf("complete %t, final %q", turn.Complete(), turn.FinalText())
	}
	if _, err := f.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if turn := last(t, Claude, path); !turn.Complete() || turn.FinalText() != "done" {
		t.Errorf("complete %t, final %q", turn.Complete(), turn.FinalText())
	}
}

func TestF37_StopBeforeTheClosingMessage(t *testing.T) {
	path := file(t, person)
	for _, step := range []struct {
		record   string
		complete bool
		final    string
	}{
		{working, false, "working on it"},
		{ran, false, "working on it"},
		{`{"type":"assistant","message":{"id":"m2","role":"assistant","stop_reason":"end_turn","content":[{"type":"thinking","thinking":"hm"}]}}`, false, "working on it"},
		{done, true, "done"},
		{over, true, "done"},
	} {
		add(t, path, step.record)
		if turn := last(t, Claude, path); turn.Complete() != step.complete || turn.FinalText() != step.final {
			t.Errorf("after %s: complete %t, final %q", step.record, turn.Complete(), turn.FinalText())
		}
	}
}

func TestF36_FindPromptThatWasFoldedIntoARunningTurn(t *testing.T) {
	path := file(t, person, working)
	at := add(t, path, ran,
		`{"type":"attachment","isSidechain":false,"attachment":{"type":"queued_command","prompt":"and that","commandMode":"prompt","origin":{"kind":"human"}}}`)
	if _, err := FindPrompt(Claude, path, at, digest, digest("not there")); !errors.Is(err, ErrNoTurn) {
		t.Errorf("a prompt that is not there: %v", err)
	}
	add(t, path, done, over)
	for _, offset := range []int64{at, at - 7} { // in the middle of a line, too
		turn, err := FindPrompt(Claude, path, offset, digest, digest("and that"))
		if err != nil {
			t.Fatal(err)
		}
		if turn.ID != "p1" || turn.Prompt != "do it" || turn.FinalText() != "done" || turn.Items[3].Kind != ItemPrompt || turn.Items[3].Text != "and that" {
			t.Errorf("%+v", turn)
		}
	}
	if _, err := FindPrompt(Claude, path, at, digest, digest("do it")); !errors.Is(err, ErrNoTurn) {
		t.Errorf("a prompt before the offset: %v", err)
	}
	turn, err := Find(Claude, path, "p1")
	if err != nil || turn.FinalText() != "done" {
		t.Errorf("%+v, %v", turn, err)
	}
}

func TestF36_QueuedPromptIsItsOwnTurn(t *testing.T) {
	path := file(t, person, done)
	at := add(t, path, over,
		`{"type":"user","promptId":"p2","origin":{"kind":"human"},"promptSource":"queued","message":{"role":"user","content":"do it"}}`,
		`{"type":"assistant","message":{"id":"m3","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"the second"}]}}`)
	turn, err := FindPrompt(Claude, path, at, digest, digest("do it"))
	if err != nil || turn.ID != "p2" || turn.FinalText() != "the second" {
		t.Errorf("%+v, %v", turn, err)
	}
	turn, err = FindPrompt(Claude, path, 0, digest, digest("do it"))
	if err != nil || turn.ID != "p1" || turn.FinalText() != "done" || len(turn.Items) != 1 {
		t.Errorf("%+v, %v", turn, err)
	}
}

// TestF36_PromptThatWentIntoATurnOfTheClientsOwn: the running turn began with a notification, so the prompt in it begins
// one of the person's, whose end bears the notification's id.
func TestF36_PromptThatWentIntoATurnOfTheClientsOwn(t *testing.T) {
	path := file(t, person, done, over)
	at := add(t, path,
		`{"type":"user","promptId":"n1","origin":{"kind":"task-notification"},"message":{"role":"user","content":"<task-notification>\n<summary>it ended</summary>\n</task-notification>"}}`,
		`{"type":"assistant","message":{"id":"m3","role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"let me look"},{"type":"tool_use","id":"t9","name":"Bash","input":{}}]}}`,
		`{"type":"user","promptId":"n1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"ok"}]}}`,
		`{"type":"attachment","attachment":{"type":"queued_command","prompt":"and that","commandMode":"prompt"}}`,
		`{"type":"assistant","message":{"id":"m4","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"that as well"}]}}`, over)
	turn, err := FindPrompt(Claude, path, at, digest, digest("and that"))
	if err != nil || turn.ID != "n1" || turn.Prompt != "and that" || turn.FinalText() != "that as well" || turn.End == nil || turn.End.TurnID != "n1" {
		t.Errorf("%+v, %v", turn, err)
	}
	if turn := last(t, Claude, path); turn.Prompt != "and that" {
		t.Errorf("%+v", turn)
	}
	if turn, err := Find(Claude, path, "p1"); err != nil || turn.FinalText() != "done" || turn.Items[len(turn.Items)-1].Kind != ItemToolResult {
		t.Errorf("%+v, %v", turn, err)
	}
	ends, _, err := Ends(Claude, path, at)
	if err != nil || len(ends) != 1 || ends[0].TurnID != "n1" || ends[0].LastMessage != "that as well" {
		t.Errorf("%+v, %v", ends, err)
	}
}

func TestDecision8_FinalTextJoinsTheBlocksOfOneMessage(t *testing.T) {
	path := file(t, person, working, ran,
		`{"type":"assistant","message":{"id":"m2","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"one"}]}}`,
		`{"type":"assistant","message":{"id":"m2","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"two"}]}}`, over,
		`{"type":"user","promptId":"p2","origin":{"kind":"task-notification"},"message":{"role":"user","content":"<task-notification>\n<summary>it ended</summary>\n</task-notification>"}}`,
		`{"type":"assistant","message":{"id":"m3","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"nobody asked for this"}]}}`)
	turn := last(t, Claude, path)
	if turn.FinalText() != "one\ntwo" || turn.End.LastMessage != "one\ntwo" || len(turn.Items) != 7 {
		t.Errorf("%q, %+v", turn.FinalText(), turn)
	}
	if byNotification, err := Find(Claude, path, "p2"); err != nil || byNotification.ID != "p1" {
		t.Errorf("%+v, %v", byNotification, err)
	}
}

func TestF39_APIErrorEndsTheTurn(t *testing.T) {
	path := file(t, person)
	at := add(t, path,
		`{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","apiErrorStatus":429,"message":{"id":"x","model":"<synthetic>","stop_reason":"stop_sequence","content":[{"type":"text","text":"API Error: 429"}]}}`)
	turn := last(t, Claude, path)
	if want := (Failure{Type: "rate_limit", Message: "API Error: 429"}); turn.End == nil || *turn.End.Error != want || turn.FinalText() != "" {
		t.Errorf("%+v", turn)
	}
	add(t, path, over)
	ends, _, err := Ends(Claude, path, at)
	if err != nil || len(ends) != 1 || ends[0].TurnID != "p1" || ends[0].Error.Type != "rate_limit" || ends[0].Offset != at {
		t.Errorf("%+v, %v", ends, err)
	}
}

func TestF40_InterruptedTurnInventsNoAnswer(t *testing.T) {
	path := file(t, person,
		`{"type":"assistant","message":{"id":"m1","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`)
	if turn := last(t, Claude, path); turn.Complete() || turn.FinalText() != "" || turn.End != nil {
		t.Errorf("%+v", turn)
	}
	_, next, err := Ends(Claude, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	add(t, path, `{"type":"user","promptId":"p1","interruptedMessageId":"m1","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`)
	ends, _, err := Ends(Claude, path, next)
	if err != nil || len(ends) != 1 || !ends[0].Interrupted || ends[0].TurnID != "p1" {
		t.Errorf("%+v, %v", ends, err)
	}
	if turn := last(t, Claude, path); !turn.Complete() || !turn.End.Interrupted || turn.FinalText() != "" {
		t.Errorf("%+v", turn)
	}
}

// TestF47_F48_F49_OnlyAPersonBeginsATurn puts behind a turn what is no prompt of a person, with and without an origin.
func TestF47_F48_F49_OnlyAPersonBeginsATurn(t *testing.T) {
	for name, record := range map[string]string{
		"F47 sidechain":            `{"type":"user","isSidechain":true,"message":{"role":"user","content":"the task of a subagent"}}`,
		"F47 sidechain's answer":   `{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"of a subagent"}]}}`,
		"F48 meta":                 `{"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat: …"}}`,
		"F48 command message":      `{"type":"user","message":{"role":"user","content":"<command-message>x</command-message>"}}`,
		"F48 command name":         `{"type":"user","message":{"role":"user","content":"<command-name>/x</command-name>"}}`,
		"F48 local output":         `{"type":"user","message":{"role":"user","content":"<local-command-stdout>x</local-command-stdout>"}}`,
		"F48 notification":         `{"type":"user","message":{"role":"user","content":"<task-notification>x</task-notification>"}}`,
		"F48 notification, signed": `{"type":"user","origin":{"kind":"task-notification"},"message":{"role":"user","content":"x"}}`,
		"F48 summary":              `{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"This session is being continued"}}`,
		"F48 shell mode":           `{"type":"user","message":{"role":"user","content":"<bash-input>ls</bash-input>"}}`,
		"F49 interruption":         `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
		"tool result":              `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"text","text":"beside it"}]}}`,
		"words in another record":  `{"type":"queue-operation","content":"x","user":{"type":"user","origin":{"kind":"human"}}}`,
		"words in a text":          `{"type":"assistant","message":{"id":"m9","role":"assistant","content":[{"type":"text","text":"{\"type\":\"user\",\"origin\":{\"kind\":\"human\"}}"}]}}`,
		"no object":                `["user"]`,
		"garbage":                  `{"type":"user","message":{"role":"user","content":"tor`,
		"other types of members":   `{"type":"user","message":{"role":"user","content":7},"timestamp":[],"promptId":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			turn := last(t, Claude, file(t, person, done, over, record))
			if turn.Prompt != "do it" || turn.Items[0].Text != "done" || turn.ID != "p1" {
				t.Errorf("%+v", turn)
			}
		})
	}
}

func TestPromptsOfOtherClients(t *testing.T) {
	for name, c := range map[string]struct{ record, want string }{
		"an old client":            {`{"type":"user","uuid":"u9","message":{"role":"user","content":"old"}}`, "old"},
		"spaces in the JSON":       {`{"type": "user", "uuid": "u9", "message": {"role": "user", "content": "spaced"}}`, "spaced"},
		"type behind the message":  {`{"message":{"role":"user","content":"order"},"type":"user"}`, "order"},
		"with an image":            {`{"type":"user","origin":{"kind":"human"},"message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{}}]}}`, "see\n[image]"},
		"a tag a person typed":     {`{"type":"user","origin":{"kind":"human"},"message":{"role":"user","content":"<task-notification> what is it?"}}`, "<task-notification> what is it?"},
		"a paste between words":    {`{"type":"user","origin":{"kind":"human"},"message":{"role":"user","content":"see\n\n<pasted_content id=\"7\">\na\nb\n</pasted_content id=\"7\">\nand say"}}`, "seea\nband say"},
		"a paste that never ends":  {`{"type":"user","origin":{"kind":"human"},"message":{"role":"user","content":"<pasted_content id=\"7\">\na"}}`, "<pasted_content id=\"7\">\na"},
		"a paste that names a tag": {`{"type":"user","origin":{"kind":"human"},"message":{"role":"user","content":"\n\n<pasted_content id=\"7\">\n</pasted_content id=\"8\">\n</pasted_content id=\"7\">\n"}}`, `</pasted_content id="8">`},
	} {
		t.Run(name, func(t *testing.T) {
			if turn := last(t, Claude, file(t, person, done, c.record)); turn.Prompt != c.want {
				t.Errorf("got %q, want %q", turn.Prompt, c.want)
			}
		})
	}
}

func TestF50_OnlyTheAssistantSpeaks(t *testing.T) {
	path := file(t,
		`{"type":"event_msg","payload":{"type":"task_started","turn_id":"c1"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"instructions"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>…"}]}}`,
		`{"type":"event_msg","payload":{"type":"item_completed","turn_id":"c1","item":{"type":"UserMessage","content":[{"type":"text","text":"hello"}]}}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /home/u"}]}}`)
	turn := last(t, Codex, path)
	if turn.Prompt != "hello" || len(turn.Items) != 1 || turn.FinalText() != "hi" || !turn.Complete() || turn.ID != "c1" {
		t.Errorf("%+v", turn)
	}
	add(t, path, `{"type":"event_msg","payload":{"type":"item_completed","turn_id":"c1","item":{"type":"UserMessage","content":[{"type":"text","text":"steered"}]}}}`)
	if turn = last(t, Codex, path); turn.Prompt != "hello" || turn.Items[1].Kind != ItemPrompt || turn.Complete() {
		t.Errorf("%+v", turn)
	}
	if turn, err := FindPrompt(Codex, path, 1, digest, digest("steered")); err != nil || turn.ID != "c1" {
		t.Errorf("%+v, %v", turn, err)
	}
}

func TestCodexRolloutsBeforeTheItems(t *testing.T) {
	turn := last(t, Codex, file(t,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"second"}]}}`,
		`{"type":"event_msg","payload":{"type":"user_message","message":"second"}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":[\"ls\"]}"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"a\\nb\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]}}`))
	if turn.Prompt != "second" || turn.FinalText() != "two" || turn.Items[0].Tool != "Bash" || turn.Items[1].Text != "exited 0 · 0.1s\na\nb\n" {
		t.Errorf("%+v", turn)
	}
}

func TestCodexHeaderIsNotTakenFromTheOutput(t *testing.T) {
	for text, want := range map[string]string{
		"Chunk ID: 1\nWall time: 2.5 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nOutput:\nProcess exited with code 9": "exited 0 · 2.5s\nOutput:\nProcess exited with code 9",
		"my words\nProcess exited with code 9\nOutput:\nx": "my words\nProcess exited with code 9\nOutput:\nx",
		"Process running with session ID 7\nOutput:\n":     "running as 7",
		"plain": "plain",
	} {
		raw := []byte(fmt.Sprintf("%q", text))
		if got, failed := codexOutput(raw); got != want || failed {
			t.Errorf("%q: got %q, failed %t", text, got, failed)
		}
	}
}

func TestPiTreeIsReadFromItsLeaf(t *testing.T) {
	path := file(t,
		`{"type":"session","version":3,"id":"s"}`,
		`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-11-30T16:00:00Z","message":{"role":"user","content":"root","timestamp":1}}`,
		`{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-11-30T16:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"left"}],"stopReason":"stop"}}`,
		`{"type":"message","id":"b1","parentId":"a1","message":{"role":"user","content":"another branch"}}`,
		`{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"and on"}}`,
		`{"type":"message","id":"b2","parentId":"b1","message":{"role":"assistant","content":[{"type":"text","text":"not this"}],"stopReason":"stop"}}`,
		`{"type":"session","version":3,"id":"s"}`, `garbage`,
		`{"id":"a4","parentId":"a3","message":{"content":[{"type":"text","text":"this"}],"role":"assistant","stopReason":"stop"},"type":"message"}`)
	turn := last(t, Pi, path)
	if turn.ID != "a3" || turn.Prompt != "and on" || turn.FinalText() != "this" || len(turn.Items) != 1 {
		t.Errorf("%+v", turn)
	}
	if turn, err := Find(Pi, path, "a1"); err != nil || turn.Prompt != "root" || turn.FinalText() != "left" {
		t.Errorf("%+v, %v", turn, err)
	}
	if turn, err := Find(Pi, path, "b1"); !errors.Is(err, ErrNoTurn) {
		t.Errorf("a turn of another branch: %+v, %v", turn, err)
	}
}

func TestPiErrorMayBeTriedAgain(t *testing.T) {
	failed := `{"type":"message","id":"e%d","parentId":"%s","message":{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"error","errorMessage":"500 no"}}`
	path := file(t, `{"type":"message","id":"u1","parentId":null,"message":{"role":"user","content":"x"}}`, fmt.Sprintf(failed, 1, "u1"))
	ends, next, err := Ends(Pi, path, 0)
	if err != nil || len(ends) != 0 {
		t.Fatalf("%+v, %v", ends, err)
	}
	at := add(t, path, fmt.Sprintf(failed, 2, "e1"))
	if turn := last(t, Pi, path); len(turn.Items) != 2 || turn.End.Error.Type != "server_error" || turn.End.TurnID != "u1" {
		t.Errorf("%+v", turn)
	}
	add(t, path, `{"type":"message","id":"u2","parentId":"e2","message":{"role":"user","content":"y"}}`)
	ends, _, err = Ends(Pi, path, next)
	if err != nil || len(ends) != 1 || ends[0].Offset != at || ends[0].TurnID != "u1" || ends[0].Error.Message != "500 no" {
		t.Errorf("%+v, %v", ends, err)
	}
}

func TestEndsOfTheRealClients(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/codex-interrupt-error-resume.jsonl": "91cc aaab! cab1=invalid_request 737b fb01 fb79",
		"testdata/pi-retry.jsonl":                     "24e4",
		"testdata/pi-abort-steer.jsonl":               "00ff! 6980! cf5a! 6289 6289 cdfc 0c3a 0c3a 0c3a 0c3a", // the last three are cut off from the tree
		"testdata/claude-interrupt-paste.jsonl":       "ac80! 9e96 4636 efea 1873 db01",
	} {
		ends, _, err := Ends(kindOf(path), path, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range ends {
			short := e.TurnID
			switch {
			case kindOf(path) == Codex:
				short = strings.Split(short, "-")[1]
			case kindOf(path) == Pi:
				short = short[4:]
			default:
				short = short[:4]
			}
			if e.Interrupted {
				short += "!"
			}
			if e.Error != nil {
				short += "=" + e.Error.Type
			}
			got = append(got, short)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s", path, strings.Join(got, " "), want)
		}
	}
}

func TestFilesThatAreNoTranscripts(t *testing.T) {
	if _, err := Last(Claude, filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := FindPrompt(Pi, filepath.Join(t.TempDir(), "none"), 0, digest, ""); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, ErrNoTurn) {
		t.Errorf("a prompt in a file that is not there: %v", err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Last(Claude, fifo); err == nil {
		t.Error("a FIFO was read")
	}
	if _, err := Last("other", file(t, person)); err == nil {
		t.Error("an unknown kind was read")
	}
	for _, kind := range []Kind{Claude, Codex, Pi} {
		for _, text := range []string{"", "\n\n", "\x00\x00\n", "no newline", "{}\n[]\nnull\n7\n\"user\"\n"} {
			if turn, err := Last(kind, file(t, text)); !errors.Is(err, ErrNoTurn) {
				t.Errorf("%s %q: %+v, %v", kind, text, turn, err)
			}
		}
		if _, next, err := Ends(kind, file(t, "a", "b"), 99); err != nil || next != 4 {
			t.Errorf("%s, an offset behind the end: next %d, %v", kind, next, err)
		}
	}
}
