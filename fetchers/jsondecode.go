package fetchers

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/sessevents/sessevents/internal/value"
)

// jsonDecoder decodes one JSON value at a time. It takes and refuses exactly what encoding/json does, apart from
// invalid UTF-8 and what is nested deeper than [value.MaxDepth], which it refuses, and gives what [value.Decode] gives, without the parts that nobody wants: those are checked
// and gone past. It exists for its speed: a busy log is decoded line by line on every poll. What it gives holds nothing
// of the text.
type jsonDecoder struct {
	data  []byte
	at    int
	depth int
	deep  bool              // it ended because the value is nested deeper than value.MaxDepth
	made  int               // about how many bytes the values take that were made
	names map[string]string // the names of members, so that each is kept once
	words map[string]any    // short strings likewise: states and kinds come again in every line
}

const (
	maxNames = 1_000
	maxWords = 1_000
	wordLen  = 24
)

// decode returns what is wanted of the value of a line, and false if it is not JSON.
func (d *jsonDecoder) decode(line []byte, want *Want) (any, bool) {
	d.data, d.at, d.depth, d.deep = line, 0, 0, false
	if !utf8.Valid(line) {
		return nil, false
	}
	v, ok := d.value(want)
	if !ok {
		return nil, false
	}
	d.space()
	return v, d.at == len(line)
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

func (d *jsonDecoder) value(want *Want) (any, bool) {
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

func (d *jsonDecoder) object(want *Want) (any, bool) {
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
	if d.made += 50; len(members) > 0 {
		d.made += 40 * max(len(members), 8)
	}
	return members, ok
}

// wants looks up a member's raw name: its name, what is wanted below it, and whether it is gone past.
func (d *jsonDecoder) wants(raw []byte, escaped bool, want *Want) (name string, below *Want, skip bool) {
	raw = raw[1 : len(raw)-1]
	if escaped {
		raw = []byte(unescape(raw))
	}
	if want != nil {
		var named bool
		if below, named = want.Members[string(raw)]; !named {
			if want.Each == nil {
				return "", nil, true
			}
			below = want.Each
		}
	}
	if name, ok := d.names[string(raw)]; ok {
		return name, below, false
	}
	name = string(raw)
	if d.names == nil {
		d.names = map[string]string{}
	}
	if len(d.names) < maxNames {
		d.names[name] = name
	}
	return name, below, false
}

func (d *jsonDecoder) list(want *Want) (any, bool) {
	if !d.enter() {
		return nil, false
	}
	list := []any{}
	skip := want != nil && want.Each == nil
	each := want.Elements()
	more, ok := d.first(']')
	for ; more && ok; more, ok = d.another(']') {
		if skip {
			if !d.skip() {
				return nil, false
			}
			continue
		}
		v, ok := d.value(each)
		if !ok {
			return nil, false
		}
		if cap(list) == 0 {
			list = make([]any, 0, 4)
		}
		list = append(list, v)
	}
	d.depth--
	d.made += 40 + 16*cap(list)
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
	if d.depth > value.MaxDepth {
		d.deep = true
		return false
	}
	return true
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
	raw = raw[1 : len(raw)-1]
	if escaped {
		d.made += 16 + len(raw)
		return unescape(raw), true
	}
	if len(raw) > wordLen {
		d.made += 16 + len(raw)
		return string(raw), true
	}
	if v, ok := d.words[string(raw)]; ok {
		return v, true
	}
	s := string(raw)
	var v any = s
	d.made += 16 + len(raw)
	if d.words == nil {
		d.words = map[string]any{}
	}
	if len(d.words) < maxWords {
		d.words[s] = v
	}
	return v, true
}
