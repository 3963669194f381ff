package fetchers

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessevents/sessevents/internal/value"
)

// jsonDecoder decodes one JSON value from each line. It takes and refuses exactly what encoding/json does, invalid
// UTF-8 apart, which it refuses, and gives what [value.Decode] gives, without the members that nobody wants: those are
// checked and gone past. It exists for its speed: a busy log is decoded line by line on every poll. The slices it
// gives hold nothing of the line.
type jsonDecoder struct {
	data  []byte
	at    int
	depth int
	names map[string]string // the names of members, so that each is kept once
	words map[string]any    // short strings likewise: states and kinds come again in every line
}

const (
	maxDepth = 10_000 // as in encoding/json
	maxNames = 1_000
	maxWords = 1_000
	wordLen  = 24
)

// decode returns the value of a line, and false if it is not JSON.
func (d *jsonDecoder) decode(line []byte, want *wanted) (any, bool) {
	if !utf8.Valid(line) {
		return nil, false
	}
	d.data, d.at, d.depth = line, 0, 0
	v, ok := d.value(want)
	if !ok {
		return nil, false
	}
	d.space()
	return v, d.at == len(d.data)
}

func (d *jsonDecoder) space() {
	for d.at < len(d.data) {
		switch d.data[d.at] {
		case ' ', '\t', '\r', '\n':
			d.at++
		default:
			return
		}
	}
}

// next returns the next byte that is no space, without taking it; 0 at the end.
func (d *jsonDecoder) next() byte {
	d.space()
	if d.at == len(d.data) {
		return 0
	}
	return d.data[d.at]
}

func (d *jsonDecoder) value(want *wanted) (any, bool) {
	switch c := d.next(); c {
	case '{':
		return d.object(want)
	case '[':
		return d.list(want)
	case '"':
		return d.text()
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	default:
		raw, ok := d.number()
		if !ok {
			return nil, false
		}
		if n, ok := smallInt(raw); ok {
			return n, true
		}
		return value.Normalise(json.Number(raw)), true
	}
}

