package event_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sessevents/sessevents/csd/event"
)

var at = time.Date(2026, 11, 30, 16, 20, 24, 999, time.FixedZone("", 3600))

func TestALineBeginsWithEventAndTime(t *testing.T) {
	for _, row := range []struct {
		e    event.Event
		want string
	}{
		{
			event.Event{Name: event.SessionStart, At: at, Worker: "w", Harness: "pi", SessionID: "s1", CWD: "/c", Source: "startup", TranscriptPath: "/t", PID: 7, Prompt: "not of this event"},
			`{"event":"session_start","ts":"2026-11-30T15:20:24Z","worker":"w","harness":"pi","session_id":"s1","cwd":"/c","source":"startup","transcript_path":"/t","pid":7}`,
		},
		{
			event.Event{Name: event.UserPromptSubmit, At: at, TurnID: "t", Prompt: "a <b> & c\u2028", PromptBytes: 9, PromptSHA256: "ab", Queued: true, Notification: &event.Notification{TaskID: "x", Status: "failed"}},
			`{"event":"user_prompt_submit","ts":"2026-11-30T15:20:24Z","turn_id":"t","prompt":"a <b> & c\u2028","prompt_bytes":9,"prompt_sha256":"ab","queued":true,"notification":{"task_id":"x","status":"failed"}}`,
		},
		{event.Event{Name: event.PreToolUse, At: at}, `{"event":"pre_tool_use","ts":"2026-11-30T15:20:24Z","tool":"","tool_input":{}}`},
		{
			event.Event{Name: event.PreToolUse, At: at, Tool: "Bash", ToolInput: json.RawMessage("{ \"command\" : \"a\\nb\" }"), ToolUseID: "u"},
			`{"event":"pre_tool_use","ts":"2026-11-30T15:20:24Z","tool":"Bash","tool_input":{"command":"a\nb"},"tool_use_id":"u"}`,
		},
		{event.Event{Name: event.PostToolUse, At: at, Tool: "Bash", IsError: true}, `{"event":"post_tool_use","ts":"2026-11-30T15:20:24Z","tool":"Bash","is_error":true}`},
		{event.Event{Name: event.Stop, At: at}, `{"event":"stop","ts":"2026-11-30T15:20:24Z"}`},
		{
			event.Event{Name: event.Stop, At: at, Interrupted: true, Source: event.SourceTranscript, Error: &event.Failure{Type: event.RateLimit, Message: "slow"}, BackgroundTasks: []event.Task{{ID: "b", Type: "shell", Status: "running"}}},
			`{"event":"stop","ts":"2026-11-30T15:20:24Z","source":"transcript","background_tasks":[{"id":"b","type":"shell","status":"running"}],"error":{"type":"rate_limit","message":"slow"},"interrupted":true}`,
		},
		{event.Event{Name: event.SessionEnd, At: at, Reason: "other"}, `{"event":"session_end","ts":"2026-11-30T15:20:24Z","reason":"other"}`},
	} {
		line, err := row.e.MarshalJSON()
		if err != nil || string(line) != row.want {
			t.Errorf("%s: %v\n got %s\nwant %s", row.e.Name, err, line, row.want)
		}
	}
}

// TestWhatIsWrittenIsRead: every field of every event comes back.
func TestWhatIsWrittenIsRead(t *testing.T) {
	whole := event.Event{
		At: at.UTC().Truncate(time.Second), Worker: "w", Harness: "codex", SessionID: "s", TurnID: "t", TranscriptPath: "/t", CWD: "/c",
		Source: "resume", PID: 3, Prompt: "p", PromptBytes: 1, PromptSHA256: "h", Queued: true,
		Notification: &event.Notification{TaskID: "a", Status: "b"}, Tool: "T", ToolInput: json.RawMessage(`{"a":1}`), ToolUseID: "u",
		IsError: true, LastAssistantMessage: "l", BackgroundTasks: []event.Task{{"i", "t", "s", "d", "c"}},
		Error: &event.Failure{Type: "unknown", Message: "m"}, Interrupted: true, Reason: "r",
	}
	set := map[string]bool{}
	for _, name := range event.Names {
		whole.Name = name
		line, err := whole.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		v, w := reflect.ValueOf(got), reflect.ValueOf(whole)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				continue
			}
			set[v.Type().Field(i).Name] = true
			if !reflect.DeepEqual(v.Field(i).Interface(), w.Field(i).Interface()) {
				t.Errorf("%s: %s is %v", name, v.Type().Field(i).Name, v.Field(i))
			}
		}
	}
	if n := reflect.TypeFor[event.Event]().NumField(); len(set) != n {
		t.Errorf("%d of %d fields are written by some event: %v", len(set), n, set)
	}
}

