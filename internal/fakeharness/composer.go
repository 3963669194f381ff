package fakeharness

import (
	"strings"
	"unicode/utf8"
)

// composer is an input box. The cursor is always at its end. Long pastes stand in it as a few words.
type composer struct{ parts []part }

// part is a piece of the text: typed, or a paste that is shown as label.
type part struct{ text, label string }

func (c *composer) insert(text string) {
	if last := len(c.parts) - 1; last >= 0 && c.parts[last].label == "" {
		c.parts[last].text += text
		return
	}
	c.parts = append(c.parts, part{text: text})
}

func (c *composer) insertBlock(text, label string) {
	c.parts = append(c.parts, part{text: text, label: label})
}

func (c *composer) clear() { c.parts = nil }

func (c *composer) empty() bool { return c.shown() == "" }

// shown is what stands in the box.
func (c *composer) shown() string {
	var b strings.Builder
	for _, p := range c.parts {
		if p.label != "" {
			b.WriteString(p.label)
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// value is the text that is submitted; wrap is what the client makes of a pasted block.
func (c *composer) value(wrap func(string) string) string {
	var b strings.Builder
	for _, p := range c.parts {
		if p.label != "" {
			b.WriteString(wrap(p.text))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// plain reports whether nothing in the box was pasted as a block.
func (c *composer) plain() bool {
	for _, p := range c.parts {
		if p.label != "" {
			return false
		}
	}
	return true
}

// backspace takes the last letter, or the last block, away.
func (c *composer) backspace() {
	last := len(c.parts) - 1
	if last < 0 {
		return
	}
	if p := &c.parts[last]; p.label == "" {
		_, n := utf8.DecodeLastRuneInString(p.text)
		p.text = p.text[:len(p.text)-n]
		if p.text != "" {
			return
		}
	}
	c.parts = c.parts[:last]
}

// killLine takes the last line away; a line that is empty, its line feed.
func (c *composer) killLine() {
	if strings.HasSuffix(c.shown(), "\n") {
		c.backspace()
		return
	}
	for len(c.parts) > 0 {
		last := &c.parts[len(c.parts)-1]
		if last.label == "" {
			if at := strings.LastIndexByte(last.text, '\n'); at >= 0 {
				last.text = last.text[:at+1]
				return
			}
		}
		c.parts = c.parts[:len(c.parts)-1]
	}
}

// clean is what every client makes of a pasted text: tabs are four spaces, the ends of lines are line feeds, other
// control characters are dropped.
func clean(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}
