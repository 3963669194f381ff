package specs

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// trap is a place where a line of YAML says something else than it shows.
type trap struct {
	at, width           int // in bytes of the line
	code, message, hint string
}

// lineTrap looks for a quote inside of quotes, and for a comment inside of `{…}` or `[…]`. Both make YAML fail, and the
// library then names the line on which the whole block began.
func lineTrap(line string) (trap, bool) {
	depth, value := 0, true // value: a value may begin here
	for i := 0; i < len(line); i++ {
		c := line[i]
		spaceBefore := i == 0 || line[i-1] == ' '
		switch {
		case c == ' ':
			continue
		case (c == '"' || c == '\'') && value:
			end := quoteEnd(line, i)
			if end < 0 {
				return trap{}, false // it goes on in the next line
			}
			if t, bad := afterQuote(line, i, end, depth); bad {
				return t, true
			}
			i = end
		case c == '#' && spaceBefore:
			if depth > 0 && strings.ContainsAny(line[i:], "}]") {
				return trap{i, len(line) - i, "unquoted", "YAML takes this for a comment, and so the `{` or `[` before it has no end", "put the string that holds a space and `#` in quotes"}, true
			}
			return trap{}, false
		case (c == '[' || c == '{') && (value || depth > 0):
			depth, value = depth+1, true
			continue
		case (c == ']' || c == '}') && depth > 0:
			depth--
		case c == ',' && depth > 0, c == ':' && i+1 < len(line) && line[i+1] == ' ', c == '-' && strings.Trim(line[:i], " -") == "":
			value = true
			continue
		}
		value = false
	}
	return trap{}, false
}

// quoteEnd is where the string that begins at i ends, -1 where it does not in this line.
func quoteEnd(line string, i int) int {
	quote := line[i]
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
func afterQuote(line string, begin, end, depth int) (trap, bool) {
	rest := strings.TrimLeft(line[end+1:], " ")
	spaced := len(rest) < len(line)-end-1
	if rest == "" || rest[0] == ':' || rest[0] == '#' && spaced || depth > 0 && strings.ContainsRune(",]}", rune(rest[0])) {
		return trap{}, false
	}
	t := trap{at: end, width: 1, code: "quote", message: "the string ends at this quote: YAML knows nothing that could follow it", hint: `write the whole in single quotes`}
	if line[begin] == '\'' {
		t.hint = "write a single quote inside single quotes twice: `''`"
	} else if strings.Contains(line[begin:], "'") {
		t.hint = "write a double quote inside double quotes as `\\\"`"
	}
	return t, true
}

var blockBegins = lazily(`(?:^|[:-] +)[|>][-+0-9]*(?: +#.*)?$`)

// lineTraps is the first trap of the file; the lines of block scalars are not YAML.
func (s *source) lineTraps() (line int, t trap, found bool) {
	block := -1 // the indentation of the line whose block this is
	for n := 1; n <= len(s.lines); n++ {
		text := s.line(n)
		indent := len(text) - len(strings.TrimLeft(text, " "))
		if block >= 0 {
			if indent > block || strings.TrimSpace(text) == "" {
				continue
			}
			block = -1
		}
		if t, found = lineTrap(text); found {
			return n, t, true
		}
		if blockBegins().MatchString(text) {
			block = indent
		}
	}
	return 0, trap{}, false
}

// reportTrap notes the first trap of a file that the library cannot read, if there is one.
func (r *reader) reportTrap() bool {
	line, t, found := r.src.lineTraps()
	if found {
		text := r.src.line(line)
		r.put(Diagnostic{
			Line: line, Column: utf8.RuneCountInString(text[:t.at]) + 1, Width: utf8.RuneCountInString(text[t.at : t.at+t.width]),
			Code: t.code, Message: t.message, Hint: t.hint,
		})
	}
	return found
}

// tooSoon are the words of faults of an expression that ends too soon.
var tooSoon = lazily(`EOF|unterminated|not terminated|unclosed|without its`)

// commentHints says of expressions that end too soon where YAML has cut them: at a space and `#`.
func (ds Diagnostics) commentHints(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && n.LineComment != "" {
		for i, d := range ds {
			if d.Line == n.Line && d.Column >= n.Column && d.Column <= n.Column+utf8.RuneCountInString(n.Value) && tooSoon().MatchString(d.Message) {
				ds[i].Hint = "YAML takes ` #` for the beginning of a comment: put the whole in quotes"
			}
		}
	}
	for _, c := range n.Content {
		ds.commentHints(c)
	}
}

// comments warns of texts that YAML has cut at ` #`, where what is cut off holds a `${}`.
func (l *linter) comments(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && strings.Contains(n.LineComment, "${") {
		at := strings.Index(l.src.line(n.Line), n.LineComment)
		if at >= 0 { // it may stand behind a further line of the text
			l.put(Diagnostic{
				Line: n.Line, Column: utf8.RuneCountInString(l.src.line(n.Line)[:at]) + 1, Width: utf8.RuneCountInString(n.LineComment),
				Severity: Warning, Code: "comment", Message: "YAML takes this for a comment: it is no part of the text before it", Hint: "put the whole in quotes",
			})
		}
	}
	for _, c := range n.Content {
		l.comments(c)
	}
}