// smallInt reads what most numbers are.
func smallInt(raw []byte) (int, bool) {
	if len(raw) > 18 {
		return 0, false
	}
	n, digits := 0, raw
	if raw[0] == '-' {
		digits = raw[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if len(digits) < len(raw) {
		if n == 0 {
			return 0, false // -0
		}
		n = -n
	}
	return n, true
}

func (d *jsonDecoder) object(want *wanted) (any, bool) {
	if !d.enter() {
		return nil, false
	}
	members := map[string]any{}
	more, ok := d.first('}')
	for ; more && ok; more, ok = d.another('}') {
		raw, escaped, ok := d.name()
		if !ok {
			return nil, false
		}
		name, below, skip := d.wants(raw, escaped, want)
		if skip {
			if !d.skip() {
				return nil, false
			}
			continue
		}
		v, ok := d.value(below)
		if !ok {
			return nil, false
		}
		members[name] = v
	}
	d.depth--
	return members, ok
}

// wants looks up a member's raw name: its name, what is wanted below it, and whether it is gone past.
func (d *jsonDecoder) wants(raw []byte, escaped bool, want *wanted) (name string, below *wanted, skip bool) {
	raw = raw[1 : len(raw)-1]
	if escaped {
		raw = []byte(unescape(raw))
	}
	if want != nil {
		below, found := want.members[string(raw)]
		if !found {
			return "", nil, true
		}
		if below != nil {
			return below.name, below, false
		}
	}
	if name, ok := d.names[string(raw)]; ok {
		return name, nil, false
	}
	name = string(raw)
	if d.names == nil {
		d.names = map[string]string{}
	}
	if len(d.names) < maxNames {
		d.names[name] = name
	}
	return name, nil, false
}

func (d *jsonDecoder) list(want *wanted) (any, bool) {
	if !d.enter() {
		return nil, false
	}
	list := []any{}
	more, ok := d.first(']')
	for ; more && ok; more, ok = d.another(']') {
		v, ok := d.value(want)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	d.depth--
	return list, ok
}

// skip goes past a value and checks it.
func (d *jsonDecoder) skip() bool {
	switch d.next() {
	case '{':
		if !d.enter() {
			return false
		}
		more, ok := d.first('}')
		for ; more && ok; more, ok = d.another('}') {
			if _, _, ok := d.name(); !ok || !d.skip() {
				return false
			}
		}
		d.depth--
		return ok
	case '[':
		if !d.enter() {
			return false
		}
		more, ok := d.first(']')
		for ; more && ok; more, ok = d.another(']') {
			if !d.skip() {
				return false
			}
		}
		d.depth--
		return ok
	case '"':
		_, _, ok := d.quoted()
		return ok
	case 't':
		return d.word("true")
	case 'f':
		return d.word("false")
	case 'n':
		return d.word("null")
	}
	_, ok := d.number()
	return ok
}

// enter takes the bracket that opens an object or a list.
func (d *jsonDecoder) enter() bool {
	d.at++
	d.depth++
	return d.depth <= maxDepth
}

// first says whether an object or a list has an element at all.
func (d *jsonDecoder) first(end byte) (more, ok bool) {
	if d.next() == end {
		d.at++
		return false, true
	}
	return true, true
}

// another goes past a comma to the next element, or past the end.
func (d *jsonDecoder) another(end byte) (more, ok bool) {
	switch c := d.next(); c {
	case ',':
		d.at++
		return true, true
	case end:
		d.at++
		return false, true
	}
	return false, false
}

// name takes a member's name, quotes included, and the colon behind it.
func (d *jsonDecoder) name() (raw []byte, escaped, ok bool) {
	if d.next() != '"' {
		return nil, false, false
	}
	raw, escaped, ok = d.quoted()
	if !ok || d.next() != ':' {
		return nil, false, false
	}
	d.at++
	return raw, escaped, true
}

func (d *jsonDecoder) text() (any, bool) {
	raw, escaped, ok := d.quoted()
	if !ok {
		return nil, false
	}
	if escaped {
		return unescape(raw[1 : len(raw)-1]), true
	}
	raw = raw[1 : len(raw)-1]
	if len(raw) > wordLen {
		return string(raw), true
	}
	if v, ok := d.words[string(raw)]; ok {
		return v, true
	}
	s := string(raw)
	var v any = s
	if d.words == nil {
		d.words = map[string]any{}
	}
	if len(d.words) < maxWords {
		d.words[s] = v
	}
	return v, true
}

// quoted takes a string, quotes included, and checks it. What it returns is still escaped where it says so.
func (d *jsonDecoder) quoted() (raw []byte, escaped, ok bool) {
	begin := d.at
	for i := begin + 1; i < len(d.data); i++ {
		if i += plainRun(d.data[i:]); i >= len(d.data) {
			break
		}
		switch d.data[i] {
		case '"':
			d.at = i + 1
			return d.data[begin:d.at], escaped, true
		case '\\':
			n, ok := escape(d.data[i:])
			if !ok {
				return nil, false, false
			}
			escaped = true
			i += n - 1
		default: // a control character
			return nil, false, false
		}
	}
	return nil, false, false
}

// plainRun counts the bytes before the first quote, backslash or control character, eight at a time: most of a log is
// text that is only gone past.
func plainRun(b []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// The lowest byte that is found is right; a borrow can only add wrong ones above it.
		found := ((w - ones*' ') &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
		if found &= high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// escape is the length of the escape at the start of b.
func escape(b []byte) (int, bool) {
	if len(b) < 2 {
		return 0, false
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, true
	case 'u':
		if len(b) < 6 {
			return 0, false
		}
		for _, c := range b[2:6] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0, false
			}
		}
		return 6, true
	}
	return 0, false
}

// unescape reads what stands between the quotes of a string that was checked. As in encoding/json, half a surrogate
// pair is U+FFFD.
func unescape(b []byte) string {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return string(append(out, b...))
		}
		out = append(out, b[:i]...)
		switch c := b[i+1]; c {
		case 'u':
			r := hex4(b[i+2:])
			b = b[i+6:]
			if utf16.IsSurrogate(r) {
				pair := unicode.ReplacementChar
				if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
					pair = utf16.DecodeRune(r, hex4(b[2:]))
				}
				if r = pair; r != unicode.ReplacementChar {
					b = b[6:]
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
		b = b[i+2:]
	}
	return string(out)
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		r = r<<4 | rune(c)
	}
	return r
}

func (d *jsonDecoder) word(w string) bool {
	if !bytes.HasPrefix(d.data[d.at:], []byte(w)) {
		return false
	}
	d.at += len(w)
	return true
}

// number takes a number and checks its form.
func (d *jsonDecoder) number() ([]byte, bool) {
	begin := d.at
	if d.peek() == '-' {
		d.at++
	}
	if d.peek() == '0' {
		d.at++
	} else if !d.digits() {
		return nil, false
	}
	if d.peek() == '.' {
		d.at++
		if !d.digits() {
			return nil, false
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		d.at++
		if c := d.peek(); c == '+' || c == '-' {
			d.at++
		}
		if !d.digits() {
			return nil, false
		}
	}
	return d.data[begin:d.at], true
}

func (d *jsonDecoder) peek() byte {
	if d.at < len(d.data) {
		return d.data[d.at]
	}
	return 0
}

func (d *jsonDecoder) digits() bool {
	begin := d.at
	for d.at < len(d.data) && d.data[d.at] >= '0' && d.data[d.at] <= '9' {
		d.at++
	}
	return d.at > begin
}
