package specs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sessevents/sessevents/internal/plainfile"
	"gopkg.in/yaml.v3"
)

// maxFile bounds a spec; the largest that ships has less than a hundredth of it.
const maxFile = 1 << 20

// maxNodes bounds what a file may hold, before anything walks over it.
const maxNodes = 100_000

// Load reads and parses the spec at path. What keeps the file from being read is a diagnostic as well.
func Load(path string) (*Spec, Diagnostics) {
	whole := func(code, format string, args ...any) (*Spec, Diagnostics) {
		return &Spec{File: path, src: newSource(path, nil)}, Diagnostics{{
			File: path, Severity: Error, Code: code, Width: 1, Message: fmt.Sprintf(format, args...),
		}}
	}
	f, info, err := plainfile.Open(path, 0)
	switch {
	case errors.Is(err, plainfile.ErrFolder):
		return whole("read", "is a folder, not a spec")
	case errors.Is(err, plainfile.ErrOther):
		return whole("read", "is not a regular file")
	case err != nil:
		return whole("read", "cannot be read: %v", cause(err))
	}
	defer f.Close()
	var src bytes.Buffer
	src.Grow(int(min(info.Size(), maxFile)) + bytes.MinRead)
	if _, err := src.ReadFrom(io.LimitReader(f, maxFile+1)); err != nil {
		return whole("read", "cannot be read: %v", cause(err))
	}
	return Parse(path, src.Bytes())
}

// cause is an error of the file system without the path, which the diagnostic names already.
func cause(err error) error {
	if pe := new(os.PathError); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Parse reads a spec. It returns all that is wrong with the YAML and its keys, and as much of the spec as could be
// read; what is wrong inside expressions is the business of [Compile]. file is what diagnostics name.
func Parse(file string, src []byte) (*Spec, Diagnostics) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	s := &Spec{File: file, src: newSource(file, src)}
	r := &reader{src: s.src}
	if root := r.document(src); root != nil {
		s.root = root
		object(r, root, "spec", specKeys(), s)
		r.finish(s)
	}
	return s, r.all().Sort()
}

