// Package lines goes over the whole lines of a file that others append to, from its end or from an offset.
//
// What has no newline yet is not there yet. Files are read in blocks, so that time and memory follow the lines that are
// asked for and not the file; a line that is longer than the limit is passed over without being kept.
package lines

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
)

// Limit is the longest line that is kept where a caller has no better number.
const Limit = 64 << 20

// The first reads are small, since what is asked for is often near, and the next ones larger. A line of more than so
// many first blocks is measured before it is read: what is too long is never held, and the rest is held just once.
const (
	firstBlock = 8 << 10
	block      = 128 << 10
	wide       = 64
)

// Line is one whole line.
type Line struct {
	// Offset is where the line begins in the file.
	Offset int64
	// Size is its length in bytes, its newline not counted.
	Size int64
	// Raw is the line without its end ("\n" or "\r\n") and without the file's byte order mark. It is good only until
	// the next line is asked for. It is nil where the line was longer than the limit.
	Raw []byte
}

var bom = []byte("\xef\xbb\xbf")

// End is the offset behind the last newline before size: the end of the last whole line, 0 where there is none.
func End(r io.ReaderAt, size int64) (int64, error) {
	var last [1]byte
	if size <= 0 || full(r, last[:], size-1) == nil && last[0] == '\n' {
		return max(size, 0), nil
	}
	buf := make([]byte, min(block, size))
	for size > 0 {
		b := buf[:min(int64(len(buf)), size)]
		if err := full(r, b, size-int64(len(b))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return size - int64(len(b)) + int64(i) + 1, nil
		}
		size -= int64(len(b))
	}
	return 0, nil
}

// Start is the offset of the first line that begins at or behind offset: an offset in the middle of a line is moved to
// the next one. It is end where no line begins before it.
func Start(r io.ReaderAt, offset, end int64) (int64, error) {
	if offset <= 0 {
		return 0, nil
	}
	i, err := newline(r, offset-1, end)
	if err != nil || i < 0 {
		return end, err
	}
	return i + 1, nil
}

// newline is where the first newline from an offset on stands, or -1.
func newline(r io.ReaderAt, from, end int64) (int64, error) {
	buf := make([]byte, firstBlock)
	for at := from; at < end; {
		b := buf[:min(int64(len(buf)), end-at)]
		if err := full(r, b, at); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return at + int64(i), nil
		}
		at += int64(len(b))
		if len(buf) < block {
			buf = make([]byte, block)
		}
	}
	return -1, nil
}

// Backward yields the whole lines that begin at or behind from and end before end, the last one first. from must be
// the beginning of a line, 0 for the file's. A line longer than limit comes without its bytes. The sequence ends after
// an error.
func Backward(r io.ReaderAt, from, end int64, limit int) iter.Seq2[Line, error] {
	return inBlocks(firstBlock).backward(r, from, end, limit)
}

// inBlocks is the size of the first reads; tests make it small.
type inBlocks int

