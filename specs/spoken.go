package specs

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/internal/value"
)

// withheld is what a value says that does not fit its type.
const withheld = "(withheld)"

// size is a count of bytes that speaks with a unit.
type size struct{ bytes any }

// spoken is a value as a text may say it: nothing of it is prose of the polled system. what names the value for the
// log; lost is called with the name of each value that does not fit its type. keys are the names that the author of
// the spec uses: of a mapping without a type nothing else is looked at.
func (t *itemType) spoken(v any, what string, keys map[string]bool, lost func(what string)) any {
	if v == nil {
		return nil
	}
	miss := func() any { lost(what); return withheld }
	switch t.kind() {
	case typeAuto:
		return t.spokenAuto(v, what, keys, lost)
	case typeNames:
		m, ok := v.(map[string]any)
		if !ok {
			return miss()
		}
		out := make(map[string]any, len(t.fields))
		for name, ft := range t.fields {
			if ft.kind() != typeText && keys[name] {
				out[name] = ft.spoken(m[name], what+"."+name, keys, lost)
			}
		}
		return out
	case typeCount:
		if value.IsNumber(v) {
			return v
		}
	case typeBool:
		if _, ok := v.(bool); ok {
			return v
		}
	case typeID:
		if s, ok := idText(v); ok && t.speaksID(s) {
			return s
		}
	case typeWords:
		s, ok := v.(string)
		switch {
		case ok && slices.Contains(t.words, s):
			return s
		case ok:
			return "other"
		}
	case typeURL:
		if s, ok := v.(string); ok && t.speaksURL(s) {
			return s
		}
	case typeTime:
		if at, ok := parseTime(v); ok {
			return at.UTC()
		}
	case typeDuration:
		if d, ok := parseSpan(v); ok {
			return d
		}
	case typeSize:
		if value.IsNumber(v) {
			return size{v}
		}
	}
	return miss()
}

func (t *itemType) kind() typeName {
	if t == nil {
		return typeAuto
	}
	return t.name
}

func (t *itemType) spokenAuto(v any, what string, keys map[string]bool, lost func(string)) any {
	switch v := v.(type) {
	case bool, int, uint64, float64, time.Duration:
		return v
	case time.Time:
		return v.UTC()
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC()
		}
	case []any:
		elem := autoType
		if t != nil && t.elem != nil {
			elem = t.elem
		}
		out := make([]any, min(len(v), maxSpokenList))
		for i := range out {
			out[i] = elem.spoken(v[i], what+"[]", keys, lost)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name := range keys {
			if e, ok := v[name]; ok {
				out[name] = autoType.spoken(e, what+"."+name, keys, lost)
			}
		}
		return out
	}
	lost(what)
	return withheld
}

// maxSpokenList bounds how much of a list a text can name.
const maxSpokenList = 1000

// maxID is how many characters an id may have.
const maxID = 120

// isID reports whether s is one word that may stand in a text.
func isID(s string) bool { return consists(s, maxID, inID) }

func inID(c byte) bool { return isAlnum(c) || strings.IndexByte("._/@:+#~=-", c) >= 0 }

// isWideID is isID with the characters that a pattern may let in beside: `renovate[bot]` is one word too. None of them
// ends a quotation, a tag or a command of a shell.
func isWideID(s string) bool {
	return consists(s, maxID, func(c byte) bool { return inID(c) || strings.IndexByte("[](){},%", c) >= 0 })
}

// speaksID reports whether s is a word that an id of this type may be.
func (t *itemType) speaksID(s string) bool {
	if t.pattern == "" {
		return isID(s)
	}
	return isWideID(s) && t.matcher().MatchString(s)
}

// idText is an id as text: a string, or a whole number.
func idText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int, uint64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// maxURL is how long a URL may be that somebody reads in a message.
const maxURL = 1000

var urlForm = lazily(`\A[!#-;=?-\[\]_a-z~]+\z`)

// speaksURL reports whether s is an absolute URL that a text may name: plain characters, a scheme that a reader can
// open, no password, and a host of the list where there is one.
func (t *itemType) speaksURL(s string) bool {
	u, ok := plainURL(s)
	return ok && (t.hosts == nil || slices.Contains(t.hosts, u.Hostname()))
}

func plainURL(s string) (*url.URL, bool) {
	if len(s) > maxURL || !urlForm().MatchString(s) {
		return nil, false
	}
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Opaque != "" {
		return nil, false
	}
	switch u.Scheme {
	case "http", "https":
		return u, u.Host != ""
	case "file":
		return u, u.Host == "" && u.Path != ""
	}
	return nil, false
}
