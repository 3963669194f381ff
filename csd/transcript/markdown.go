package transcript

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// shown is how many lines of a result are shown where it is cut.
const shown = 5

// noOutput stands for a result without content.
const noOutput = "(no output)"

// Render writes a turn as Markdown, an empty line after each item. Results of tools are cut to five lines unless full is
// set; those of a tool that failed never are.
func Render(w io.Writer, t Turn, full bool) error {
	out := bufio.NewWriter(w)
	writePrompt(out, t.Prompt)
	for _, i := range t.Items {
		i.write(out, full)
	}
	return out.Flush()
}

func writePrompt(out io.Writer, text string) {
	fmt.Fprintf(out, "---\n\n**Prompt:** %s\n\n", strings.TrimRight(text, "\n"))
}

func (i Item) write(out io.Writer, full bool) {
	switch i.Kind {
	case ItemPrompt:
		writePrompt(out, i.Text)
	case ItemThinking:
		quote(out, "Thinking", i.Text)
	case ItemText:
		fmt.Fprintf(out, "%s\n\n", strings.TrimRight(i.Text, "\n"))
	case ItemToolCall:
		i.writeCall(out)
	case ItemToolResult:
		i.writeResult(out, full)
	case ItemError:
		fmt.Fprintf(out, "**API Error:** %s\n\n", strings.TrimPrefix(strings.TrimSpace(i.Text), "API Error: "))
	case ItemInterruption:
		fmt.Fprint(out, "**Interrupted by the user**\n\n")
	case ItemNotification:
		quote(out, "Notification", i.Text)
	case ItemCompaction:
		fmt.Fprint(out, "*The conversation was compacted.*\n\n")
	case ItemSkipped:
		fmt.Fprintf(out, "*%s*\n\n", i.Text)
	}
}

func quote(out io.Writer, title, text string) {
	text = strings.Trim(text, "\n")
	fmt.Fprintf(out, "> **%s:** %s\n\n", title, strings.ReplaceAll(text, "\n", "\n> "))
}

func (i Item) writeCall(out io.Writer) {
	input, language := string(i.Input), "json"
	if text, ok := bareString(i.Input); ok {
		input, language = text, ""
	}
	if input == "" {
		input = "{}"
	}
	fmt.Fprintf(out, "**Tool: %s**\n", i.Tool)
	fence(out, language, input)
}

func (i Item) writeResult(out io.Writer, full bool) {
	text := strings.TrimRight(i.Text, "\n")
	if strings.TrimSpace(text) == "" {
		text = noOutput
	}
	title := "Result"
	if i.IsError {
		title = "Tool Error"
	} else if !full {
		text = cut(text)
	}
	fmt.Fprintf(out, "**%s:**\n", title)
	fence(out, "", text)
}

// cut leaves the first lines of a text, and says how many there were.
func cut(text string) string {
	end := 0
	for range shown {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return fmt.Sprintf("%s... (%d lines total)", text[:end], strings.Count(text, "\n")+1)
}

// fence writes a code block whose fence no text in it can close.
func fence(out io.Writer, language, text string) {
	mark := strings.Repeat("`", max(3, longestRun(text)+1))
	fmt.Fprintf(out, "%s%s\n%s\n%s\n\n", mark, language, strings.TrimRight(text, "\n"), mark)
}

// longestRun is the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
