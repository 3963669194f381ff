package complete

import "strings"

// typed is how the word being typed stands in bash's line.
type typed struct {
	plain  bool   // the shell quotes for itself
	quoted bool   // an open quote stands before it
	taken  string // what of the word bash has cut off at a break; it wants the rest only
}

// split takes a line of bash apart, as far as completion needs it: quotes and backslashes, nothing else. The first
// word, the program, is left out. breaks are the characters at which bash cuts what it completes, beside white space:
// for it, the = of --spec=x ends a word.
func split(line, breaks string) (words []string, last typed) {
	var word strings.Builder
	begun := false
	quote := rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
			last.taken = word.String()
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun, last.taken = false, ""
			}
		default:
			begun = true
			word.WriteRune(r)
			if strings.ContainsRune(breaks, r) {
				last.taken = word.String()
			}
		}
	}
	words = append(words, word.String())
	last.quoted = quote != 0
	return words[min(1, len(words)-1):], last
}

// quote writes a candidate so that the shell takes it for one word.
func (t typed) quote(word string) string {
	if t.plain {
		return word
	}
	rest, ok := strings.CutPrefix(word, t.taken)
	if !ok {
		return ""
	}
	if t.quoted {
		return rest
	}
	var b strings.Builder
	for i, r := range rest {
		if strings.ContainsRune(" \t\"'\\$`&|;<>()[]{}*?!", r) || i == 0 && t.taken == "" && strings.ContainsRune("#~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
