package event_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/event"
)

func line(name, more string, second string) string {
	return `{"event":"` + name + `","ts":"2026-11-30T10:00:` + second + `Z"` + more + "}\n"
}

func TestStateIsThatOfTheLastKnownEvent(t *testing.T) {
	start, prompt, tool := line("session_start", `,"source":"startup"`, "01"), line("user_prompt_submit", `,"turn_id":"t"`, "02"), line("pre_tool_use", "", "03")
	for name, row := range map[string]struct{ content, state, since string }{
		"nothing":                            {"", event.StateUnknown, ""},
		"garbage":                            {"garbage\n[]\n{}\n", event.StateUnknown, ""},
		"a start":                            {start, event.Idle, "01"},
		"a prompt":                           {start + prompt, event.Working, "02"},
		"a tool: since the prompt":           {start + prompt + tool, event.Working, "02"},
		"an answer":                          {start + prompt + tool + line("stop", "", "04"), event.Idle, "04"},
		"the second turn":                    {start + prompt + line("stop", "", "04") + line("user_prompt_submit", "", "05") + line("post_tool_use", "", "06"), event.Working, "05"},
		"an end":                             {start + prompt + line("session_end", "", "05"), event.Terminated, "05"},
		"F26 an event of a newer csd":        {start + prompt + line("stop", "", "04") + line("stop_failure", "", "05"), event.Idle, "04"},
		"a compaction in a turn":             {start + prompt + line("session_start", `,"source":"compact"`, "04"), event.Working, "02"},
		"a compaction after a turn":          {start + prompt + line("stop", "", "04") + line("session_start", `,"source":"compact"`, "05"), event.Idle, "04"},
		"garbage behind":                     {start + prompt + "{\"event\":\"sto\n\n\x00\n", event.Working, "02"},
		"F32 a session that another follows": {start + prompt + line("session_end", `,"reason":"clear"`, "05"), event.Idle, "05"},
		"resumed after an end":               {start + line("session_end", "", "03") + line("session_start", `,"source":"resume"`, "04"), event.Idle, "04"},
		"a notification starts a turn":       {start + line("stop", "", "04") + line("user_prompt_submit", `,"notification":{"task_id":"b","status":"failed"}`, "05"), event.Working, "05"},
	} {
		s, err := event.Of(fileOf(t, row.content))
		since := ""
		if !s.Since.IsZero() {
			since = s.Since.Format("05")
		}
		if err != nil || s.State != row.state || since != row.since {
			t.Errorf("%s: %s since %s, %v; want %s since %s", name, s.State, since, err, row.state, row.since)
		}
	}
	if s, err := event.Of(t.TempDir() + "/none"); err != nil || s.State != event.StateUnknown {
		t.Errorf("no file: %+v, %v", s, err)
	}
}

func TestTheCountGoesOnFromWhatWasCounted(t *testing.T) {
	turn := line("user_prompt_submit", "", "01") + line("stop", `,"error":{"type":"overloaded","message":"m"}`, "02")
	path := fileOf(t, turn+turn+"\n")
	tally, err := event.Tally{}.On(path)
	if err != nil || tally.Turns != 2 || tally.Lines != 4 || tally.Error == nil || tally.Error.Type != event.Overloaded {
		t.Fatalf("%+v %v", tally, err)
	}
	// What was counted is not looked at again: here it is no longer there.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blank := strings.Repeat(" ", len(data)-1) + "\n" + line("stop", "", "04") + ` {"event": "stop"}` + "\n" + `{"event":"stop"`
	if err := os.WriteFile(path, []byte(blank), 0o600); err != nil {
		t.Fatal(err)
	}
	tally, err = tally.On(path)
	if err != nil || tally.Turns != 4 || tally.Lines != 6 || tally.Error != nil {
		t.Errorf("%+v %v", tally, err)
	}
	// A file that is another one is counted anew.
	if err := os.WriteFile(path, []byte(turn), 0o600); err != nil {
		t.Fatal(err)
	}
	if tally, err = tally.On(path); err != nil || tally.Turns != 1 || tally.Offset != int64(len(turn)) {
		t.Errorf("%+v %v", tally, err)
	}
	if tally, err = tally.On(path + "x"); err != nil || tally != (event.Tally{}) {
		t.Errorf("no file: %+v %v", tally, err)
	}
}

// TestTheStateOfALongTurnIsFoundNearTheEnd: how long it runs is known only as far as the last megabyte tells.
func TestTheStateOfALongTurnIsFoundNearTheEnd(t *testing.T) {
	content := line("user_prompt_submit", "", "01") + strings.Repeat(line("pre_tool_use", `,"tool_input":{"a":"`+strings.Repeat("x", 1<<16)+`"}`, "05"), 40)
	s, err := event.Of(fileOf(t, content))
	if err != nil || s.State != event.Working || !s.Since.Equal(time.Date(2026, 11, 30, 10, 0, 5, 0, time.UTC)) {
		t.Errorf("%s since %v, %v", s.State, s.Since, err)
	}
}
