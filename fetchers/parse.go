package fetchers

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessevents/sessevents/internal/value"
)

// parseOutput reads what a command printed. A command that ended with another accepted code than 0 need not have
// printed JSON: its output is nil then.
func parseOutput(form string, data []byte, exit int, want *Want) (any, error) {
	var d jsonDecoder
	switch form {
	case "json":
		v, err := d.document(data, want)
		if err != nil && exit != 0 {
			return nil, nil
		}
		return v, err
	case "jsonl":
		return d.documents(data, want.Elements())
	case "lines":
		return splitLines(strings.ToValidUTF8(string(data), "\ufffd")), nil
	case "text":
		return trimEnd(data), nil
	}
	if v, ok := d.looksJSON(data, want); ok {
		return v, nil
	}
	if d.deep {
		return nil, tooDeep(data)
	}
	return trimEnd(data), nil
}

// trimEnd is text as `$(command)` gives it.
func trimEnd(data []byte) string {
	return strings.TrimRight(strings.ToValidUTF8(string(data), "\ufffd"), "\r\n")
}

// looksJSON decodes data that is wholly an object or a list. A bare number or word stays text.
func (d *jsonDecoder) looksJSON(data []byte, want *Want) (any, bool) {
	d.deep = false
	t := bytes.TrimLeft(data, " \t\r\n")
	if len(t) == 0 || t[0] != '{' && t[0] != '[' {
		return nil, false
	}
	v, err := d.document(data, want)
	return v, err == nil
}

// document reads what is wanted of one document. Its error never quotes it.
func (d *jsonDecoder) document(data []byte, want *Want) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, failf("parse", "empty, not JSON")
	}
	v, ok := d.decode(data, want)
	if d.deep {
		return nil, tooDeep(data)
	}
	if !ok && !utf8.Valid(data) {
		return nil, failf("parse", "not UTF-8, not JSON (%d bytes)", len(data))
	}
	if !ok {
		return nil, failf("parse", "not JSON (%d bytes)", len(data))
	}
	return v, nil
}

func tooDeep(data []byte) error { return failf("parse", "%w (%d bytes)", value.ErrTooDeep, len(data)) }

// documents reads what is wanted of each line's document.
func (d *jsonDecoder) documents(data []byte, each *Want) (any, error) {
	list := []any{}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := d.document(line, each)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, v)
	}
	return list, nil
}

func splitLines(text string) []any {
	list := []any{}
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return list
}

// body is what an HTTP answer carries.
type body struct {
	status int
	kind   string // Content-Type as it was sent
	data   []byte
}

// parse reads a body in the form that the spec asks for. Outside 2xx a body that is no JSON is nil: the status is the
// answer, and it was accepted.
func (b body) parse(d *jsonDecoder, form string, want *Want) (any, error) {
	media, params, err := mime.ParseMediaType(b.kind)
	if err != nil {
		media, params = "", nil
	}
	if b.status == 204 || b.status == 304 {
		return nil, nil
	}
	text, err := decodeText(b.data, params["charset"])
	if err == nil {
		switch form {
		case "text":
			return string(text), nil
		case "lines":
			return splitLines(string(text)), nil
		}
	}
	named := media == "application/json" || strings.HasSuffix(media, "+json") || media == "text/json"
	if err == nil && form == "auto" && !named {
		if isPage(media, text) {
			return b.page()
		}
		if media == "" || media == "text/plain" || media == "application/octet-stream" {
			if v, ok := d.looksJSON(text, want); ok {
				return v, nil
			}
			if d.deep && b.status/100 == 2 {
				return nil, tooDeep(text)
			}
		}
		return string(text), nil
	}
	var v any
	if err == nil {
		v, err = d.document(text, want)
	}
	if err != nil && b.status/100 != 2 {
		return nil, nil
	}
	if err != nil {
		return nil, failf("parse", "status %d, %s, %d bytes: %w", b.status, b.media(), len(b.data), err)
	}
	return v, nil
}

// page is what a page of HTML is where nobody asked for text. With a status of 2xx it is most likely not from whom we
// asked: a login page, a captive portal, an error of a proxy. Taken as data it would say that all items are gone.
func (b body) page() (any, error) {
	if b.status/100 != 2 {
		return nil, nil
	}
	return nil, failf("parse", "status %d, %s, %d bytes: a page of HTML; `parse: text` would take it as text", b.status, b.media(), len(b.data))
}

// isPage says whether a body is a page of HTML, by its type or by how it begins. Of the beginnings only those count that
// no other text has: a README may well begin with <p>.
func isPage(media string, text []byte) bool {
	if media == "text/html" || media == "application/xhtml+xml" {
		return true
	}
	for {
		text = bytes.TrimLeft(text, " \t\r\n\f")
		var after []byte
		found := false
		switch {
		case bytes.HasPrefix(text, []byte("<!--")):
			_, after, found = bytes.Cut(text, []byte("-->"))
		case bytes.HasPrefix(text, []byte("<?")):
			_, after, found = bytes.Cut(text, []byte("?>"))
		}
		if !found {
			return beginsWith(text, "<!doctype html") || beginsWith(text, "<html")
		}
		text = after
	}
}

// beginsWith compares without regard to case; the word must end there.
func beginsWith(text []byte, word string) bool {
	if len(text) <= len(word) || !bytes.EqualFold(text[:len(word)], []byte(word)) {
		return false
	}
	return bytes.IndexByte([]byte(" \t\r\n\f>/"), text[len(word)]) >= 0
}

// media is the type of the body for an error: a word from outside, so bounded and of few characters.
func (b body) media() string {
	media, _, err := mime.ParseMediaType(b.kind)
	if err != nil || media == "" {
		return "no content type"
	}
	return mediaWord(media)
}

// decodeText brings text to UTF-8.
func decodeText(data []byte, charset string) ([]byte, error) {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		if !utf8.Valid(data) {
			return nil, failf("parse", "not UTF-8")
		}
		return data, nil
	case "iso-8859-1", "latin1", "latin-1", "iso8859-1":
		out := make([]byte, 0, len(data))
		for _, b := range data {
			out = utf8.AppendRune(out, rune(b))
		}
		return out, nil
	case "utf-16", "utf-16le", "utf-16be":
		return decodeUTF16(data, strings.ToLower(charset) != "utf-16le")
	}
	return nil, failf("parse", "the charset is not understood")
}

func decodeUTF16(data []byte, big bool) ([]byte, error) {
	if len(data)%2 != 0 {
		return nil, failf("parse", "half a character of UTF-16")
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i < len(data); i += 2 {
		a, b := uint16(data[i]), uint16(data[i+1])
		if i == 0 && a == 0xff && b == 0xfe {
			big = false
		}
		if big {
			units = append(units, a<<8|b)
		} else {
			units = append(units, b<<8|a)
		}
	}
	if len(units) > 0 && units[0] == 0xfeff {
		units = units[1:]
	}
	return []byte(string(utf16.Decode(units))), nil
}
