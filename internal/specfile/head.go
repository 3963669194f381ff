package specfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/sessevents/sessevents/internal/plainfile"
)

// headSize is how much of a spec is looked at for its name.
const headSize = 4 << 10

// Head is the name that the spec gives itself, where the head of its file leaves no doubt; else it is empty. What
// stands behind the name is not looked at.
func (p Places) Head(f Found) string {
	var src fs.File
	var err error
	if f.Builtin {
		src, err = p.Builtin.Open(f.Path)
	} else { // a pipe can be read only once
		src, _, err = plainfile.Open(f.Path, 0)
	}
	if err != nil {
		return ""
	}
	defer src.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(src, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return nameIn(head[:n])
}

// nameIn reads the name off lines of which it knows what they are to YAML: comments, empty lines and `version: 1` may
// stand before it, and it is a plain word.
func nameIn(head []byte) string {
	for {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole || !printable(line) {
			return ""
		}
		head = rest
		text := strings.TrimRight(string(line), " ")
		switch name, isName := strings.CutPrefix(text, "name: "); {
		case text == "", text[0] == '#', text == "version: 1":
		case isName && IsName(name) && isWord(name) && ends(head):
			return name
		default:
			return ""
		}
	}
}

// printable reports whether a line is one to YAML too, which also breaks lines at characters beyond ASCII.
func printable(line []byte) bool {
	return bytes.IndexFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// isWord reports whether YAML takes a name for a text: it begins with a letter, and is none of the words that are
// truth values or nothing.
func isWord(name string) bool {
	switch name {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return name[0] >= 'a' && name[0] <= 'z'
}

// ends reports whether the line before rest is a whole entry: where the next one is indented, its text goes on.
func ends(rest []byte) bool {
	rest = bytes.TrimLeft(rest, "\n")
	return len(rest) > 0 && (rest[0] == '#' || rest[0] >= 'a' && rest[0] <= 'z')
}
