package fetchers

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Narrow is what the compiler of a spec proved about the programs that read a document. A fetcher may leave out what
// cannot matter to them; what it leaves out it has checked all the same, but for the lines of a stream.
type Narrow struct {
	// Literals are groups, for a stream whose program takes each line alone: a line matters only if, of every group,
	// at least one is a JSON string in the line (a value or a member's name), or a part of one. A line that is left
	// out is not looked at: it counts in [Answer.Read] but, be it malformed, not in `skipped`. An empty list leaves
	// out nothing.
	Literals [][]string
	// Want is the part of the document that is read; nil: all of it.
	Want *Want
}

// Want is the part of a value that is read. Nil is all of it. The zero Want is what everybody sees who looks at the
// value at all: whether it is null, an object or a list, and a string, a number or a boolean as it is.
type Want struct {
	// Members are the members of an object that are read by name.
	Members map[string]*Want
	// Each is what is read of all elements of a list, and of the members of an object that Members does not name.
	// Nil: nobody looks at them, nor counts them.
	Each *Want
}

// nothing is the part of a value that nobody looks at.
var nothing = &Want{}

// Member is the part that is read of the member of this name.
func (w *Want) Member(name string) *Want {
	if w == nil {
		return nil
	}
	if m, ok := w.Members[name]; ok {
		return m
	}
	return w.Elements()
}

// Elements is the part that is read of each element of a list.
func (w *Want) Elements() *Want {
	switch {
	case w == nil:
		return nil
	case w.Each == nil:
		return nothing
	}
	return w.Each
}

// at is the part that is read of a document of which a reader sees only what is at a path.
func (w *Want) at(path []string) *Want {
	for i := len(path) - 1; i >= 0; i-- {
		w = &Want{Members: map[string]*Want{path[i]: w}}
	}
	return w
}

// has says whether somebody looks at the member of this name.
func (w *Want) has(name string) bool {
	if w == nil || w.Each != nil {
		return true
	}
	_, named := w.Members[name]
	return named
}

// document is the part of the document that is read.
func (n *Narrow) document() *Want {
	if n == nil {
		return nil
	}
	return n.Want
}

// sieve tells the lines that may matter from those that cannot, without decoding them. It errs only to one side: a
// line that it holds back has none of the literals, however its strings are written.
type sieve struct {
	all    [][]byte   // of these, every one must stand in the text
	groups [][][]byte // of these, one of each group must be in a string of the line
}

func newSieve(contains []string, narrow *Narrow) sieve {
	var s sieve
	for _, text := range contains {
		s.all = append(s.all, []byte(text))
	}
	if narrow == nil {
		return s
	}
	for _, group := range narrow.Literals {
		if needles := needles(group); len(needles) > 0 {
			s.groups = append(s.groups, needles)
		}
	}
	return s
}

// needles are the literals of a group as they must stand in a line that spells no character as \u…; none if one of
// them could stand there in another form.
func needles(group []string) [][]byte {
	var out [][]byte
	for _, literal := range group {
		part := unescaped(literal)
		if part == "" {
			return nil
		}
		out = append(out, []byte(part))
	}
	return out
}

// unescaped is the longest part of a text that JSON writes letter by letter, but for \u.
func unescaped(text string) string {
	if !utf8.ValidString(text) {
		return ""
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == '/' || r == utf8.RuneError
	}) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

var unicodeEscape = []byte(`\u`)

func (s *sieve) mayMatter(line []byte) bool {
	for _, part := range s.all {
		if !bytes.Contains(line, part) {
			return false
		}
	}
	for _, group := range s.groups {
		if !containsAny(line, group) && !bytes.Contains(line, unicodeEscape) {
			return false
		}
	}
	return true
}

func containsAny(line []byte, group [][]byte) bool {
	for _, part := range group {
		if bytes.Contains(line, part) {
			return true
		}
	}
	return false
}