func (size inBlocks) backward(r io.ReaderAt, from, end int64, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		end, err := End(r, end)
		if err != nil {
			yield(Line{}, err)
			return
		}
		b := backward{r: r, from: from, start: end, limit: limit, size: int(size)}
		for b.end() > from {
			line, err := b.line()
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// backward holds the bytes of the file from start on in buf[lo:hi]; they end behind a newline.
type backward struct {
	r      io.ReaderAt
	from   int64
	start  int64
	buf    []byte
	lo, hi int
	big    []byte // for a wide line
	limit  int
	size   int
}

func (b *backward) end() int64 { return b.start + int64(b.hi-b.lo) }

// line takes the last line of what is held, and reads in front of it until that one is whole.
func (b *backward) line() (Line, error) {
	known := 1 // so many bytes at the back are known to hold no further newline; the last one is the line's own
	for {
		held := b.buf[b.lo:b.hi]
		i := bytes.LastIndexByte(held[:max(len(held)-known, 0)], '\n')
		switch {
		case i >= 0 || b.start <= b.from && len(held) > 0:
			text := held[i+1 : len(held)-1]
			b.hi = b.lo + i + 1
			return newLine(text, b.start+int64(i)+1, b.limit), nil
		case len(held) > min(b.limit+1, wide*b.size):
			return b.wide()
		}
		known = max(len(held), 1)
		if err := b.more(); err != nil {
			return Line{}, err
		}
	}
}

// wide takes a line of which a good deal is held and its beginning is not.
func (b *backward) wide() (Line, error) {
	held, end := b.buf[b.lo:b.hi], b.end()
	at, err := End(b.r, b.start)
	if err != nil {
		return Line{}, err
	}
	at = max(at, b.from)
	line := Line{Offset: at, Size: end - at - 1}
	if line.Size <= int64(b.limit) {
		b.big = slices.Grow(b.big[:0], int(line.Size)+1)
		text := b.big[:line.Size+1]
		if err := full(b.r, text[:b.start-at], at); err != nil {
			return Line{}, err
		}
		copy(text[b.start-at:], held)
		line = newLine(text[:line.Size], at, b.limit)
	}
	b.start, b.lo, b.hi = at, 0, 0
	return line, nil
}

// more reads a block in front of what is held.
func (b *backward) more() error {
	if b.lo == 0 {
		held := b.buf[:b.hi]
		if len(held) > len(b.buf)/2 || len(b.buf) < block {
			b.buf = make([]byte, max(2*len(b.buf), b.size))
		}
		b.lo = len(b.buf) - len(held)
		b.hi = len(b.buf)
		copy(b.buf[b.lo:], held)
	}
	n := int(min(int64(b.lo), b.start-b.from))
	if err := full(b.r, b.buf[b.lo-n:b.lo], b.start-int64(n)); err != nil {
		return err
	}
	b.lo -= n
	b.start -= int64(n)
	return nil
}

// Forward yields the whole lines that begin at or behind from and end before end, in their order. from must be the
// beginning of a line. A line longer than limit comes without its bytes. The sequence ends after an error.
func Forward(r io.ReaderAt, from, end int64, limit int) iter.Seq2[Line, error] {
	return inBlocks(firstBlock).forward(r, from, end, limit)
}

func (size inBlocks) forward(r io.ReaderAt, from, end int64, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f := forward{r: r, at: from, read: from, end: end, limit: limit, size: int(size)}
		for {
			line, ok, err := f.line()
			if err != nil {
				yield(Line{}, err)
				return
			}
			if !ok || !yield(line, nil) {
				return
			}
		}
	}
}

// forward holds the bytes of the file from at to read in buf[lo:hi].
type forward struct {
	r        io.ReaderAt
	at, read int64
	end      int64
	buf      []byte
	lo, hi   int
	big      []byte // for a wide line
	limit    int
	size     int
}

// line takes the next line; false: there is no further whole one.
func (f *forward) line() (Line, bool, error) {
	known := 0 // so many bytes at the front are known to hold no newline
	for {
		held := f.buf[f.lo:f.hi]
		if i := bytes.IndexByte(held[known:], '\n'); i >= 0 {
			i += known
			line := newLine(held[:i], f.at, f.limit)
			f.lo += i + 1
			f.at += int64(i) + 1
			return line, true, nil
		}
		if f.read >= f.end {
			return Line{}, false, nil
		}
		if len(held) > min(f.limit+1, wide*f.size) {
			return f.wide()
		}
		known = len(held)
		if err := f.more(); err != nil {
			return Line{}, false, err
		}
	}
}

// wide takes a line of which a good deal is held and its end is not.
func (f *forward) wide() (Line, bool, error) {
	i, err := newline(f.r, f.read, f.end)
	if err != nil || i < 0 {
		return Line{}, false, err
	}
	line := Line{Offset: f.at, Size: i - f.at}
	if line.Size <= int64(f.limit) {
		f.big = slices.Grow(f.big[:0], int(line.Size))
		text := f.big[:line.Size]
		if err := full(f.r, text[copy(text, f.buf[f.lo:f.hi]):], f.read); err != nil {
			return Line{}, false, err
		}
		line = newLine(text, f.at, f.limit)
	}
	f.at, f.read = i+1, i+1
	f.lo, f.hi = 0, 0
	return line, true, nil
}

// more reads a block behind what is held.
func (f *forward) more() error {
	if f.hi == len(f.buf) {
		held := f.buf[f.lo:f.hi]
		if len(held) > len(f.buf)/2 || len(f.buf) < block {
			f.buf = make([]byte, max(2*len(f.buf), f.size))
		}
		copy(f.buf, held)
		f.lo, f.hi = 0, len(held)
	}
	n := int(min(int64(len(f.buf)-f.hi), f.end-f.read))
	if err := full(f.r, f.buf[f.hi:f.hi+n], f.read); err != nil {
		return err
	}
	f.hi += n
	f.read += int64(n)
	return nil
}

// newLine is a line without its end and without the byte order mark of the file.
func newLine(text []byte, offset int64, limit int) Line {
	line := Line{Offset: offset, Size: int64(len(text))}
	if len(text) > limit {
		return line
	}
	if offset == 0 {
		text = bytes.TrimPrefix(text, bom)
	}
	if text = bytes.TrimSuffix(text, []byte("\r")); text == nil {
		text = []byte{}
	}
	line.Raw = text
	return line
}

// full fills b from the file. A file that was cut while it is read is an error: io.ErrUnexpectedEOF.
func full(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
