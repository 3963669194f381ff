package fetchers

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

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
