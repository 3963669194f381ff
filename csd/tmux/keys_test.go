package tmux_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd/tmux"
)

// eater is a program with bracketed paste that writes all it reads, raw, into a file.
func eater(t *testing.T, s *tmux.Server) (p tmux.Pane, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "read")
	p, err := s.New(t.Context(), tmux.NewSession{Name: "eater", Dir: "/", Argv: []string{
		"sh", "-c", `stty raw -echo; printf '\033[?2004hready ü漢 ❯'; exec cat >"$0"`, file,
	}})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program", func() bool {
		text, err := s.Capture(t.Context(), p.Target(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(text, "ready ü漢 ❯") // though LC_ALL is C
	})
	return p, file
}

func TestF04_F09_MillionBytesInOneBracket(t *testing.T) {
	s := server(t, "")
	p, file := eater(t, s)
	text := []byte(strings.Repeat("line with ü, 漢, $HOME, `x`, \\ and a tab\t;\n", 25_000))[:1_000_000]
	if err := s.Paste(t.Context(), p.Target(), text); err != nil {
		t.Fatal(err)
	}
	want := append(append([]byte("\x1b[200~"), text...), "\x1b[201~"...)
	eventually(t, "the paste", func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() >= int64(len(want))
	})
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes came, want %d", len(got), len(want))
	}
	if buffers := person(t, s, "list-buffers"); buffers != "" {
		t.Errorf("left behind: %s", buffers)
	}
}

func TestKeysAndLiteral(t *testing.T) {
	s := server(t, "")
	p, file := eater(t, s)
	ctx := t.Context()
	for _, text := range []string{"Enter", "a;", "-l", "'\"$(id)ü"} {
		if err := s.Literal(ctx, p.Target(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Keys(ctx, p.Target(), "Down", "C-u", "Escape", ";", "Enter"); err != nil {
		t.Fatal(err)
	}
	want := "Entera;-l'\"$(id)ü\x1b[B\x15\x1b;\r"
	var got []byte
	eventually(t, "the keys", func() bool {
		var err error
		got, err = os.ReadFile(file)
		return err == nil && len(got) >= len(want)
	})
	if string(got) != want {
		t.Errorf("it read %q, want %q", got, want)
	}
}

func TestPasteOfAnEndedContextLeavesNoBuffer(t *testing.T) {
	s := server(t, "")
	p, _ := eater(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Paste(ctx, p.Target(), []byte("x")); err == nil {
		t.Error("pasted though the context had ended")
	}
	if buffers := person(t, s, "list-buffers"); buffers != "" {
		t.Errorf("left behind: %s", buffers)
	}
}

func TestCaptureWithHistory(t *testing.T) {
	s := server(t, "")
	p, err := s.New(t.Context(), tmux.NewSession{Name: "long", Dir: "/", Argv: []string{"sh", "-c", "seq 1000 1200; exec sleep 1000"}})
	if err != nil {
		t.Fatal(err)
	}
	capture := func(history int) string {
		text, err := s.Capture(t.Context(), p.Target(), history)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	eventually(t, "the last line", func() bool { return strings.Contains(capture(0), "1200") })
	if text := capture(0); strings.Contains(text, "1100") {
		t.Errorf("the screen alone has %q", text)
	}
	if text := capture(100); !strings.Contains(text, "1100") || strings.Contains(text, "1010\n") {
		t.Errorf("a hundred lines of history have %q", text)
	}
}
