package transcript

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/lines"
)

var update = flag.Bool("update", false, "write the golden files anew, for a person to read")

// kindOf is the kind that a file of testdata is named after.
func kindOf(path string) Kind {
	kind, _, _ := strings.Cut(filepath.Base(path), "-")
	return Kind(kind)
}

func samples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d samples, %v", len(paths), err)
	}
	return paths
}

// allTurns are the turns of a file, by the prompts in it.
func allTurns(t testing.TB, kind Kind, path string) []Turn {
	t.Helper()
	f, s, err := openAs(kind, path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var turns []Turn
	for line, err := range lines.Forward(s.file, 0, s.end, lines.Limit) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := f.prompt(line.Raw); !ok {
			continue
		}
		turn, err := s.turn(f, soughtAt(line.Offset))
		if err != nil {
			t.Fatalf("the prompt at %d is in no turn: %v", line.Offset, err)
		}
		if n := len(turns); n == 0 || turns[n-1].Offset != turn.Offset {
			turns = append(turns, turn)
		}
	}
	return turns
}

// describe says what a turn's Markdown does not.
func describe(t Turn) string {
	end := "none"
	if t.End != nil {
		end = t.End.At.UTC().Format("15:04:05")
		if t.End.Interrupted {
			end += " interrupted"
		}
		if t.End.Error != nil {
			end += " " + t.End.Error.Type
		}
	}
	return fmt.Sprintf("<!-- turn %s at %d\n     end: %s, complete: %t\n     final: %q -->\n\n", t.ID, t.Offset, end, t.Complete(), t.FinalText())
}

// TestReadTurn_Markdown pins how turns are parted and shown (contract 1.12, F47 to F50), for all that the real clients wrote.
func TestReadTurn_Markdown(t *testing.T) {
	for _, path := range samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var got bytes.Buffer
			for _, turn := range allTurns(t, kindOf(path), path) {
				got.WriteString(describe(turn))
				if err := Render(&got, turn, false); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, strings.TrimSuffix(path, ".jsonl")+".md", got.Bytes())
		})
	}
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", golden, got, want)
	}
}
