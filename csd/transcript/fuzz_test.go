package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/sessevents/sessevents/internal/lines"
)

// memory is a source of bytes.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func inMemory(t testing.TB, text []byte) *source {
	t.Helper()
	end, err := lines.End(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return &source{file: memory{bytes.NewReader(text)}, end: end}
}

// older are whole turns that have nothing to do with what follows them.
var older = map[Kind]string{
	Claude: `{"parentUuid":null,"isSidechain":false,"promptId":"older-turn","type":"user","message":{"role":"user","content":"older"},"uuid":"older-1","origin":{"kind":"human"}}
{"isSidechain":false,"type":"assistant","uuid":"older-2","message":{"id":"older-msg","role":"assistant","content":[{"type":"text","text":"older answer"}],"stop_reason":"end_turn"}}
{"isSidechain":false,"type":"system","subtype":"turn_duration","uuid":"older-3"}
`,
	Codex: `{"type":"event_msg","payload":{"type":"task_started","turn_id":"older-turn"}}
{"type":"event_msg","payload":{"type":"item_completed","turn_id":"older-turn","item":{"type":"UserMessage","content":[{"type":"text","text":"older"}]}}}
{"type":"event_msg","payload":{"type":"task_complete","turn_id":"older-turn","last_agent_message":null,"error":{"message":"m","codex_error_info":"other"}}}
`,
	Pi: `{"type":"session","version":3,"id":"older-session"}
{"type":"message","id":"older-entry-1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"older"}]}}
{"type":"message","id":"older-entry-2","parentId":"older-entry-1","message":{"role":"assistant","content":[{"type":"text","text":"older answer"}],"stopReason":"stop"}}
`,
}

// moved is the turn as it stands n bytes further on.
func moved(t Turn, n int64) Turn {
	t.Offset += n
	t.Items = slices.Clone(t.Items)
	for i := range t.Items {
		t.Items[i].Offset += n
	}
	if t.End != nil {
		end := *t.End
		end.Offset += n
		t.End = &end
	}
	return t
}

// fuzz makes transcripts of the records that the real clients wrote, picked in any order, and of bytes.
func fuzz(f *testing.F, kind Kind) {
	var pool [][]byte
	for _, path := range samples(f) {
		if kindOf(path) != kind {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		rows := bytes.SplitAfter(text, []byte("\n"))
		for i := 0; i+3 < len(rows); i += 7 {
			f.Add([]byte{byte(len(pool) + i), byte(i + 1), byte(i + 2), byte(i + 3), 0, 1}, bytes.Join(rows[i:i+3], nil))
		}
		pool = append(pool, rows[:len(rows)-1]...)
	}
	format, _, err := openAs(kind, "testdata")
	if format == nil || err == nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, picks, text []byte) {
		var made []byte
		for i, pick := range picks[:min(len(picks), 200)] {
			made = append(made, pool[(int(pick)+i&7<<8)%len(pool)]...)
		}
		text = append(made, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))...)
		last := lastIsTheSameBehindOlderTurns(t, format, kind, text)
		if err := Render(io.Discard, last, true); err != nil {
			t.Fatal(err)
		}
		endsInPiecesAreTheSame(t, format, text)
		if _, err := inMemory(t, text).terminals(0, nil); err != nil {
			t.Fatal(err)
		}
	})
}

func lastIsTheSameBehindOlderTurns(t *testing.T, f format, kind Kind, text []byte) Turn {
	t.Helper()
	last, err := inMemory(t, text).turn(f, sought{})
	if errors.Is(err, ErrNoTurn) {
		return last
	}
	if err != nil {
		t.Fatal(err)
	}
	front := older[kind] + older[kind]
	behind, err := inMemory(t, append([]byte(front), text...)).turn(f, sought{})
	if err != nil {
		t.Fatal(err)
	}
	if want := moved(last, int64(len(front))); !reflect.DeepEqual(behind, want) {
		t.Errorf("behind older turns: got %+v, want %+v", behind, want)
	}
	return last
}

// endsInPiecesAreTheSame reads a file that grows by a line at a time.
func endsInPiecesAreTheSame(t *testing.T, f format, text []byte) {
	t.Helper()
	whole := inMemory(t, text)
	want, _, err := f.ends(whole, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []End
	next := int64(0)
	for i, b := range text {
		if b != '\n' {
			continue
		}
		ends, at, err := f.ends(&source{file: whole.file, end: int64(i) + 1}, next)
		if err != nil {
			t.Fatal(err)
		}
		if at < next || at > int64(i)+1 {
			t.Fatalf("goes on from %d after %d", at, next)
		}
		got, next = append(got, ends...), at
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("in pieces: got %+v, want %+v", got, want)
	}
}

func FuzzClaude(f *testing.F) { fuzz(f, Claude) }
func FuzzCodex(f *testing.F)  { fuzz(f, Codex) }
func FuzzPi(f *testing.F)     { fuzz(f, Pi) }
