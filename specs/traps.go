package specs

import (
	"strings"
	"unicode/utf8"
)

// trap is a place where a line of YAML says something else than it shows.
type trap struct {
	line                int
	at, width           int // in bytes of the line
	code, message, hint string
}

// A condition that begins with `!` is a tag to YAML, and what follows it is another value or none.
const (
	tagMessage = "YAML takes a string that begins with `!` for a tag"
	tagHint    = "put the whole string in quotes, or write `not`"
)

// bracket is a `{` or `[` that is open.
type bracket struct {
	line, at, indent int
	char             byte
	colon            bool // its part so far has a key
}

// trapFinder walks over a file that YAML cannot read, as YAML would, and stops at the first thing that it cannot
// mean. The library names the line on which the whole block began, and no column.
type trapFinder struct {
	src     *source
	line    int
	text    string
	open    []bracket
	quote   byte  // of a string that goes on in the next line
	begun   *trap // where that string began
	comment *trap // that may have cut off the end of a bracket
	block   int   // the indentation of the line whose block scalar this is; -1: none
	last    byte  // of what stood before, without white space and comments
	found   *trap

	// of one line
	value bool // a value may begin here
	after bool // a string in quotes or a closed bracket stands before
	colon bool // outside of brackets: the line has its key
}

// firstTrap is the first trap of the file.
func (s *source) firstTrap() *trap {
	f := &trapFinder{src: s, block: -1}
	for f.line = 1; f.line <= len(s.lines) && f.found == nil; f.line++ {
		f.text = s.line(f.line)
		f.scanLine()
	}
	if f.found == nil && f.quote != 0 {
		return f.begun
	}
	if f.found == nil {
		f.unclosed()
	}
	return f.found
}

func (f *trapFinder) report(at, width int, code, message, hint string) {
	if f.found == nil {
		f.found = &trap{f.line, at, max(width, 1), code, message, hint}
	}
}

// unclosed reports the innermost bracket that is open.
func (f *trapFinder) unclosed() {
	if f.comment != nil {
		f.found = f.comment
	} else if n := len(f.open); n > 0 {
		b := f.open[n-1]
		f.found = &trap{b.line, b.at, 1, "yaml", "this `" + string(b.char) + "` has no end", "close it with `" + string(closing(b.char)) + "`"}
	}
}

func closing(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ']'
}

// scanLine scans one line.
func (f *trapFinder) scanLine() {
	indent := len(f.text) - len(strings.TrimLeft(f.text, " "))
	blank := strings.TrimSpace(f.text) == ""
	if f.block >= 0 {
		if indent > f.block || blank {
			return // what stands in a block scalar is no YAML
		}
		f.block = -1
	}
	from := 0
	if f.quote != 0 {
		end := quoteEnd(f.text, -1, f.quote)
		if end < 0 {
			return
		}
		f.closeQuote(0, end, f.quote)
		from = end + 1
	} else {
		if !blank && len(f.open) > 0 && indent <= f.open[0].indent && (f.comment != nil || strings.IndexByte(",[{:", f.last) < 0) && blockKey().MatchString(f.text) {
			f.unclosed() // the block goes on: the bracket was forgotten
			return
		}
		f.value, f.after, f.colon = true, false, false
	}
	f.scan(from, indent)
	if blockBegins().MatchString(f.text) && len(f.open) == 0 && f.quote == 0 {
		f.block = parentIndent(f.text)
	}
}

// parentIndent is the indentation that the lines of a block scalar must exceed: that of its key, or of its dash.
func parentIndent(text string) int {
	at := len(text) - len(strings.TrimLeft(text, " "))
	for strings.HasPrefix(text[at:], "- ") {
		next := at + 1 + len(text[at+1:]) - len(strings.TrimLeft(text[at+1:], " "))
		if text[next] == '|' || text[next] == '>' {
			return at
		}
		at = next
	}
	return at
}

func (f *trapFinder) scan(from, indent int) {
	for i := from; i < len(f.text) && f.found == nil; i++ {
		c := f.text[i]
		switch {
		case c == ' ' || c == '\t':
			continue
		case c == '#' && (i == 0 || f.text[i-1] == ' ' || f.text[i-1] == '\t'):
			if len(f.open) > 0 && strings.ContainsAny(f.text[i:], "}]") && f.open[len(f.open)-1].line == f.line {
				f.comment = &trap{f.line, i, len(f.text) - i, "unquoted", "YAML takes this for a comment, and so the `{` or `[` before it has no end", "put the string that holds a space and `#` in quotes"}
			}
			return
		case (c == '!' || c == '&') && f.value: // a tag or an anchor: the value comes behind it
			if c == '!' && i+1 < len(f.text) && strings.IndexByte("! ", f.text[i+1]) < 0 {
				f.report(i, 1, "unquoted", tagMessage, tagHint)
			}
			for i+1 < len(f.text) && strings.IndexByte(" ,[]{}", f.text[i+1]) < 0 {
				i++
			}
		case (c == '"' || c == '\'') && f.value:
			end := quoteEnd(f.text, i, c)
			if end < 0 {
				f.quote, f.begun = c, &trap{f.line, i, 1, "quote", "this `" + string(c) + "` has no end", "close the string with another `" + string(c) + "`"}
				return
			}
			f.closeQuote(i, end, c)
			i = end
		default:
			f.sign(i, c, indent)
		}
		f.last = f.text[i]
	}
}