// document is the one mapping of the file; nil where there is none.
func (r *reader) document(src []byte) *yaml.Node {
	if len(src) > maxFile {
		r.whole("size", fmt.Sprintf("is larger than %d bytes", maxFile), "")
		return nil
	}
	if name := otherUnicode(src); name != "" {
		r.whole("yaml", "the file is "+name+": a spec is UTF-8", "save it as UTF-8")
		return nil
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		line, column := r.src.position(i)
		r.put(Diagnostic{Line: line, Column: column, Code: "yaml", Message: "a NUL byte: this is not a text file"})
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	if err := decode(dec, &doc); err != nil {
		if errors.Is(err, io.EOF) {
			r.whole("empty", "holds no spec", "`sessevents init NAME --fetch http` writes one to start from")
			return nil
		}
		r.syntax(err)
		return nil
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		if len(doc.Content) == 1 && doc.Content[0].Tag == "!!null" {
			r.whole("empty", "holds no spec", "`sessevents init NAME --fetch http` writes one to start from")
			return nil
		}
		r.fault(doc.Content[0], "type", "a spec is a mapping, this is "+describe(doc.Content[0]), "")
		return nil
	}
	var second yaml.Node
	if err := decode(dec, &second); err == nil {
		r.fault(&second, "documents", "a second document: one file is one spec", "give it a file of its own")
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
	}
	if !r.plainTree(doc.Content[0], new(int)) {
		return nil
	}
	return doc.Content[0]
}

// otherUnicode names the encoding of a text that is Unicode and not UTF-8; empty where it is none, as far as the first
// bytes show: a mark, or an ASCII character in the width of that encoding.
func otherUnicode(src []byte) string {
	zeros := ""
	for _, b := range src[:min(len(src), 4)] {
		if b == 0 {
			zeros += "0"
		} else {
			zeros += "x"
		}
	}
	switch {
	case bytes.HasPrefix(src, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(src, []byte("\x00\x00\xfe\xff")), zeros == "x000", zeros == "000x":
		return "UTF-32"
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")), zeros == "x0x0", zeros == "0x0x":
		return "UTF-16"
	}
	return ""
}

// badText reports the first byte that is no UTF-8, or the first character that YAML does not take: the library names
// neither place.
func (r *reader) badText() bool {
	for i := 0; i < len(r.src.text); {
		c, n := utf8.DecodeRune(r.src.text[i:])
		message, hint := "", ""
		switch {
		case c == utf8.RuneError && n == 1:
			message, hint = fmt.Sprintf("the byte 0x%02x is no UTF-8", r.src.text[i]), "save the file as UTF-8"
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c >= 0x7f && c < 0xa0 && c != 0x85, c == 0xfffe, c == 0xffff:
			message, hint = fmt.Sprintf("the character %U has no place in YAML", c), "leave it out, or write it as an escape in double quotes"
		}
		if message != "" {
			line, column := r.src.position(i)
			r.put(Diagnostic{Line: line, Column: column, Code: "yaml", Message: message, Hint: hint})
			return true
		}
		i += n
	}
	return false
}

// decode is dec.Decode with the panics of the library as errors: a spec is a foreign file.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	return dec.Decode(n)
}

// plainTree refuses what makes a file mean something else than it shows: anchors, aliases, merge keys, tags. It
// reports false where the file is too large to go on.
func (r *reader) plainTree(n *yaml.Node, count *int) bool {
	if *count++; *count > maxNodes {
		r.whole("size", fmt.Sprintf("holds more than %d values", maxNodes), "")
		return false
	}
	if n.Anchor != "" && n.Kind != yaml.AliasNode {
		r.fault(n, "alias", "an anchor `&"+n.Anchor+"`: a spec says everything where it stands", "write it out; options that steps share go to `defaults`")
	}
	switch {
	case n.Style&yaml.TaggedStyle == 0:
	case n.Kind == yaml.ScalarNode && n.Tag[0] == '!' && !strings.HasPrefix(n.Tag, "!!"):
		r.put(Diagnostic{Line: n.Line, Column: n.Column, Width: len([]rune(n.Tag)), Code: "unquoted", Message: tagMessage, Hint: tagHint})
		n.Value, n.Tag, n.Style = strings.TrimRight(n.Tag+" "+n.Value, " "), "!!str", 0 // what is meant
	default:
		r.fault(n, "tag", "a tag `"+n.Tag+"`: a spec has no tags", "leave it out, and quote the value where it is a string")
	}
	for _, c := range n.Content {
		if !r.plainTree(c, count) {
			return false
		}
	}
	return true
}

// yamlLine finds the line in an error of the YAML library, which tells it only in its text.
var yamlLine = lazily(`^yaml: (?:line (\d+): )?(.*)$`)

// countedFrom0 are the faults of which the library counts the lines from 0.
var countedFrom0 = lazily(`^did not find expected (?:<|node content|'-' indicator|key|',' or)`)

// syntax reports what the YAML library could not read, with the trap behind it where it is a known one.
func (r *reader) syntax(err error) {
	m := yamlLine().FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	if m == nil {
		m = []string{"", "", err.Error()}
	}
	if r.badText() || r.reportTrap() {
		return
	}
	line, _ := strconv.Atoi(m[1])
	if countedFrom0().MatchString(m[2]) {
		line++
	}
	d := Diagnostic{Line: max(line, 1), Column: 1, Code: "yaml", Message: m[2]}
	for _, t := range yamlTraps() {
		if !strings.Contains(m[2], t.message) {
			continue
		}
		// The library counts some lines from 0, and finds some faults only on the line after: look around.
		for _, at := range []int{line, line + 1, line - 1, line - 2} {
			if span := t.line.FindStringSubmatchIndex(r.src.line(at)); span != nil && at > 0 {
				d.Line, d.Column = at, len([]rune(r.src.line(at)[:span[2]]))+1
				d.Width = max(len([]rune(r.src.line(at)[span[2]:span[3]])), 1)
				d.Code, d.Hint = t.code, t.hint
				r.put(d)
				return
			}
		}
	}
	r.put(d)
}

// yamlTrap is a well-known way to write YAML that says something else than it shows.
type yamlTrap struct {
	message    string         // in the library's words; empty: any
	line       *regexp.Regexp // its first group is the place
	code, hint string
}

// yamlTraps are made only when a file does not parse: a command that starts must not pay for them.
func yamlTraps() []yamlTrap {
	re := regexp.MustCompile
	return []yamlTrap{
		{"", re(`^ *(\t+)`), "tab", "YAML is indented by spaces, never by tabs"},
		{"unknown escape character", re(`"[^"]*?(\\[^0abt\tnvfre "/\\N_LPxuU])`), "escape", "write the string in single quotes: there a backslash is a backslash"},
		{"mapping values are not allowed", re(`^[^:#]*: +[^'"#{\[|>][^#]*?(: )`), "unquoted-colon", "quote the string: it holds a colon and a space"},
		{"cannot start any token", re(": *([%@`].*)$"), "unquoted", "quote the string: it begins with a character that YAML keeps for itself"},
		{"", re(`^[^'"]*?(?:^|[^$'"])[{\[](?:[^'"]*?[:,\[])? *(\$\{[^}]*\}?)`), "unquoted-template", "quote it: in `{…}` and `[…]` a `${…}` must stand in quotes"},
		{"did not find expected alphabetic", re(`[\]}"'] *(&&?[ \t].*)$`), "unquoted", "in `{…}` a string with `[…]` or quotes in its middle must stand in quotes, or on a line of its own"},
		{"did not find expected ',' or '}'", re(`\{[^'"]*?: [^'",\[\]{}\s][^'",]*?([\[?].*)$`), "unquoted", "in `{…}` a string with `[…]` or `?` in its middle must stand in quotes, or on a line of its own"},
	}
}

// finish checks what no single key shows.
func (r *reader) finish(s *Spec) {
	if s.idleSet && s.IdleInterval > 0 && s.Interval > 0 && s.IdleInterval < s.Interval {
		r.fault(member(s.root, "idleInterval"), "interval", fmt.Sprintf("idleInterval %s is shorter than interval %s", short(s.IdleInterval), short(s.Interval)),
			"it is the longest wait: at least "+short(s.Interval))
	}
	if n := member(s.root, "rules"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.fault(n, "missing-key", "a spec without a rule says nothing", "write one: `- {when: changed, kind: changed, text: …}`")
	}
	if s.IdleInterval == 0 {
		s.IdleInterval = s.Interval
	}
}

// member is the value of a key of a mapping; nil where the key is not there.
func member(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
