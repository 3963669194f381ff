package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func screenOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "screens", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestComposerIsReadFromTheScreen: what stands in the input box, in screens of the real clients.
func TestComposerIsReadFromTheScreen(t *testing.T) {
	read := map[string]func(string) (string, bool){"claude": claudeComposer, "codex": codexComposer, "pi": piComposer}
	for _, c := range []struct {
		client, screen, text string
		none                 bool
	}{
		{client: "claude", screen: "empty"},
		{client: "claude", screen: "three-lines", text: "line a\n  line b\n  line c"},
		{client: "claude", screen: "pasted", text: "[Pasted text #1 +4 lines]"},
		{client: "claude", screen: "busy-text", text: "a text while busy"},
		{client: "claude", screen: "trust", none: true},
		{client: "claude", screen: "key", none: true},
		{client: "claude", screen: "mcp", none: true},
		{client: "claude", screen: "background", none: true},
		{client: "claude", screen: "help", none: true},
		{client: "codex", screen: "empty"},
		{client: "codex", screen: "busy"},
		{client: "codex", screen: "half", text: "half typed"},
		{client: "codex", screen: "lines", text: "l1\n  l2\n  l3\n  l4"},
		{client: "codex", screen: "long", text: "[Pasted Content 2000 chars]"},
		{client: "codex", screen: "busy-text", text: "queued text"},
		{client: "codex", screen: "quit", text: "/quit"},
		{client: "codex", screen: "gate", none: true},
		{client: "codex", screen: "starting", none: true},
		{client: "pi", screen: "empty"},
		{client: "pi", screen: "retry"},
		{client: "pi", screen: "text", text: "csd:text:/quit now"},
		{client: "pi", screen: "long", text: "[paste #1 2000 chars]"},
	} {
		t.Run(c.client+"-"+c.screen, func(t *testing.T) {
			text, ok := read[c.client](screenOf(t, c.client+"-"+c.screen))
			if ok == c.none || text != c.text {
				t.Errorf("%q, %v; want %q, %v", text, ok, c.text, !c.none)
			}
		})
	}
}

// TestAPromptIsFoundInTheComposer, and not elsewhere on the screen: an Enter too many would answer a dialog.
func TestAPromptIsFoundInTheComposer(t *testing.T) {
	for _, c := range []struct {
		client, screen, prompt string
		want                   bool
	}{
		{"claude", "three-lines", "line a\nline b\nline c", true},
		{"claude", "three-lines", "line c", true}, // with what stood there before
		{"claude", "three-lines", "something else", false},
		{"claude", "pasted", "a long text", true},
		{"claude", "empty", "line a", false},
		{"claude", "help", "/help", false},
		{"claude", "trust", "Yes, I trust this folder", false},
		{"codex", "half", "half typed and cut", true},
		{"codex", "busy", "a prompt", false}, // it was taken, and stands above
		{"codex", "gate", "Try new model", false},
		{"codex", "empty", "another", false},
		{"codex", "long", "word word", true},
		{"pi", "text", "/quit now", true},
		{"pi", "text", "csd:text:/quit now", true},
		{"pi", "empty", "/quit", false},
		{"pi", "long", "word word", true},
	} {
		h, err := For(c.client)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.InComposer(screenOf(t, c.client+"-"+c.screen), c.prompt); got != c.want {
			t.Errorf("%s, screen %s, prompt %q: %v", c.client, c.screen, c.prompt, got)
		}
	}
}

func TestPiWorksWhileItsWheelTurns(t *testing.T) {
	for screen, want := range map[string]bool{"pi-retry": true, "pi-empty": false, "pi-text": false, "claude-trust": false} {
		if got := piWorks(screenOf(t, screen)); got != want {
			t.Errorf("%s: %v", screen, got)
		}
	}
}

// TestClaudeComposerHoldsRules: a prompt may look like the box around it.
func TestClaudeComposerHoldsRules(t *testing.T) {
	screen := "● ok\n─────────\n❯ above\n────\n  below\n─────────\n  ⏵⏵ bypass permissions on\n"
	if text, ok := claudeComposer(screen); !ok || text != "above\n────\n  below" {
		t.Errorf("%q, %v", text, ok)
	}
}

// TestF15_TheKeyForADialogFollowsItsCursor: with "No" chosen at first, a blind Enter would end the client.
func TestF15_TheKeyForADialogFollowsItsCursor(t *testing.T) {
	background := []dialog{{text: "Background work is running", want: "Exit and stop tasks"}}
	for _, c := range []struct {
		screen  string
		dialogs []dialog
		key     string
	}{
		{"claude-trust", claudeDialogs, "Down"},
		{"claude-trust-down", claudeDialogs, "Enter"},
		{"claude-key", claudeDialogs, "Up"},
		{"claude-key-up", claudeDialogs, "Enter"},
		{"claude-mcp", claudeDialogs, ""},
		{"claude-help", claudeDialogs, ""},
		{"claude-background", background, "Enter"},
		{"claude-empty", append(background, claudeDialogs...), ""},
		{"codex-gate", codexDialogs, "Down"},
		{"codex-empty", codexDialogs, ""},
	} {
		key := ""
		for _, d := range c.dialogs {
			if k, _ := d.move(screenOf(t, c.screen)); k != "" {
				key = k
			}
		}
		if key != c.key {
			t.Errorf("%s: key %q, want %q", c.screen, key, c.key)
		}
	}
}

// TestTextProtectsCommands: the real clients show that it does; this is what is left alone.
func TestTextProtectsCommands(t *testing.T) {
	for _, c := range []struct{ client, prompt, pasted string }{
		{"claude", "plain", "plain"},
		{"claude", "/compact now", "/compact now\n\n\n\n"},
		{"claude", "  /compact", "  /compact\n\n\n\n"},
		{"claude", "/etc/passwd is what?", "/etc/passwd is what?"},
		{"claude", "EXIT", "EXIT\n\n\n\n"},
		{"claude", "exit the loop", "exit the loop"},
		{"claude", "!ls", " !ls"},
		{"claude", `a\`, `a\ `},
		{"claude", "", ""},
		{"codex", "plain\n/x", "plain\n/x "},
		{"codex", "/new", " /new "},
		{"codex", "!ls", " !ls "},
		{"pi", "plain", "plain"},
		{"pi", "/new", "csd:text:/new"},
		{"pi", " !ls", "csd:text:!ls"},
		{"pi", "csd:text:x", "csd:text:csd:text:x"},
		{"pi", `/a\`, `csd:text:/a\ `},
	} {
		h, err := For(c.client)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.Text(c.prompt); err != nil || got != c.pasted {
			t.Errorf("%s: %q is pasted as %q (%v), want %q", c.client, c.prompt, got, err, c.pasted)
		}
	}
}

func TestAPromptThatAClientRefusesIsAnError(t *testing.T) {
	if _, err := (codex{}).Text(strings.Repeat("é", codexLongest-2)); err != nil {
		t.Error(err)
	}
	if _, err := (codex{}).Text(strings.Repeat("é", codexLongest)); err == nil || !strings.Contains(err.Error(), "1048576 characters") {
		t.Errorf("%v", err)
	}
}
