package specs

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// maxMatch bounds one look for a pattern: its instructions, times the bytes of the text.
	maxMatch = 2 << 30
	// maxPattern is how many bytes a pattern may have: to make its instructions takes time as well.
	maxPattern = 64 << 10
	// maxPatterns bounds how many patterns a program keeps: one that takes them from the document has ever new ones.
	maxPatterns = 100
)

// patternDefs are jq's functions on patterns, on a `_match` that takes a time in proportion to the text and what is
// found; the library's takes the one times the other. What ours does not answer, the library does: its errors are its.
const patternDefs = `
def __match($re; $flags; $test): __matches($re; $flags; $test; ` + inRun + `) as $own | if $own == null then _match($re; $flags; $test) else $own end;
def match($re; $flags): __match($re; $flags; false)[];
def match($re): if $re | type == "array" then match($re[0]; $re[1]) else match($re; null) end;
def test($re; $flags): __match($re; $flags; true);
def test($re): if $re | type == "array" then test($re[0]; $re[1]) else test($re; null) end;
def capture($re; $flags): match($re; $flags) | .captures | _captures;
def capture($re): if $re | type == "array" then capture($re[0]; $re[1]) else capture($re; null) end;
def scan($re; $flags): match($re; $flags + "g") | if .captures == [] then .string else [.captures[].string] end;
def scan($re): scan($re; null);
def splits($re; $flags):
  .[foreach (match($re; $flags + "g"), null) as {$offset, $length} (null; {start: .next, end: $offset, next: $offset + $length})];
def splits($re): splits($re; null);
def split($re; $flags): [splits($re; $flags)];
def sub($re; str; $flags):
  reduce match($re; $flags) as {$offset, $length, $captures} ({s: ., r: []};
    reduce ($captures | _captures | str) as $s (.i = 0; .r[.i] += .s[.next:$offset] + $s | .i += 1)
    | .next = $offset + $length)
  | .r[] + .s[.next:] // .s;
def sub($re; str): sub($re; str; null);
def gsub($re; str; $flags): sub($re; str; $flags + "g");
def gsub($re; str): sub($re; str; "g");`

// pattern is a compiled regular expression.
type pattern struct {
	re    *regexp.Regexp
	after *regexp.Regexp // re behind one character and anything; nil: re does not look at what is before it
	cost  int            // its instructions
}

// patterns are those of a program.
type patterns struct {
	mu   sync.Mutex
	made map[[2]string]*pattern
}

// get gives a pattern with jq's flags; nil where it is none.
func (p *patterns) get(source, flags string) *pattern {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]string{source, flags}
	if made, ok := p.made[key]; ok {
		return made
	}
	made := makePattern(source, flags)
	if made == nil {
		return nil
	}
	if p.made == nil || len(p.made) >= maxPatterns {
		p.made = map[[2]string]*pattern{}
	}
	p.made[key] = made
	return made
}

func makePattern(source, flags string) *pattern {
	if strings.Trim(flags, "gim") != "" {
		return nil
	}
	if strings.Contains(flags, "i") {
		source = "(?i)" + source
	}
	if strings.Contains(flags, "m") {
		source = "(?s)" + source
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	p := &pattern{cost: len(prog.Inst)}
	if p.re, err = regexp.Compile(source); err != nil {
		return nil
	}
	if looksBack(tree) {
		if p.after, err = regexp.Compile(`\A(?s:.)(?s:.*?)(` + source + `)`); err != nil {
			return nil
		}
	}
	return p
}

// looksBack reports whether a pattern asks for what is before the place where it begins.
func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	for _, sub := range re.Sub {
		if looksBack(sub) {
			return true
		}
	}
	return false
}

// jqMatches is `_match` on args, which are the pattern, the flags, whether only to test, and the run; nil where it has
// no answer.
func jqMatches(v any, args []any) any {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	source, ok := args[0].(string)
	if !ok {
		return nil
	}
	flags, ok := args[1].(string)
	if !ok && args[1] != nil {
		return nil
	}
	if len(source) > maxPattern {
		panic(tooMuch("a pattern of more than " + speakSize(maxPattern) + " is too much"))
	}
	run := args[3].(*jqRun)
	p := run.patterns.get(source, flags)
	if p == nil {
		return nil
	}
	if p.cost*(len(text)+1) > maxMatch {
		panic(tooMuch(fmt.Sprintf("a pattern of %d steps on a text of %s is too much", p.cost, speakSize(int64(len(text))))))
	}
	if args[2] == true {
		return p.re.MatchString(text)
	}
	return run.matches(p, text, strings.Contains(flags, "g"))
}

// matches are the matches of p as jq has them, all of them or the first.
func (r *jqRun) matches(p *pattern, text string, all bool) []any {
	found := []any{}
	names := p.re.SubexpNames()
	count := runeCounter{text: text}
	for at := 0; at <= len(text) && r.ctx.Err() == nil; {
		x := p.next(text, at)
		if x == nil {
			break
		}
		found = append(found, count.match(x, names))
		if !all {
			break
		}
		at = x[1]
		if x[0] == x[1] { // an empty one is found once
			_, width := utf8.DecodeRuneInString(text[at:])
			at += max(width, 1)
		}
	}
	return found
}

// next is the first match that begins at the byte at or behind it.
func (p *pattern) next(text string, at int) []int {
	from := at
	var x []int
	if p.after == nil || at == 0 {
		x = p.re.FindStringSubmatchIndex(text[at:])
	} else {
		_, width := utf8.DecodeLastRuneInString(text[:at])
		from -= width
		if x = p.after.FindStringSubmatchIndex(text[from:]); x != nil {
			x = x[2:]
		}
	}
	for i := range x {
		if x[i] >= 0 {
			x[i] += from
		}
	}
	return x
}

// runeCounter tells the places of bytes in characters. They are asked for in order, so that the text is walked once.
type runeCounter struct {
	text        string
	bytes, runs int
}

func (c *runeCounter) at(i int) int {
	c.runs += utf8.RuneCountInString(c.text[c.bytes:i])
	c.bytes = i
	return c.runs
}

// match is a match as jq shows it.
func (c *runeCounter) match(x []int, names []string) map[string]any {
	begin := c.at(x[0])
	length := func(from, to int) int { return utf8.RuneCountInString(c.text[from:to]) }
	captures := make([]any, len(x)/2-1)
	for i := range captures {
		var name any
		if n := names[i+1]; n != "" {
			name = n
		}
		from, to := x[2*i+2], x[2*i+3]
		if from < 0 {
			captures[i] = map[string]any{"name": name, "offset": -1, "length": 0, "string": nil}
			continue
		}
		captures[i] = map[string]any{"name": name, "offset": begin + length(x[0], from), "length": length(from, to), "string": c.text[from:to]}
	}
	return map[string]any{"offset": begin, "length": length(x[0], x[1]), "string": c.text[x[0]:x[1]], "captures": captures}
}
