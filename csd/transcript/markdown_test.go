package transcript

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func rendered(t *testing.T, full bool, items ...Item) string {
	t.Helper()
	var out strings.Builder
	if err := Render(&out, Turn{Prompt: "p", Items: items}, full); err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutPrefix(out.String(), "---\n\n**Prompt:** p\n\n")
	if !ok {
		t.Fatalf("no prompt in %q", out.String())
	}
	return text
}

func TestReadTurn_Items(t *testing.T) {
	six := "1\n2\n3\n4\n5\n6\n"
	for name, c := range map[string]struct {
		full bool
		item Item
		want string
	}{
		"a result of five lines":    {item: Item{Kind: ItemToolResult, Text: "1\n2\n3\n4\n5\n"}, want: "**Result:**\n```\n1\n2\n3\n4\n5\n```\n\n"},
		"a result of six lines":     {item: Item{Kind: ItemToolResult, Text: six}, want: "**Result:**\n```\n1\n2\n3\n4\n5\n... (6 lines total)\n```\n\n"},
		"all of it":                 {full: true, item: Item{Kind: ItemToolResult, Text: six}, want: "**Result:**\n```\n1\n2\n3\n4\n5\n6\n```\n\n"},
		"an error is not cut":       {item: Item{Kind: ItemToolResult, Text: six, IsError: true}, want: "**Tool Error:**\n```\n1\n2\n3\n4\n5\n6\n```\n\n"},
		"no content":                {item: Item{Kind: ItemToolResult}, want: "**Result:**\n```\n(no output)\n```\n\n"},
		"an error without content":  {item: Item{Kind: ItemToolResult, IsError: true}, want: "**Tool Error:**\n```\n(no output)\n```\n\n"},
		"only line ends":            {item: Item{Kind: ItemToolResult, Text: "\n\n\n\n\n\n\n"}, want: "**Result:**\n```\n(no output)\n```\n\n"},
		"a fence inside":            {item: Item{Kind: ItemToolResult, Text: "```\nx\n````"}, want: "**Result:**\n`````\n```\nx\n````\n`````\n\n"},
		"a call":                    {item: Item{Kind: ItemToolCall, Tool: "Bash", Input: json.RawMessage(`{"a":"` + "````" + `"}`)}, want: "**Tool: Bash**\n`````json\n{\"a\":\"````\"}\n`````\n\n"},
		"a call with a string":      {item: Item{Kind: ItemToolCall, Tool: "t", Input: json.RawMessage(`"a\nb"`)}, want: "**Tool: t**\n```\na\nb\n```\n\n"},
		"a call without input":      {item: Item{Kind: ItemToolCall, Tool: "t"}, want: "**Tool: t**\n```json\n{}\n```\n\n"},
		"thoughts":                  {item: Item{Kind: ItemThinking, Text: "a\n\nb\n"}, want: "> **Thinking:** a\n> \n> b\n\n"},
		"text":                      {item: Item{Kind: ItemText, Text: "a\n\n"}, want: "a\n\n"},
		"a further prompt":          {item: Item{Kind: ItemPrompt, Text: "q"}, want: "---\n\n**Prompt:** q\n\n"},
		"an error of the server":    {item: Item{Kind: ItemError, Text: "API Error: 429 no"}, want: "**API Error:** 429 no\n\n"},
		"an interruption":           {item: Item{Kind: ItemInterruption}, want: "**Interrupted by the user**\n\n"},
		"a notification":            {item: Item{Kind: ItemNotification, Text: "it ended"}, want: "> **Notification:** it ended\n\n"},
		"a compaction":              {item: Item{Kind: ItemCompaction, Text: "summary"}, want: "*The conversation was compacted.*\n\n"},
		"a record that was skipped": {item: Item{Kind: ItemSkipped, Text: "a record of 70 MB was left out"}, want: "*a record of 70 MB was left out*\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rendered(t, c.full, c.item); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestRenderSaysThatItCouldNotWrite(t *testing.T) {
	if err := Render(full{}, Turn{}, false); err == nil {
		t.Error("a full disk was not noticed")
	}
}
