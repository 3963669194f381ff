package event

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"syscall"

	"github.com/sessevents/sessevents/internal/lines"
)

// Line is a line of an events file, without its newline and without what a careless writer put around it: carriage
// returns, NUL bytes, a byte order mark.
type Line struct {
	Offset int64 // of its first byte
	End    int64 // behind its newline: where to read on
	Raw    []byte
}

// MaxLine is the longest line in bytes that is given; a longer one is passed over.
const MaxLine = lines.Limit

// open opens an events file for reading. end is the end of its last whole line: what stands behind it may be taken back
// by its writer.
func open(path string) (f *os.File, end int64, err error) {
	f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("open events: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err == nil {
		end, err = lines.End(f, info.Size())
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open events: %w", err), f.Close())
	}
	return f, end, nil
}

// trim takes off what does not belong to a line.
func trim(line []byte) []byte {
	for {
		trimmed := bytes.TrimPrefix(bytes.Trim(line, "\x00\r\n\t "), []byte("\xef\xbb\xbf"))
		if len(trimmed) == len(line) {
			return line
		}
		line = trimmed
	}
}

// Backward yields the lines of the file at path from the last one to the first. It reads in blocks from the end, so
// that the last lines cost the same in a file of any size. What stands behind the last newline is not there yet, and
// blank lines are passed over. A Line is the caller's to keep.
func Backward(path string) iter.Seq2[Line, error] {
	return walk(path, func(f *os.File, end int64) iter.Seq2[lines.Line, error] {
		return lines.Backward(f, 0, end, MaxLine)
	})
}

// Forward yields the lines of the file at path that begin at offset or behind it, the first one first. It ends at the
// last whole line that is there. Offset is the start of a line. A Line is the caller's to keep.
func Forward(path string, offset int64) iter.Seq2[Line, error] {
	return walk(path, func(f *os.File, end int64) iter.Seq2[lines.Line, error] {
		return lines.Forward(f, offset, end, MaxLine)
	})
}

// walk gives those of the lines of the file that are not blank.
func walk(path string, over func(f *os.File, end int64) iter.Seq2[lines.Line, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, end, err := open(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		for l, err := range over(f, end) {
			if err != nil {
				yield(Line{}, fmt.Errorf("read events %s: %w", path, err))
				return
			}
			raw := bytes.Clone(trim(l.Raw))
			if len(raw) > 0 && !yield(Line{Offset: l.Offset, End: behind(l), Raw: raw}, nil) {
				return
			}
		}
	}
}

func behind(l lines.Line) int64 { return l.Offset + l.Size + 1 }

// Size is the end of the last whole line of the file at path: where the next line will begin.
func Size(path string) (int64, error) {
	f, end, err := open(path)
	if err != nil {
		return 0, err
	}
	return end, f.Close()
}

// Lines counts the lines of the file at path that end at upTo or before. Blank ones do not count.
func Lines(path string, upTo int64) (int64, error) {
	f, end, err := open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	var n int64
	for l, err := range lines.Forward(f, 0, min(end, upTo), MaxLine) {
		if err != nil {
			return 0, fmt.Errorf("read events %s: %w", path, err)
		}
		if counts(l) {
			n++
		}
	}
	return n, nil
}

// counts reports whether a line is not blank. Nearly every one shows it with its first byte.
func counts(l lines.Line) bool {
	return len(l.Raw) > 0 && l.Raw[0] == '{' || l.Raw == nil || len(trim(l.Raw)) > 0
}

// After returns the offset behind the n-th line of the file at path, blank ones not counted: where to read on for
// somebody who has seen n lines. Where there are not so many it is the end of the last one.
func After(path string, n int64) (int64, error) {
	f, end, err := open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	at := int64(0)
	for l, err := range lines.Forward(f, 0, end, MaxLine) {
		if err != nil {
			return 0, fmt.Errorf("read events %s: %w", path, err)
		}
		if n <= 0 {
			break
		}
		at = behind(l)
		if counts(l) {
			n--
		}
	}
	return at, nil
}
