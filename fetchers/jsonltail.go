package fetchers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sessevents/sessevents/internal/tail"
	"github.com/sessevents/sessevents/internal/value"
)

var jsonlTable = Fetcher{
	Name:   "jsonl-tail",
	Help:   "the lines of JSON that are new in a file, or in each file that matches a pattern",
	Stream: true,
	Options: []Option{
		{Name: "path", Type: String, Template: Plain, Help: "the file, which need not exist yet; `~/` is the home folder"},
		{Name: "glob", Type: String, Template: InGlob, Help: "a pattern (`*`, `?`, `[a-z]`, `{a,b}`, `**`, which follows no link to a folder) of files that come and go"},
		{Name: "from", Type: Word, Words: []string{"end", "start"}, Default: "end", Help: "where the watch begins in a file that is there already; a file that comes later is read from its start"},
		{Name: "contains", Type: Strings, Template: Plain, Help: "only lines in whose text each of these stands, letter by letter"},
		{Name: "bad", Type: Word, Words: []string{"skip", "fail"}, Default: "skip", Help: "what a line that is not JSON, or is too long, does: it is skipped and counted, or it fails the poll"},
		{Name: "maxLine", Type: Size, Default: int64(tail.DefaultMaxLine), Min: 16, Max: 100 * megabyte, Help: "the longest line"},
		{Name: "maxBytes", Type: Size, Default: int64(tail.DefaultMaxBytes), Min: 1, Max: gigabyte, Help: "how much one poll goes through; the rest follows in the next one at once"},
		timeoutOption,
	},
	Content: "lines[]",
	Doc: []Member{
		{"lines", "the new lines, decoded, in their order"},
		{"files", "the files under the watched names, each with path and size"},
		{"skipped", "how many new lines were gone past because they are no JSON or too long"},
	},
	Check: func(o map[string]any) error {
		if err := exactlyOne("path", "glob")(o); err != nil {
			return err
		}
		return checkGlob(o)
	},
}

const (
	// batchBytes and batchLines bound the lines that one poll decodes: a document is held in memory whole.
	batchBytes = megabyte
	batchLines = 20_000
	// badLogged is how many bad lines of a poll are named in the log.
	badLogged = 10
)

func (s *Set) jsonlTail(parent context.Context, r Request) (Answer, error) {
	o := options(r.Options)
	ctx, cancel := context.WithTimeout(parent, o.timeout())
	defer cancel()
	var position *tail.Position
	if len(r.Position) > 0 {
		position = &tail.Position{}
		if err := json.Unmarshal(r.Position, position); err != nil {
			return Answer{}, failf("invalid", "the saved position of the stream is not one: %w", err)
		}
	}
	key := "jsonl\x00" + r.Target + "\x00" + o.text("path") + o.text("glob")
	answer, err := ask(ctx, &s.gate, key, func(ctx context.Context) (Answer, error) {
		return s.readLines(ctx, o, r, position)
	})
	if err != nil {
		return Answer{}, failure(parent, err, r.Secrets)
	}
	return answer, nil
}

func (s *Set) readLines(ctx context.Context, o options, r Request, position *tail.Position) (Answer, error) {
	paths, err := streamPaths(ctx, o)
	if err != nil {
		return Answer{}, err
	}
	reader := s.readers.Get().(*tail.Reader)
	defer s.readers.Put(reader)
	reader.FromEnd = o.text("from") != "start"
	reader.MaxLine, reader.MaxBytes = int(o.number("maxLine")), o.number("maxBytes")

	c := newCollector(o.list("contains"), r.Narrow, o.text("bad") == "fail")
	next, report, err := reader.Read(ctx, paths, position, r.Now, c.take)
	if err == nil {
		err = c.err
	}
	if err == nil && c.fail && report.TooLong > 0 {
		l := report.Long[0]
		err = failf("parse", "%s: the line at byte %d is longer than %d bytes", l.Path, l.Offset, o.number("maxLine"))
	}
	if err != nil {
		return Answer{}, err
	}
	saved, err := json.Marshal(next)
	if err != nil {
		return Answer{}, err
	}
	c.log(r, report)
	files := make([]any, len(report.Files))
	for i, f := range report.Files {
		files[i] = map[string]any{"path": f.Path, "size": int(f.Size)}
	}
	return Answer{
		Doc:      map[string]any{"lines": c.lines, "files": files, "skipped": c.bad + report.TooLong},
		Position: saved,
		More:     report.More,
		Read:     report.Lines,
	}, nil
}

// streamPaths are the files that the options name. Of a pattern, what is not a file of lines does not count; a path
// that is none is an error.
func streamPaths(ctx context.Context, o options) ([]string, error) {
	if path := o.text("path"); path != "" {
		path, err := absolute(path)
		return []string{path}, err
	}
	pattern, err := absoluteGlob(o.text("glob"))
	if err != nil {
		return nil, err
	}
	found, err := glob(ctx, pattern)
	if err != nil {
		return nil, err
	}
	return tail.Regular(found)
}

// collector decodes the lines of one poll.
type collector struct {
	sieve   sieve
	want    *Want
	decoder jsonDecoder
	fail    bool
	lines   []any
	bytes   int
	bad     int
	places  []string // of the first bad lines
	err     error
}

func newCollector(contains []string, narrow *Narrow, fail bool) *collector {
	want := narrow.document().Member("lines").Elements()
	if fail { // every line is looked at, since a bad one counts
		narrow = nil
	}
	return &collector{sieve: newSieve(contains, narrow), want: want, fail: fail, lines: []any{}}
}

func (c *collector) take(l tail.Line) bool {
	if !c.sieve.mayMatter(l.Text) {
		return true
	}
	v, ok := c.decoder.decode(l.Text, c.want)
	if !ok {
		return c.reject(l)
	}
	c.lines = append(c.lines, v)
	c.bytes += len(l.Text)
	return c.bytes < batchBytes && len(c.lines) < batchLines
}

// reject counts a line that is not JSON. What is noted is its place, never its text.
func (c *collector) reject(l tail.Line) bool {
	if c.bad++; len(c.places) < badLogged {
		why := "not JSON"
		if c.decoder.deep {
			why = value.ErrTooDeep.Error()
		}
		c.places = append(c.places, fmt.Sprintf("%s: the line at byte %d is %s (%d bytes)", l.Path, l.Offset, why, len(l.Text)))
	}
	if c.fail {
		c.err = failf("parse", "%s", c.places[0])
	}
	return !c.fail
}

func (c *collector) log(r Request, report tail.Report) {
	if r.Log == nil {
		return
	}
	for _, note := range report.Notes {
		r.Log(note)
	}
	for _, place := range c.places {
		r.Log(place + ", skipped")
	}
	for _, l := range report.Long[:min(len(report.Long), badLogged)] {
		r.Log(fmt.Sprintf("%s: the line at byte %d is too long (%d bytes), skipped", l.Path, l.Offset, l.Size))
	}
	if n := c.bad + report.TooLong; n > len(c.places)+min(len(report.Long), badLogged) {
		r.Log(fmt.Sprintf("%d lines skipped in all", n))
	}
}