func TestALineIsBounded(t *testing.T) {
	long := strings.Repeat("ü", 100_000)
	many := make([]event.Task, 5000)
	for i := range many {
		many[i] = event.Task{ID: long, Type: long, Status: long, Description: long, Command: long}
	}
	for _, name := range append([]event.Name{"odd"}, event.Names...) {
		e := event.Event{
			Name: name, Worker: long, Harness: long, SessionID: long, TurnID: long, TranscriptPath: long, CWD: long, Source: long,
			Prompt: long, PromptSHA256: long, Notification: &event.Notification{TaskID: long, Status: long}, Tool: long,
			ToolInput: json.RawMessage(`{"a":"` + long + long + long + long + long + long + `"}`), ToolUseID: long, LastAssistantMessage: long,
			BackgroundTasks: many, Error: &event.Failure{Type: event.FailureType(long), Message: long}, Reason: long,
		}
		line, err := e.MarshalJSON()
		if err != nil || len(line) > 2<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(line), err)
		}
		got, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if name == event.UserPromptSubmit && utf8.RuneCountInString(got.Prompt) != event.MaxText {
			t.Errorf("the prompt has %d characters", utf8.RuneCountInString(got.Prompt))
		}
		if want := `{"truncated":true,"bytes":1200008}`; name == event.PreToolUse && string(got.ToolInput) != want {
			t.Errorf("tool_input %.100s, want %s", got.ToolInput, want)
		}
	}
}

func TestAToolInputIsAlwaysAnObjectInUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"": "{}", "null": "{}", `"text"`: "{}", "[1]": "{}", "{broken": "{}", " {\"a\":\n1} ": `{"a":1}`, "{\"a\":\"\xff\"}": `{"a":"` + "\uFFFD" + `"}`,
	} {
		line, err := event.Event{Name: event.PreToolUse, ToolInput: json.RawMessage(in)}.MarshalJSON()
		if err != nil || !strings.HasSuffix(string(line), `"tool_input":`+want+"}") || !utf8.Valid(line) {
			t.Errorf("%q: %s, %v", in, line, err)
		}
	}
}

// TestF26_AnotherVersionsLinesAreRead: more members, members of another type, names of tomorrow.
func TestF26_AnotherVersionsLinesAreRead(t *testing.T) {
	for line, want := range map[string]event.Event{
		`{"event":"stop","ts":"2026-11-30T15:20:24Z","extra":{"a":[1]}}`: {Name: "stop", At: time.Date(2026, 11, 30, 15, 20, 24, 0, time.UTC)},
		`{"event":"stop","error":"rate_limit","turn_id":"t"}`:            {Name: "stop", TurnID: "t", Error: &event.Failure{}},
		`{"event":"stop","pid":"7","ts":5,"turn_id":"t"}`:                {Name: "stop", TurnID: "t"},
		`{"event":"stop_failure","ts":"yesterday"}`:                      {Name: "stop_failure"},
		"\xef\xbb\xbf{\"event\":\"stop\"}\r\n":                           {Name: "stop"},
		"\x00\x00{\"event\":\"stop\"}":                                   {Name: "stop"},
	} {
		got, err := event.Parse([]byte(line))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"", "null", "[]", "{}", `"stop"`, `{"event":""}`, `{"event":7}`, `{"event":"stop"`, `{"event":"stop"} {}`} {
		if got, err := event.Parse([]byte(line)); err == nil {
			t.Errorf("%s is read as %+v", line, got)
		}
	}
}