func (f *trapFinder) closeQuote(begin, end int, quote byte) {
	if t, bad := afterQuote(f.text, begin, end, quote, len(f.open)); bad {
		f.report(t.at, t.width, t.code, t.message, t.hint)
	}
	f.quote, f.value, f.after, f.last = 0, false, true, quote
}

// sign is a character outside of quotes.
func (f *trapFinder) sign(i int, c byte, indent int) {
	flow := len(f.open) > 0
	after := f.after
	switch {
	case (c == '[' || c == '{') && f.value:
		f.open = append(f.open, bracket{line: f.line, at: i, indent: indent, char: c})
		f.value, f.after = true, false
		return
	case c == '{' && flow && i > 0 && f.text[i-1] == '$':
		end := strings.IndexByte(f.text[i:], '}') + 1
		if end == 0 {
			end = 1
		}
		f.report(i-1, end+1, "unquoted-template", "in `{…}` and `[…]` YAML takes the brace of `${…}` for its own", "quote the whole string: in `{…}` and `[…]` a `${…}` must stand in quotes")
	case (c == '[' || c == '{') && flow:
		f.report(i, 1, "unquoted", "in `{…}` and `[…]` a `"+string(c)+"` ends a string without quotes", "put the string in quotes, or on a line of its own")
	case (c == ']' || c == '}') && flow:
		if b := f.open[len(f.open)-1]; c != closing(b.char) {
			f.report(i, 1, "yaml", "this `"+string(c)+"` stands where a `"+string(b.char)+"` is open", "close it with `"+string(closing(b.char))+"`")
		}
		if f.open = f.open[:len(f.open)-1]; len(f.open) == 0 {
			f.comment = nil
		}
		f.value, f.after = false, true
		return
	case c == ',' && flow:
		f.open[len(f.open)-1].colon = false
		f.value, f.after = true, false
		return
	case c == ':' && f.endsKey(i, after, flow):
		colon := &f.colon
		if flow {
			colon = &f.open[len(f.open)-1].colon
		}
		if *colon {
			f.report(i, 1, "unquoted-colon", "YAML takes what stands before this colon for a key", "quote the string: it holds a colon and a space")
		}
		*colon, f.value, f.after = true, true, false
		return
	case c == '-' && !flow && strings.Trim(f.text[:i], " -") == "" && (i+1 == len(f.text) || f.text[i+1] == ' '):
		f.value = true
		return
	case flow && after:
		f.report(i, 1, "unquoted", "in `{…}` and `[…]` nothing can follow a string in quotes or a closed bracket but a comma", "put the whole string in quotes, or on a line of its own")
	}
	f.value, f.after = false, false
}

// endsKey reports whether a colon makes a key of what stands before it.
func (f *trapFinder) endsKey(i int, after, flow bool) bool {
	return i+1 == len(f.text) || f.text[i+1] == ' ' || f.text[i+1] == '\t' || flow && after
}

// quoteEnd is where the string that begins at i ends, -1 where it does not in this line.
func quoteEnd(line string, i int, quote byte) int {
	for j := i + 1; j < len(line); j++ {
		switch {
		case line[j] == '\\' && quote == '"':
			j++
		case line[j] == quote && quote == '\'' && j+1 < len(line) && line[j+1] == quote:
			j++
		case line[j] == quote:
			return j
		}
	}
	return -1
}

// afterQuote reports what stands behind a string and cannot stand there.
func afterQuote(line string, begin, end int, quote byte, depth int) (trap, bool) {
	rest := strings.TrimLeft(line[end+1:], " ")
	spaced := len(rest) < len(line)-end-1
	if rest == "" || rest[0] == ':' || rest[0] == '#' && spaced || depth > 0 && strings.ContainsRune(",]}", rune(rest[0])) {
		return trap{}, false
	}
	t := trap{at: end, width: 1, code: "quote", message: "the string ends at this quote: YAML knows nothing that could follow it", hint: `write the whole in single quotes`}
	if quote == '\'' {
		t.hint = "write a single quote inside single quotes twice: `''`"
	} else if strings.Contains(line[begin:], "'") {
		t.hint = "write a double quote inside double quotes as `\\\"`"
	}
	return t, true
}

var (
	blockBegins = lazily(`(?:^|[:-] +)[|>][-+0-9]*(?: +#.*)?$`)
	blockKey    = lazily(`^ *(?:- +)*[\w-]+:(?: |$)|^ *- `)
)

// reportTrap notes the first trap of a file that the library cannot read, if there is one.
func (r *reader) reportTrap() bool {
	t := r.src.firstTrap()
	if t == nil {
		return false
	}
	text := r.src.line(t.line)
	r.put(Diagnostic{
		Line: t.line, Column: utf8.RuneCountInString(text[:t.at]) + 1, Width: utf8.RuneCountInString(text[t.at:min(t.at+t.width, len(text))]),
		Code: t.code, Message: t.message, Hint: t.hint,
	})
	return true
}
