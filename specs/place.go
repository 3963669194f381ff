package specs

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// source is the text of one spec, with its lines found.
type source struct {
	file  string
	text  []byte
	lines []int // byte offset of the start of each line

	shown     int // the line that was asked for last
	shownText string
}

func newSource(file string, text []byte) *source {
	s := &source{file: file, text: text, lines: []int{0}}
	for i := 0; i < len(text); {
		n := lineBreak(text[i:])
		if n > 0 {
			s.lines = append(s.lines, i+n)
		}
		i += max(n, 1)
	}
	return s
}

// lineBreak is how many bytes of a line break text begins with, 0 where it begins with none: those that YAML 1.1
// knows, or its lines would be counted otherwise than the library does.
func lineBreak(text []byte) int {
	switch text[0] {
	case '\n':
		return 1
	case '\r':
		if len(text) > 1 && text[1] == '\n' {
			return 2
		}
		return 1
	case 0xc2: // U+0085
		if len(text) > 1 && text[1] == 0x85 {
			return 2
		}
	case 0xe2: // U+2028 and U+2029
		if len(text) > 2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9) {
			return 3
		}
	}
	return 0
}

// line is the text of a line, counted from 1, without its end. Many faults may stand in one long line: it is made once.
// It is for one goroutine.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	if s.shown != n {
		s.shown, s.shownText = n, s.lineText(n)
	}
	return s.shownText
}

func (s *source) lineText(n int) string {
	end := len(s.text)
	if n < len(s.lines) {
		end = s.lines[n]
	}
	return string(bytes.TrimRight(s.text[s.lines[n-1]:end], "\r\n\u0085\u2028\u2029"))
}

// offset is the byte where a line and a column of characters stand, both counted from 1.
func (s *source) offset(line, column int) int {
	if line < 1 || line > len(s.lines) {
		return len(s.text)
	}
	at := s.lines[line-1]
	for ; column > 1 && at < len(s.text) && lineBreak(s.text[at:]) == 0; column-- {
		_, n := utf8.DecodeRune(s.text[at:])
		at += n
	}
	return at
}

// position is the line and column, both counted from 1, of a byte.
func (s *source) position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(s.text))
	lo, hi := 0, len(s.lines)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; s.lines[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1, utf8.RuneCount(s.text[s.lines[lo]:offset]) + 1
}

// inside is the place of byte `at` of a scalar's value: in the file the value may be quoted, escaped, folded over
// lines or indented as a block. Where the way back is not certain, the place is the scalar's own.
func (s *source) inside(n *yaml.Node, at int) (line, column int) {
	if n.Kind != yaml.ScalarNode || at <= 0 && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		at := s.offset(n.Line, n.Column)
		if n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			at++
		}
		return s.position(at)
	}
	return s.at(n, at, s.trace(n))
}

// at is the place of byte `at` of a scalar's value by its trace.
func (s *source) at(n *yaml.Node, at int, offsets []int) (line, column int) {
	if offsets == nil || at >= len(offsets) {
		return n.Line, n.Column
	}
	return s.position(offsets[at])
}

// trace gives for each byte of a scalar's value, and for its end, the byte of the file that it came from; nil where
// the two do not fit together.
func (s *source) trace(n *yaml.Node) []int {
	t := tracer{text: s.text, at: s.offset(n.Line, n.Column), value: n.Value, offsets: make([]int, 0, len(n.Value)+1)}
	ok := false
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		ok = t.block()
	case n.Style&yaml.DoubleQuotedStyle != 0:
		t.at++
		ok = t.flow(t.escaped)
	case n.Style&yaml.SingleQuotedStyle != 0:
		t.at++
		ok = t.flow(t.doubled)
	default:
		ok = t.flow(t.plain)
	}
	if !ok {
		return nil
	}
	return append(t.offsets, min(t.at, len(t.text)))
}

// tracer walks over a scalar's value and its text in the file side by side.
type tracer struct {
	text    []byte
	at      int
	value   string
	offsets []int // one for each byte of value that is done
}

func (t *tracer) left() string { return t.value[len(t.offsets):] }

// take notes that the next bytes of the value came from here.
func (t *tracer) take(want string, width int) bool {
	if len(t.left()) < len(want) || t.left()[:len(want)] != want {
		return false
	}
	for range len(want) {
		t.offsets = append(t.offsets, t.at)
	}
	t.at += width
	return true
}

