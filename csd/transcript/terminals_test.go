package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func names(terminals []Terminal) string {
	var out []string
	for _, t := range terminals {
		out = append(out, t.CallID+"="+t.ProcessID+" "+t.Command)
	}
	return strings.Join(out, "; ")
}

// TestTerminalsOfTheRealClient lets the file grow by a line, keeps what is known as JSON between, and wants the same as
// of the whole file.
func TestTerminalsOfTheRealClient(t *testing.T) {
	text, err := os.ReadFile("testdata/codex-background-terminals.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var running []Terminal
	var offset int64
	var seen []string
	for row := range bytes.Lines(text) {
		if _, err := f.Write(row); err != nil {
			t.Fatal(err)
		}
		if running, offset, err = Terminals(path, offset, running); err != nil {
			t.Fatal(err)
		}
		if now := names(running); len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		kept, err := json.Marshal(running)
		if err != nil {
			t.Fatal(err)
		}
		running = nil
		if err := json.Unmarshal(kept, &running); err != nil {
			t.Fatal(err)
		}
		whole, end, err := Terminals(path, 0, nil)
		if err != nil || end != offset || len(whole)+len(running) > 0 && !reflect.DeepEqual(whole, running) {
			t.Fatalf("in pieces %+v to %d, at once %+v to %d, %v", running, offset, whole, end, err)
		}
	}
	want := []string{
		"", "call_13=58690 echo started-A; sleep 987",
		"call_13=58690 echo started-A; sleep 987; call_17=97634 echo started-B; while :; do sleep 1; echo tick; done",
		"call_17=97634 echo started-B; while :; do sleep 1; echo tick; done", "",
		"call_19=94593 sleep 654", "",
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
}

func TestTerminalsAreNotMadeOfOtherText(t *testing.T) {
	call := `{"type":"response_item","payload":{"type":"function_call","name":"%s","arguments":"{\"cmd\":\"x\"}","call_id":"c1"}}`
	runs := `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n"}}`
	end := `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","process_id":"7","exit_code":0}}}`
	exec := strings.Replace(call, "%s", "exec_command", 1)
	for name, c := range map[string]struct {
		records []string
		want    string
	}{
		"a command that runs on":                         {[]string{exec, runs}, "c1=7 x"},
		"one that ended":                                 {[]string{exec, runs, end}, ""},
		"an end that was written before the result":      {[]string{exec, end, runs}, ""},
		"a poll of what is not known":                    {[]string{strings.Replace(call, "%s", "write_stdin", 1), runs}, ""},
		"a call that is not in the file":                 {[]string{runs}, "c1=7 "},
		"output that looks like a header":                {[]string{exec, `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nProcess running with session ID 7\nOutput:\n"}}`}, ""},
		"a message that says so":                         {[]string{`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"\"function_call_output\" Process running with session ID 7"}]}}`}, ""},
		"an end of another command":                      {[]string{exec, runs, strings.Replace(end, "c1", "c2", 1)}, "c1=7 x"},
		"a result that says again that the same runs on": {[]string{exec, runs, strings.Replace(runs, "c1", "c2", 1)}, "c1=7 x"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := Terminals(file(t, c.records...), 0, nil)
			if err != nil || names(got) != c.want {
				t.Errorf("got %s, want %s, %v", names(got), c.want, err)
			}
		})
	}
}
