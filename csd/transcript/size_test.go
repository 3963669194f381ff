package transcript

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// large writes a transcript of a size in older turns, some records of a megabyte among them, and a small last turn.
func large(t testing.TB, kind Kind, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	parent := "null"
	write := func(format string, args ...any) {
		n, err := fmt.Fprintf(out, format+"\n", args...)
		if size -= int64(n); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; size > 0 || i == 0; i++ {
		output := strings.Repeat(`{\"user\": \"UserMessage\", \"origin\"}\n`, 50)
		if i%500 == 499 {
			output = strings.Repeat("x", 1<<20)
		}
		parent = turnOf(kind, i, parent, fmt.Sprint("prompt ", i), output, write)
	}
	turnOf(kind, -1, parent, "the last one", "short", write)
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

// turnOf writes a turn of ten calls of a tool, and gives the id of its last record.
func turnOf(kind Kind, i int, parent, prompt, output string, write func(string, ...any)) string {
	switch kind {
	case Claude:
		write(`{"parentUuid":"x","isSidechain":false,"promptId":"p%d","type":"user","message":{"role":"user","content":"%s"},"uuid":"u%d","timestamp":"2026-11-30T16:00:00.000Z","origin":{"kind":"human"},"promptSource":"typed"}`, i, prompt, i)
		for j := range 10 {
			write(`{"parentUuid":"x","isSidechain":false,"message":{"id":"m%d-%d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t%d-%d","name":"Bash","input":{"command":"make"}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"a"}`, i, j, i, j)
			write(`{"parentUuid":"x","isSidechain":false,"promptId":"p%d","type":"user","message":{"role":"user","content":[{"tool_use_id":"t%d-%d","type":"tool_result","content":"%s","is_error":false}]},"uuid":"r"}`, i, i, j, output)
		}
		write(`{"parentUuid":"x","isSidechain":false,"message":{"id":"e%d","role":"assistant","content":[{"type":"text","text":"answer %d"}],"stop_reason":"end_turn"},"type":"assistant","uuid":"f"}`, i, i)
		write(`{"isSidechain":false,"type":"system","subtype":"turn_duration","uuid":"d"}`)
	case Codex:
		write(`{"timestamp":"2026-11-30T16:00:00.000Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"c%d"}}`, i)
		write(`{"timestamp":"2026-11-30T16:00:00.000Z","ordinal":2,"type":"event_msg","payload":{"type":"item_completed","turn_id":"c%d","item":{"type":"UserMessage","content":[{"type":"text","text":"%s"}]}}}`, i, prompt)
		for j := range 10 {
			write(`{"timestamp":"2026-11-30T16:00:00.000Z","ordinal":3,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make\"}","call_id":"t%d-%d"}}`, i, j)
			write(`{"timestamp":"2026-11-30T16:00:00.000Z","ordinal":4,"type":"response_item","payload":{"type":"function_call_output","call_id":"t%d-%d","output":"Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\n%s"}}`, i, j, output)
		}
		write(`{"timestamp":"2026-11-30T16:00:00.000Z","ordinal":5,"type":"response_item","payload":{"type":"message","id":"m%d","role":"assistant","content":[{"type":"output_text","text":"answer %d"}]}}`, i, i)
		write(`{"timestamp":"2026-11-30T16:00:00.000Z","ordinal":6,"type":"event_msg","payload":{"type":"task_complete","turn_id":"c%d","last_agent_message":"answer %d"}}`, i, i)
	case Pi:
		n := 0
		entry := func(message string, args ...any) {
			id := fmt.Sprintf("%d-%d", i, n)
			n++
			write(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-11-30T16:00:00.000Z","message":%s}`, id, parent, fmt.Sprintf(message, args...))
			parent = `"` + id + `"`
		}
		entry(`{"role":"user","content":[{"type":"text","text":"%s"}],"timestamp":1796054400000}`, prompt)
		for j := range 10 {
			entry(`{"role":"assistant","content":[{"type":"toolCall","id":"t%d","name":"bash","arguments":{"command":"make"}}],"stopReason":"toolUse"}`, j)
			entry(`{"role":"toolResult","toolCallId":"t%d","toolName":"bash","content":[{"type":"text","text":"%s"}],"isError":false}`, j, output)
		}
		entry(`{"role":"assistant","content":[{"type":"text","text":"answer %d"}],"stopReason":"stop"}`, i)
	}
	return parent
}

// counted counts what is read of a file.
type counted struct {
	*os.File
	read int64
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(b, at)
	c.read += int64(n)
	return n, err
}

func TestF53_OnlyTheLastTurnIsRead(t *testing.T) {
	for _, kind := range []Kind{Claude, Codex, Pi} {
		f, s, err := openAs(kind, large(t, kind, 20<<20))
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		c := &counted{File: s.file.(*os.File)}
		s.file = c
		turn, err := s.turn(f, sought{})
		if err != nil || turn.Prompt != "the last one" || turn.FinalText() != "answer -1" || !turn.Complete() || len(turn.Items) != 21 {
			t.Errorf("%s: %+v, %v", kind, turn, err)
		}
		if c.read > 1<<20 {
			t.Errorf("%s: %d bytes were read", kind, c.read)
		}
	}
}

func TestF53_LineOf70MBIsPassedOverAndSaid(t *testing.T) {
	path := file(t, person, working)
	at := add(t, path, ran)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\n"), end+70<<20); err != nil { // a hole of zeros is a line
		t.Fatal(err)
	}
	add(t, path, done, over)
	turn := last(t, Claude, path)
	if n := len(turn.Items); n != 5 || turn.Items[3].Kind != ItemSkipped || turn.Items[3].Text != "a record of 70 MB was left out" || turn.FinalText() != "done" {
		t.Errorf("%+v", turn)
	}
	ends, _, err := Ends(Claude, path, at)
	if err != nil || len(ends) != 1 || ends[0].TurnID != "p1" || ends[0].LastMessage != "done" {
		t.Errorf("%+v, %v", ends, err)
	}
}

func benchmark(b *testing.B, kind Kind, f func(path string) error) {
	path := large(b, kind, 200<<20)
	b.ReportAllocs()
	for b.Loop() {
		if err := f(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLast200MB(b *testing.B) {
	for _, kind := range []Kind{Claude, Codex, Pi} {
		b.Run(string(kind), func(b *testing.B) {
			benchmark(b, kind, func(path string) error {
				turn, err := Last(kind, path)
				if err != nil {
					return err
				}
				return Render(io.Discard, turn, false)
			})
		})
	}
}

func BenchmarkFindFirstOf200MB(b *testing.B) {
	for kind, id := range map[Kind]string{Claude: "p0", Codex: "c0", Pi: "0-0"} {
		b.Run(string(kind), func(b *testing.B) {
			benchmark(b, kind, func(path string) error {
				_, err := Find(kind, path, id)
				return err
			})
		})
	}
}

func BenchmarkEndsOf200MB(b *testing.B) {
	for _, kind := range []Kind{Claude, Codex, Pi} {
		b.Run(string(kind), func(b *testing.B) {
			benchmark(b, kind, func(path string) error {
				_, _, err := Ends(kind, path, 0)
				return err
			})
		})
	}
}

func BenchmarkTerminalsOf200MB(b *testing.B) {
	benchmark(b, Codex, func(path string) error {
		_, _, err := Terminals(path, 0, nil)
		return err
	})
}