// flow follows a scalar that may be folded over lines: a line break is a space, each further one a line break.
func (t *tracer) flow(one func() bool) bool {
	for t.left() != "" {
		if t.at >= len(t.text) {
			return false
		}
		if end, breaks := t.folding(); breaks > 0 {
			want := " "
			if breaks > 1 {
				want = "\n"
			}
			for range max(breaks-1, 1) {
				if !t.take(want, 0) {
					return false
				}
			}
			t.at = end
			continue
		}
		if !one() {
			return false
		}
	}
	return true
}

// folding looks whether only white space with line breaks follows; end is where the text goes on.
func (t *tracer) folding() (end, breaks int) {
	for end = t.at; end < len(t.text); end++ {
		switch t.text[end] {
		case '\n':
			breaks++
		case ' ', '\t', '\r':
		default:
			return end, breaks
		}
	}
	return end, breaks
}

func (t *tracer) plain() bool { return t.take(string(t.text[t.at:t.at+1]), 1) }

func (t *tracer) doubled() bool {
	if bytes.HasPrefix(t.text[t.at:], []byte("''")) {
		return t.take("'", 2)
	}
	return t.plain()
}

// escapes are what one letter after a backslash stands for in double quotes.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': "\"", '/': "/", '\\': "\\", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

func (t *tracer) escaped() bool {
	if t.text[t.at] != '\\' {
		return t.plain()
	}
	if t.at+1 >= len(t.text) {
		return false
	}
	c := t.text[t.at+1]
	if s, ok := escapes[c]; ok {
		return t.take(s, 2)
	}
	if c == '\n' || c == '\r' { // an escaped line break is nothing
		t.at++
		t.at, _ = t.folding()
		return true
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits == 0 || t.at+2+digits > len(t.text) {
		return false
	}
	code, err := strconv.ParseUint(string(t.text[t.at+2:t.at+2+digits]), 16, 32)
	return err == nil && t.take(string(rune(code)), 2+digits)
}

// block follows a literal or folded block: its lines stand indented below the indicator. Where the indicator says by
// how much, that counts from a parent which is not known here: the indentation is the one that gives the value.
func (t *tracer) block() bool {
	told := false
	for _, c := range t.text[min(t.at+1, len(t.text)):] { // behind `|` or `>`
		if c != '+' && c != '-' && (c < '1' || c > '9') {
			break
		}
		told = told || c >= '1' && c <= '9'
	}
	header := bytes.IndexByte(t.text[t.at:], '\n')
	if header < 0 {
		return t.value == ""
	}
	t.at += header + 1
	indent := t.firstIndent()
	if !told {
		return t.lines(indent)
	}
	begin := t.at
	for ; indent >= 0; indent-- {
		t.at, t.offsets = begin, t.offsets[:0]
		if t.lines(indent) {
			return true
		}
	}
	return false
}

// firstIndent is the indentation of the first line that holds something.
func (t *tracer) firstIndent() (indent int) {
	for end := t.at; end < len(t.text); end++ {
		if c := t.text[end]; c == '\n' {
			indent = 0
		} else if c == ' ' {
			indent++
		} else if c != '\r' {
			break
		}
	}
	return indent
}

// lines follows the lines of a block that has an indentation.
func (t *tracer) lines(indent int) bool {
	t.skipIndent(indent)
	for t.left() != "" {
		if t.at >= len(t.text) {
			return t.left() == "\n" && t.take("\n", 0)
		}
		if t.text[t.at] == '\r' {
			t.at++
			continue
		}
		if t.text[t.at] != '\n' {
			if !t.plain() {
				return false
			}
			continue
		}
		if !t.breaks(indent) {
			return false
		}
	}
	return true
}

// breaks follows the line breaks between two lines of a block: as many of the value as there are.
func (t *tracer) breaks(indent int) bool {
	took := false
	for t.at < len(t.text) && (t.text[t.at] == '\n' || t.text[t.at] == '\r') {
		switch {
		case t.left() != "" && t.left()[0] == '\n':
			took = t.take("\n", 0)
		case !took && t.left() != "" && t.left()[0] == ' ':
			took = t.take(" ", 0)
		}
		if t.text[t.at] == '\r' && t.at+1 < len(t.text) {
			t.at++
		}
		t.at++
		t.skipIndent(indent)
	}
	return took || t.left() == ""
}

func (t *tracer) skipIndent(indent int) {
	for i := 0; i < indent && t.at < len(t.text) && t.text[t.at] == ' '; i++ {
		t.at++
	}
}
