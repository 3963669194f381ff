package specs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how many characters a text of an event may have.
const maxText = 300

// clean removes what no text may hold: characters that control a terminal or turn the direction of reading, and
// line breaks, of which each becomes one space.
func clean(s string) string {
	if !strings.ContainsFunc(s, unclean) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			b.WriteByte(' ')
		case unclean(r), r == utf8.RuneError:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unclean are the control characters, and all that the eye does not see: format characters (bidirectional marks,
// zero widths, tags), separators of lines, surrogates and private use.
func unclean(r rune) bool {
	return unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Variation_Selector, r) && r != '\ufe0f'
}

// closingTag is the end of a message's envelope, however it is spelled.
var closingTag = lazily(`(?i)<\s*/\s*cross-session-message[^>]*>?`)

// cleanWord is a word that the user typed, without what no text may hold.
func cleanWord(s string) string {
	s = strings.Map(func(r rune) rune {
		if unclean(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	for closingTag().MatchString(s) { // what is left of one may close up to another
		s = closingTag().ReplaceAllString(s, "")
	}
	return s
}

// cut shortens s to at most n characters, with an ellipsis as the last.
func cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count++; count == n {
			return s[:i] + "…"
		}
	}
	return s
}
