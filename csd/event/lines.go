package event

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"syscall"
)

// Line is a line of an events file, without its newline and without what a careless writer put around it: carriage
// returns, NUL bytes, a byte order mark.
type Line struct {
	Offset int64 // of its first byte
	End    int64 // behind its newline: where to read on
	Raw    []byte
}

const (
	// MaxLine is the longest line in bytes that is given; a longer one is passed over.
	MaxLine = 64 << 20

	block = 64 << 10
)

// open opens an events file for reading.
func open(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("open events: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open events: %w", err), f.Close())
	}
	return f, info.Size(), nil
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
	return func(yield func(Line, error) bool) {
		f, size, err := open(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		if err := backward(f, size, yield); err != nil {
			yield(Line{}, fmt.Errorf("read events %s: %w", path, err))
		}
	}
}

// backward reads f from size towards its start. parts are the pieces of the line whose start is not found yet, the
// last one first; end is behind its newline, or -1 where no newline was seen.
func backward(f io.ReaderAt, size int64, yield func(Line, error) bool) error {
	var parts [][]byte
	held, end := 0, int64(-1)
	give := func(offset int64) bool {
		if end < 0 || held > MaxLine {
			return true
		}
		raw := trim(join(parts, held))
		return len(raw) == 0 || yield(Line{Offset: offset, End: end, Raw: raw}, nil)
	}
	for from := size; from > 0; {
		n := min(from, block)
		from -= n
		buf := make([]byte, n)
		if _, err := f.ReadAt(buf, from); err != nil {
			return err
		}
		for {
			at := bytes.LastIndexByte(buf, '\n')
			if held += len(buf) - at - 1; held <= MaxLine {
				parts = append(parts, buf[at+1:])
			} else {
				parts = nil
			}
			if at < 0 {
				break
			}
			if !give(from + int64(at) + 1) {
				return nil
			}
			parts, held, end = nil, 0, from+int64(at)+1
			buf = buf[:at]
		}
	}
	give(0)
	return nil
}

// join puts the parts, the last one first, together.
func join(parts [][]byte, size int) []byte {
	line := make([]byte, 0, size)
	for i := len(parts) - 1; i >= 0; i-- {
		line = append(line, parts[i]...)
	}
	return line
}

// Forward yields the lines of the file at path that begin at offset or behind it, the first one first. It ends at the
// last whole line that is there. Offset is the start of a line. A Line is the caller's to keep.
func Forward(path string, offset int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, size, err := open(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		for line, err := range forward(f, offset, size) {
			if err != nil {
				yield(Line{}, fmt.Errorf("read events %s: %w", path, err))
				return
			}
			if line.Raw = bytes.Clone(trim(line.Raw)); len(line.Raw) > 0 && !yield(line, nil) {
				return
			}
		}
	}
}

// forward yields the whole lines of f between offset and size, blank ones too, untrimmed. A Line is good until the
// next; one that is too long has no Raw.
func forward(f io.ReaderAt, offset, size int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		buf := make([]byte, 4*block)
		var held []byte // the start of a line whose end is not found yet
		start := offset
		for at := offset; at < size; {
			n, err := f.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
			if n == 0 {
				if !errors.Is(err, io.EOF) { // else it was cut since
					yield(Line{}, err)
				}
				return
			}
			rest := buf[:n]
			at += int64(n)
			for len(rest) > 0 {
				i := bytes.IndexByte(rest, '\n')
				if i < 0 {
					if at-start <= MaxLine {
						held = append(held, rest...)
					} else {
						held = nil
					}
					break
				}
				end := at - int64(len(rest)) + int64(i) + 1
				raw := rest[:i]
				if start < end-int64(i)-1 { // it began in an earlier block
					raw = append(held, raw...)
					if end-start > MaxLine {
						raw = nil
					}
				}
				if !yield(Line{Offset: start, End: end, Raw: raw}, nil) {
					return
				}
				held, start, rest = held[:0], end, rest[i+1:]
			}
		}
	}
}

// Size is the end of the last whole line of the file at path: where the next line will begin.
func Size(path string) (int64, error) {
	f, size, err := open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, 4<<10)
	for from := size; from > 0; {
		n := min(from, int64(len(buf)))
		from -= n
		if _, err := f.ReadAt(buf[:n], from); err != nil {
			return 0, fmt.Errorf("read events %s: %w", path, err)
		}
		if at := bytes.LastIndexByte(buf[:n], '\n'); at >= 0 {
			return from + int64(at) + 1, nil
		}
	}
	return 0, nil
}

// Lines counts the lines of the file at path that end at upTo or before. Blank ones do not count.
func Lines(path string, upTo int64) (int64, error) {
	f, size, err := open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	var n int64
	for line, err := range forward(f, 0, min(size, upTo)) {
		if err != nil {
			return 0, fmt.Errorf("read events %s: %w", path, err)
		}
		if counts(line) {
			n++
		}
	}
	return n, nil
}

// counts reports whether a line is not blank. Nearly every one shows it with its first byte.
func counts(line Line) bool {
	if len(line.Raw) > 0 && line.Raw[0] == '{' {
		return true
	}
	return line.Raw == nil && line.End > line.Offset+1 || len(trim(line.Raw)) > 0
}

// After returns the offset behind the n-th line of the file at path, blank ones not counted: where to read on for
// somebody who has seen n lines. Where there are not so many it is the end of the last one.
func After(path string, n int64) (int64, error) {
	f, size, err := open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	var end int64
	for line, err := range forward(f, 0, size) {
		if err != nil {
			return 0, fmt.Errorf("read events %s: %w", path, err)
		}
		if n <= 0 {
			break
		}
		end = line.End
		if counts(line) {
			n--
		}
	}
	return end, nil
}
