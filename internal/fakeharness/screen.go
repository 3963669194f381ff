package fakeharness

import "strings"

// menu is a question with a cursor.
type menu struct {
	above    []string
	items    []string
	at       int
	numbered bool
	below    string
	// cursor is the client's: "❯" or "›".
	cursor string
	// digits says that a number chooses its entry at once.
	digits bool
}

func (m *menu) view() []string {
	view := append([]string(nil), m.above...)
	for i, item := range m.items {
		line := "   "
		if i == m.at {
			line = " " + m.cursor + " "
		}
		if m.numbered {
			line += string(rune('1'+i)) + ". "
		}
		view = append(view, line+item)
	}
	return append(view, "", " "+m.below)
}

// press gives a key to the menu: chosen is the entry, or -1 for Escape.
func (m *menu) press(k key) (chosen int, done bool) {
	switch k.name {
	case "Up":
		m.at = max(m.at-1, 0)
	case "Down":
		m.at = min(m.at+1, len(m.items)-1)
	case "Enter":
		return m.at, true
	case "Escape", "C-c":
		return -1, true
	case "text":
		if n := int(k.text[0]) - '1'; m.digits && len(k.text) == 1 && n >= 0 && n < len(m.items) {
			return n, true
		}
	}
	return 0, false
}

// wide is the number of columns of a letter.
func wide(r rune) int {
	if r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1f64f || r >= 0x1f900 && r <= 0x1f9ff {
		return 2
	}
	return 1
}

// wrap breaks text into lines of at most width columns; all but the first begin with indent.
func wrap(text, indent string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		var line strings.Builder
		used := 0
		if len(lines) > 0 {
			line.WriteString(indent)
			used = len(indent)
		}
		for _, r := range paragraph {
			if used+wide(r) > max(width, 10) {
				lines = append(lines, line.String())
				line.Reset()
				line.WriteString(indent)
				used = len(indent)
			}
			line.WriteRune(r)
			used += wide(r)
		}
		lines = append(lines, line.String())
	}
	return lines
}
