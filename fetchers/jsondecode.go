package fetchers

import (
	"bytes"
	"encoding/json"
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
}

const (
	maxDepth = 10_000 // as in encoding/json
	maxNames = 1_000
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
		raw, ok := d.name()
		if !ok {
			return nil, false
		}
		name, below, skip, ok := d.wants(raw, want)
		if !ok {
			return nil, false
		}
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
func (d *jsonDecoder) wants(raw []byte, want *wanted) (name string, below *wanted, skip, ok bool) {
	if bytes.IndexByte(raw, '\\') >= 0 {
		var plain string
		if json.Unmarshal(raw, &plain) != nil {
			return "", nil, false, false
		}
		if want == nil {
			return plain, nil, false, true
		}
		below, found := want.members[plain]
		return plain, below, !found, true
	}
	raw = raw[1 : len(raw)-1]
	if want != nil {
		below, found := want.members[string(raw)]
		if !found {
			return "", nil, true, true
		}
		if below != nil {
			return below.name, below, false, true
		}
	}
	if name, ok := d.names[string(raw)]; ok {
		return name, nil, false, true
	}
	name = string(raw)
	if d.names == nil {
		d.names = map[string]string{}
	}
	if len(d.names) < maxNames {
		d.names[name] = name
	}
	return name, nil, false, true
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
			if _, ok := d.name(); !ok || !d.skip() {
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
		_, ok := d.quoted()
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
func (d *jsonDecoder) name() ([]byte, bool) {
	if d.next() != '"' {
		return nil, false
	}
	raw, ok := d.quoted()
	if !ok || d.next() != ':' {
		return nil, false
	}
	d.at++
	return raw, true
}

func (d *jsonDecoder) text() (any, bool) {
	raw, ok := d.quoted()
	if !ok {
		return nil, false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	return s, true
}

// quoted takes a string, quotes included, and checks it. What it returns is still escaped.
func (d *jsonDecoder) quoted() ([]byte, bool) {
	begin := d.at
	for i := begin + 1; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '"':
			d.at = i + 1
			return d.data[begin:d.at], true
		case c < ' ':
			return nil, false
		case c == '\\':
			n, ok := escape(d.data[i:])
			if !ok {
				return nil, false
			}
			i += n - 1
		}
	}
	return nil, false
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
