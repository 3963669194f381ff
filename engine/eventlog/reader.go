package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/sessevents/sessevents/internal/plainfile"
)

// maxLine bounds what is taken for an event: a longer line is passed over as damage. The daemon writes none that
// comes near it.
const maxLine = 1 << 20

// Reader reads an event log while its daemon writes it: whole lines only, found by seeking, since ids only grow.
type Reader struct {
	file *os.File
	size int64 // what is read is what stood there when size was taken
}

// OpenReader opens the log at path. A log that is not there yet reads as empty.
func OpenReader(path string) (*Reader, error) {
	file, info, err := plainfile.Open(path, syscall.O_NOFOLLOW)
	if errors.Is(err, os.ErrNotExist) {
		return &Reader{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &Reader{file: file, size: info.Size()}, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Since yields the lines of all events with an id above id, in order. A line is valid until the next one. Lines that
// are no events, as damage leaves them, are passed over.
func (r *Reader) Since(id int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		id := max(id, 0) // below are only lines that are no events
		from, err := r.seek(id)
		if err != nil {
			yield(nil, err)
			return
		}
		for line, err := range r.lines(from) {
			if err != nil {
				yield(nil, err)
				return
			}
			if ID(line.text) > id && !yield(line.text, nil) {
				return
			}
		}
	}
}

// Last returns the last n events, oldest first. It reads from the end.
func (r *Reader) Last(n int) ([]Event, error) {
	var events []Event
	end, err := r.lineEnd(r.size)
	for err == nil && end > 0 && len(events) < n {
		var start int64
		if start, err = r.lineEnd(end - 1); err != nil {
			break
		}
		if end-start <= maxLine {
			line := make([]byte, end-start)
			if _, err = r.file.ReadAt(line, start); err != nil {
				break
			}
			var e Event
			if json.Unmarshal(line, &e) == nil {
				events = append(events, e)
			}
		}
		end = start
	}
	slices.Reverse(events)
	return events, err
}

// seek returns the start of a line before which every event has an id of at most id.
func (r *Reader) seek(id int64) (int64, error) {
	lo, hi := int64(0), r.size // both start a line; events before lo are too old, those from hi on are not
	for lo < hi {
		start, err := r.lineEnd(lo + (hi-lo)/2)
		if err != nil {
			return 0, err
		}
		end, found, err := r.firstEvent(start, hi)
		if err != nil {
			return 0, err
		}
		if found == 0 || found > id {
			hi = start
		} else {
			lo = end
		}
	}
	return lo, nil
}

// firstEvent returns the id of the first event in lines that start at from or behind it, and before limit, and where
// its line ends. The id is 0 where there is only damage.
func (r *Reader) firstEvent(from, limit int64) (end, id int64, err error) {
	end = from
	for line, err := range r.lines(from) {
		if err != nil {
			return 0, 0, err
		}
		if end >= limit {
			break
		}
		end = line.end
		if id := ID(line.text); id > 0 {
			return end, id, nil
		}
	}
	return end, 0, nil
}

// line is a whole line, and where the next one starts.
type line struct {
	text Line
	end  int64
}

// lines yields the whole lines from the offset on, which starts a line. A line over the bound comes without its text.
func (r *Reader) lines(from int64) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		if r.file == nil {
			return
		}
		br := bufio.NewReaderSize(io.NewSectionReader(r.file, from, r.size-from), 64<<10)
		var text []byte
		end, long := from, false
		for {
			part, err := br.ReadSlice('\n')
			end += int64(len(part))
			if long = long || len(text)+len(part) > maxLine; !long {
				text = append(text, part...)
			}
			switch {
			case err == bufio.ErrBufferFull:
				continue
			case err == io.EOF: // what is left has no end yet
				return
			case err != nil:
				yield(line{}, err)
				return
			}
			l := line{end: end}
			if !long {
				l.text = bytes.TrimSuffix(text, []byte("\n"))
			}
			if !yield(l, nil) {
				return
			}
			text, long = text[:0], false
		}
	}
}

// lineEnd returns the offset behind the last line break before the offset at, 0 where there is none.
func (r *Reader) lineEnd(at int64) (int64, error) {
	buf := make([]byte, 16<<10)
	for at > 0 {
		n := min(at, int64(len(buf)))
		if _, err := r.file.ReadAt(buf[:n], at-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
	}
	return 0, nil
}

// ID reads the id of a line, 0 where it is none. What the daemon wrote is read without decoding it.
func ID(line []byte) int64 {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"id":`)); ok {
		if end := bytes.IndexByte(rest, ','); end > 0 {
			if id, err := strconv.ParseInt(string(rest[:end]), 10, 64); err == nil && rest[len(rest)-1] == '}' {
				return id
			}
		}
	}
	var e Event
	if json.Unmarshal(line, &e) != nil {
		return 0
	}
	return e.ID
}
