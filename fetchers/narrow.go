package fetchers

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

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

// wanted is a tree of the members that are read. A nil tree is everything.
type wanted struct {
	name    string
	all     bool
	members map[string]*wanted
}

func newWanted(narrow *Narrow) *wanted {
	if narrow == nil || narrow.Paths == nil {
		return nil
	}
	root := &wanted{}
	for _, path := range narrow.Paths {
		n := root
		for _, name := range path {
			if n.members == nil {
				n.members = map[string]*wanted{}
			}
			if n.members[name] == nil {
				n.members[name] = &wanted{name: name}
			}
			n = n.members[name]
		}
		n.all = true
	}
	return root.settled()
}

// settled turns what is wanted whole into nil.
func (w *wanted) settled() *wanted {
	if w.all {
		return nil
	}
	for name, m := range w.members {
		w.members[name] = m.settled()
	}
	return w
}