func TestDigestIsTheSameForWhatIsPastedAndWhatArrives(t *testing.T) {
	sent := "line one\n\tindented `x`\nline three\r\nüñ 漢 \x1b[31mred"
	arrived := "\n\n<pasted_content id=\"8808\">\nline one\n    indented `x`\nline three\nüñ 漢 [31mred\n</pasted_content id=\"8808\">\n"
	if event.Digest(sent) != event.Digest(arrived) {
		t.Error("a wrapped paste is another prompt")
	}
	for _, other := range []string{"line one", sent + "x", ""} {
		if event.Digest(other) == event.Digest(sent) {
			t.Errorf("%q has the same digest", other)
		}
	}
	if got, want := event.Digest(" \n"), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; got != want {
		t.Errorf("digest of nothing %s", got)
	}
}

// TestDigestKnowsHexadecimalMarks: the client numbers its pastes so; digits alone are a chance.
func TestDigestKnowsHexadecimalMarks(t *testing.T) {
	if event.Digest("\n\n<pasted_content id=\"8fe1\">\na\nb\n</pasted_content id=\"8fe1\">\n") != event.Digest("a\nb") {
		t.Error("a wrapped prompt is another one")
	}
}

func TestUnwrapTakesOffOnlyWholeWrappers(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain",
		"a\n\n<pasted_content id=\"1\">\nX\nY\n</pasted_content id=\"1\">\nb":                                                          "aX\nYb",
		"\n\n<pasted_content id=\"1\">\nX\n</pasted_content id=\"1\">\n\n\n<pasted_content id=\"2\">\nY\n</pasted_content id=\"2\">\n": "XY",
		"<pasted_content id=\"1\">\nX":                               "<pasted_content id=\"1\">\nX",
		"<pasted_content id=\"1\">\nX\n</pasted_content id=\"2\">\n": "<pasted_content id=\"1\">\nX\n</pasted_content id=\"2\">\n",
		"<pasted_content id=\"\">\nX\n</pasted_content id=\"\">\n":   "<pasted_content id=\"\">\nX\n</pasted_content id=\"\">\n",
	} {
		if got := event.Unwrap(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	hostile := strings.Repeat("<pasted_content id=\"1\">\n", 200_000)
	begun := time.Now()
	if event.Unwrap(hostile) != hostile || time.Since(begun) > 20*time.Second {
		t.Error("a hostile prompt takes for ever")
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"event":"stop","ts":"2026-11-30T15:20:24Z","background_tasks":[{"id":"1"}],"error":{"type":"unknown"}}`,
		`{"event":"pre_tool_use","tool_input":{"a":[{}]}}`, "\x00{\"event\":\"x\"}", `{"event":"user_prompt_submit","prompt":"\ud800"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := event.Parse(line)
		if err != nil {
			return
		}
		again, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(again) || strings.ContainsAny(string(again), "\n\r") || len(again) > 2<<20 {
			t.Fatalf("%q became %q", line, again)
		}
		if _, err := event.Parse(again); err != nil {
			t.Fatalf("%q became %q: %v", line, again, err)
		}
	})
}

func FuzzDigest(f *testing.F) {
	f.Add("a\n\n<pasted_content id=\"1\">\nX\n</pasted_content id=\"1\">\nb\t\x00")
	f.Fuzz(func(t *testing.T, text string) {
		wrapped := "\n\n<pasted_content id=\"" + "90210" + "\">\n" + text + "\n</pasted_content id=\"90210\">\n"
		if !strings.Contains(text, "pasted_content") && event.Digest(text) != event.Digest(wrapped) {
			t.Errorf("%q is another prompt when it is wrapped", text)
		}
	})
}

// letters is text that does not pack or repeat.
func letters(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz \"\\\n"[r.IntN(30)]
	}
	return string(b)
}
