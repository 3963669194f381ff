package fakeharness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd/transcript"
)

// TestTranscriptsAreRead reads what each client writes with the readers that were made for the real ones'.
func TestTranscriptsAreRead(t *testing.T) {
	for _, kind := range []transcript.Kind{transcript.Claude, transcript.Codex, transcript.Pi} {
		t.Run(string(kind), func(t *testing.T) {
			l := newLab(t)
			submitted, stopped := "UserPromptSubmit", "Stop"
			switch kind {
			case transcript.Claude:
				l.readyClaude(nil)
			case transcript.Codex:
				l.readyCodex(nil)
			case transcript.Pi:
				submitted, stopped = "user_prompt_submit", "stop"
				l.readyPi(nil)
			}
			l.send("SAY I will look.\nTHINK about it\nTOOL echo out; exit 3")
			stop := l.fired(stopped, 1)
			path := stop.str("transcript_path")
			turn := l.turn(kind, path, func(turn transcript.Turn) bool { return turn.Complete() })
			var kinds []string
			for _, item := range turn.Items {
				kinds = append(kinds, string(item.Kind))
			}
			want := "text thinking tool_call tool_result text"
			if got := strings.Join(kinds, " "); got != want || turn.Prompt != "SAY I will look.\nTHINK about it\nTOOL echo out; exit 3" || turn.FinalText() != "Tool said: out" {
				t.Errorf("read as %s: %+v", got, turn)
			}
			// Claude Code names a turn by its prompt; Pi's extension by the entry.
			id := stop.str("turn_id") + stop.str("prompt_id")
			if found, err := transcript.Find(kind, path, id); err != nil || found.Prompt != turn.Prompt {
				t.Errorf("turn %s: %+v, %v", id, found, err)
			}
			l.send("ERR 400")
			l.fired(submitted, 2)
			failed := l.turn(kind, path, func(turn transcript.Turn) bool { return turn.Prompt == "ERR 400" && turn.End != nil })
			if failed.End.Error == nil || !strings.Contains(failed.End.Error.Message, "400") {
				t.Errorf("the failed turn: %+v", failed.End)
			}
			goes := filepath.Join(l.dir, "goes")
			l.send("TOOL touch " + goes + "; sleep 1000")
			l.until("the command", func() bool { _, err := os.Stat(goes); return err == nil })
			l.keys("Escape")
			broken := l.turn(kind, path, func(turn transcript.Turn) bool { return strings.HasPrefix(turn.Prompt, "TOOL") && turn.End != nil })
			if !broken.End.Interrupted {
				t.Errorf("the interrupted turn: %+v", broken.End)
			}
			if ends, _, err := transcript.Ends(kind, path, 0); err != nil || len(ends) != 3 {
				t.Errorf("the ends: %+v, %v", ends, err)
			}
		})
	}
}

// turn waits for the last turn of a transcript.
func (l *lab) turn(kind transcript.Kind, path string, ok func(transcript.Turn) bool) (turn transcript.Turn) {
	l.Helper()
	l.until("a turn in the transcript", func() bool {
		var err error
		turn, err = transcript.Last(kind, path)
		return err == nil && ok(turn)
	})
	return turn
}
