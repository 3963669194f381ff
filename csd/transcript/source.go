package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sessevents/sessevents/internal/lines"
	"github.com/sessevents/sessevents/internal/plainfile"
)

// source is an open transcript up to the end of its last whole line at the time of opening. A writer that goes on cannot
// keep a reader.
type source struct {
	file interface {
		io.ReaderAt
		io.Closer
	}
	end int64
}

func open(path string) (*source, error) {
	f, info, err := plainfile.Open(path, 0)
	if err != nil {
		return nil, err
	}
	end, err := lines.End(f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	return &source{file: f, end: end}, nil
}

func (s *source) close() { s.file.Close() }

// start is where a turn begins.
type start struct {
	id     string
	offset int64
	// path, where it is set, are the offsets of the turn's records, the last one first: the file holds others between.
	path []int64
}

// finder looks for the beginning of a turn, from the end of a file to its beginning.
type finder interface {
	// back is given the line before the one it was given last. It returns a turn's beginning once it is sure of it, and
	// whether there is no use in going on.
	back(l lines.Line) (found *start, stop bool)
	// top is called when there is no further line.
	top() *start
}

// builder makes a turn of its lines.
type builder interface {
	// add is given the lines from the turn's first one on. It is false for a line that belongs to the turn no more.
	add(l lines.Line) bool
	turn() Turn
}

// format is what there is to know about the transcripts of one kind.
type format interface {
	finder(want sought) finder
	builder(s start) builder
	// prompt is the text of a person's prompt as the client wrote it, whether it begins a turn or went into one.
	prompt(raw []byte) (string, bool)
	ends(s *source, from int64) (ends []End, next int64, err error)
}

// sought says which turn is looked for. The zero value stands for any.
type sought struct {
	id string // in quotes, as it stands in a record
	at int64  // the offset of a prompt, plus one
}

func soughtID(id string) sought         { return sought{id: `"` + id + `"`} }
func soughtAt(offset int64) sought      { return sought{at: offset + 1} }
func (s sought) any() bool              { return s == sought{} }
func (s sought) here(l lines.Line) bool { return s.at == l.Offset+1 }

// mayHold says whether a line can bear the id: whether it does is for a look at the record.
func (s sought) mayHold(raw []byte) bool { return s.id != "" && bytes.Contains(raw, []byte(s.id)) }

func (s sought) is(id string) bool { return s.id == `"`+id+`"` }

// locate finds the last turn that is sought.
func (s *source) locate(f finder) (start, error) {
	for line, err := range lines.Backward(s.file, 0, s.end, lines.Limit) {
		if err != nil {
			return start{}, err
		}
		found, stop := f.back(line)
		if found != nil {
			return *found, nil
		}
		if stop {
			break
		}
	}
	if found := f.top(); found != nil {
		return *found, nil
	}
	return start{}, ErrNoTurn
}

// build reads the turn that begins at a start.
func (s *source) build(from start, b builder) (Turn, error) {
	path := from.path
	for line, err := range lines.Forward(s.file, from.offset, s.end, lines.Limit) {
		if err != nil {
			return Turn{}, err
		}
		if from.path != nil {
			if len(path) == 0 {
				break
			}
			if line.Offset != path[len(path)-1] {
				continue
			}
			path = path[:len(path)-1]
		}
		if !b.add(line) {
			break
		}
	}
	return b.turn(), nil
}

// openAs opens a transcript of a kind.
func openAs(kind Kind, path string) (format, *source, error) {
	formats := map[Kind]format{Claude: claude{}, Codex: codex{}, Pi: pi{}}
	f, ok := formats[kind]
	if !ok {
		return nil, nil, fmt.Errorf("read transcript %s: unknown kind %q", path, kind)
	}
	s, err := open(path)
	return f, s, err
}

// read finds a turn and reads it.
func read(kind Kind, path string, want sought) (Turn, error) {
	f, s, err := openAs(kind, path)
	if err != nil {
		return Turn{}, err
	}
	defer s.close()
	return s.turn(f, want)
}

func (s *source) turn(f format, want sought) (Turn, error) {
	from, err := s.begin(f, want)
	if err != nil {
		return Turn{}, err
	}
	return s.build(from, f.builder(from))
}

// begin finds where a turn begins. A tree of which a part is missing is gone through in the order of the file.
func (s *source) begin(f format, want sought) (start, error) {
	looking := f.finder(want)
	from, err := s.locate(looking)
	if tree, ok := looking.(*piFinder); ok && errors.Is(err, ErrNoTurn) && tree.broken() {
		return s.locate(&piFinder{want: want, loose: true})
	}
	return from, err
}

// findPrompt gives the offset of the first prompt at or behind an offset whose digest is the one that is wanted.
func (s *source) findPrompt(f format, after int64, digest func(string) string, want string) (int64, error) {
	from, err := lines.Start(s.file, min(after, s.end), s.end)
	if err != nil {
		return 0, err
	}
	for line, err := range lines.Forward(s.file, from, s.end, lines.Limit) {
		if err != nil {
			return 0, err
		}
		if text, ok := f.prompt(line.Raw); ok && digest(text) == want {
			return line.Offset, nil
		}
	}
	return 0, ErrNoTurn
}

// skipped is the item that stands for a record that was too long to read.
func skipped(l lines.Line) Item {
	return Item{Kind: ItemSkipped, Text: fmt.Sprintf("a record of %d MB was left out", l.Size>>20), Offset: l.Offset}
}

func parseTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return at
}
