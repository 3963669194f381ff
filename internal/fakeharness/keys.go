package fakeharness

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// key is one thing that a terminal sends.
type key struct {
	// name is "paste", "text", or a key: Enter, Escape, Up, C-u, M-Enter.
	name string
	// text is what was pasted or typed.
	text string
}

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
	mostPaste   = 64 << 20
)

// decoder makes keys of a terminal's bytes.
type decoder struct {
	rest    []byte
	paste   []byte
	pasting bool
}

// feed takes bytes as they come and returns the keys that are whole.
func (d *decoder) feed(b []byte) []key {
	d.rest = append(d.rest, b...)
	var keys []key
	for len(d.rest) > 0 {
		k, n := d.next()
		if n == 0 {
			break
		}
		d.rest = d.rest[n:]
		if k.name == "" {
			continue
		}
		if last := len(keys) - 1; k.name == "text" && last >= 0 && keys[last].name == "text" {
			keys[last].text += k.text
			continue
		}
		keys = append(keys, k)
	}
	return keys
}

// pending reports whether a lone Escape may be standing there.
func (d *decoder) pending() bool { return !d.pasting && bytes.Equal(d.rest, []byte{0x1b}) }

// flush takes what stands there for a lone Escape.
func (d *decoder) flush() []key {
	if !d.pending() {
		return nil
	}
	d.rest = nil
	return []key{{name: "Escape"}}
}

// next is the first key of the rest and its length, which is 0 where more bytes are needed.
func (d *decoder) next() (key, int) {
	if d.pasting {
		return d.pasted()
	}
	switch c := d.rest[0]; {
	case c == 0x1b:
		return d.escape()
	case c == '\r':
		return key{name: "Enter"}, 1
	case c == '\n':
		return key{name: "text", text: "\n"}, 1 // Ctrl-J
	case c == '\t':
		return key{name: "Tab"}, 1
	case c == 0x7f || c == 0x08:
		return key{name: "BSpace"}, 1
	case c < 0x20:
		return key{name: "C-" + string(rune('a'+c-1))}, 1
	case !utf8.FullRune(d.rest):
		return key{}, 0
	}
	_, n := utf8.DecodeRune(d.rest)
	return key{name: "text", text: string(d.rest[:n])}, n
}

func (d *decoder) pasted() (key, int) {
	end := bytes.Index(d.rest, []byte(pasteEnds))
	if end < 0 {
		n := len(d.rest) - len(pasteEnds) + 1 // the marker may have come in part
		if n <= 0 {
			return key{}, 0
		}
		d.keep(d.rest[:n])
		return key{}, n
	}
	d.keep(d.rest[:end])
	text := strings.ToValidUTF8(string(d.paste), "\ufffd")
	d.paste, d.pasting = nil, false
	return key{name: "paste", text: text}, end + len(pasteEnds)
}

func (d *decoder) keep(b []byte) {
	d.paste = append(d.paste, b[:min(len(b), mostPaste-len(d.paste))]...)
}

// sequences are the keys that come as more than a byte.
var sequences = []struct{ bytes, name string }{
	{pasteBegins, "begin"},
	{"\x1b[A", "Up"},
	{"\x1b[B", "Down"},
	{"\x1b[C", "Right"},
	{"\x1b[D", "Left"},
	{"\x1bOA", "Up"},
	{"\x1bOB", "Down"},
	{"\x1bOC", "Right"},
	{"\x1bOD", "Left"},
	{"\x1b\r", "M-Enter"},
	{"\x1b[Z", "BTab"},
}

func (d *decoder) escape() (key, int) {
	for _, s := range sequences {
		if bytes.HasPrefix(d.rest, []byte(s.bytes)) {
			if s.name == "begin" {
				d.pasting = true
				return key{}, len(s.bytes)
			}
			return key{name: s.name}, len(s.bytes)
		}
		if bytes.HasPrefix([]byte(s.bytes), d.rest) && len(d.rest) > 1 {
			return key{}, 0
		}
	}
	if len(d.rest) == 1 {
		return key{}, 0
	}
	return key{name: "Escape"}, 1
}
