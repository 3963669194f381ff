package tail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// chunk is how much one read takes from a file.
const chunk = 256 << 10

// maxListed bounds the over-long lines and the notes of a report.
const maxListed = 20

// ErrUTF16 says that a file is not UTF-8 at all.
var ErrUTF16 = errors.New("the file is UTF-16, not UTF-8")

var bom = []byte("\xef\xbb\xbf")

// scan is one read on its way.
type scan struct {
	ctx     context.Context
	now     time.Time
	yield   func(Line) bool
	maxLine int
	left    int64 // bytes that this read may still take
	stopped bool  // yield wants no more
	report  Report
	buf     []byte
	handles *Handles // may be nil
	// hurry is when to stop although there is more: a slow disk must not make every read run into its deadline, for
	// then none would ever get on. Zero: there is no deadline.
	hurry time.Time
}

func (s *scan) ended() bool { return s.stopped || s.left <= 0 }

func (s *scan) note(format string, args ...any) {
	if len(s.report.Notes) < maxListed {
		s.report.Notes = append(s.report.Notes, fmt.Sprintf(format, args...))
	}
}

// file reads what is new in one file and moves its position on.
func (s *scan) file(j *job) error {
	j.Unread = j.at.size - j.Offset
	if j.Unread == 0 && (j.at.size > 0 || j.at.held) {
		return nil // a file of /proc is always empty: whether it is one shows when it is opened
	}
	if s.ended() {
		s.report.More = true
		return nil
	}
	f, info, err := s.open(j.at)
	if missing(err) {
		return nil // gone since the look; the next read sees it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if dev, inode := number(info); dev != j.at.dev || inode != j.at.inode || info.Size() < j.at.size {
		s.report.More = true // replaced or cut since the look; the next read sees it
		return nil
	}
	pr, err := printOf(f, j.Offset)
	if err != nil {
		return err
	}
	if head, tail := pr.sums(); j.Offset > 0 && (head != j.Head || tail != j.Tail) && j.Head != "" {
		s.report.More = true // written anew since the look
		return nil
	}
	r := &fileScan{scan: s, file: f, job: j, prints: pr, end: info.Size(), start: j.Offset}
	if err := r.run(); err != nil {
		return err
	}
	j.Head, j.Tail = r.prints.sums()
	j.Unread = info.Size() - j.Offset
	return nil
}

// open opens a file by its name, or where it has none by the descriptor that is held of it.
func (s *scan) open(p *seen) (*os.File, os.FileInfo, error) {
	if !p.held {
		return open(p.path)
	}
	f := s.handles.dup(p.dev, p.inode)
	if f == nil {
		return nil, nil, os.ErrNotExist
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
	}
	return f, info, err
}

// fileScan is the way through one file. The bytes of buf[:have] stand in the file at start.
type fileScan struct {
	*scan
	*job
	file   *os.File
	prints *prints
	end    int64 // the size at the beginning: a fast writer cannot keep us
	start  int64
	have   int
	nuls   *prints // the prints at the last line's end, while zero bytes behind it have been dropped
}

func (r *fileScan) run() error {
	for r.start+int64(r.have) < r.end && !r.ended() {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.grow()
		n, err := r.file.ReadAt(r.buf[r.have:min(int64(len(r.buf)), r.end-r.start)], r.start+int64(r.have))
		if n == 0 && err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 { // cut while we read
			break
		}
		r.have += n
		if err := r.block(); err != nil {
			return err
		}
		if !r.hurry.IsZero() && time.Now().After(r.hurry) {
			r.stopped = true
		}
	}
	if r.nuls != nil {
		r.prints = r.nuls
	}
	if r.ended() && r.Offset < r.end {
		r.report.More = r.report.More || r.anotherLine()
	}
	return nil
}

// grow makes room for at least half a chunk, or for what is left of a small file.
func (r *fileScan) grow() {
	rest := int(min(r.end-r.start, chunk)) - r.have
	if room := len(r.buf) - r.have; room >= chunk/2 || rest > 0 && room >= rest {
		return
	}
	size := max(min(2*len(r.buf)+chunk, r.maxLine+1+chunk), r.have+chunk/2)
	if rest > 0 && len(r.buf) == 0 {
		size = rest
	}
	next := make([]byte, size)
	copy(next, r.buf[:r.have])
	r.scan.buf = next
}

// isUTF16 reports whether the beginning of a file says that it is UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
}

// block gives away the whole lines of the buffer and keeps the rest.
func (r *fileScan) block() error {
	data := r.buf[:r.have]
	if r.start == 0 && r.Offset == 0 {
		if isUTF16(data) {
			return ErrUTF16
		}
	}
	done := 0
	for !r.ended() {
		i := bytes.IndexByte(data[done:], '\n')
		if i < 0 {
			break
		}
		r.line(data[done:done+i], r.start+int64(done))
		if r.nuls != nil {
			r.nuls = nil
		}
		done += i + 1
		r.left -= int64(i + 1)
		r.report.Bytes += int64(i + 1)
		r.Offset = r.start + int64(done)
	}
	r.drop(done)
	if !r.ended() {
		r.partial()
	}
	return nil
}

// line judges one line, whose text begins in the file at offset.
func (r *fileScan) line(text []byte, at int64) {
	if r.Skip > 0 {
		r.tooLong(at-r.Skip, r.Skip+int64(len(text)))
		r.Skip = 0
		return
	}
	if at == 0 && bytes.HasPrefix(text, bom) {
		text = text[len(bom):]
	} else if len(text) > 0 && text[0] == 0 { // a hole: the file was cut, and its writer went on at its old offset
		text = bytes.TrimLeft(text, "\x00")
	}
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	if len(text) > r.maxLine {
		r.tooLong(at, int64(len(text)))
		return
	}
	if blank(text) {
		return
	}
	r.report.Lines++
	if !r.yield(Line{Text: text, Path: r.Path, Offset: r.Offset}) {
		r.stopped = true
	}
}

func blank(text []byte) bool {
	for _, b := range text {
		if b != ' ' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}

func (r *fileScan) tooLong(at, size int64) {
	r.report.Lines++
	r.report.TooLong++
	if len(r.report.Long) < maxListed {
		r.report.Long = append(r.report.Long, Long{r.Path, at, size})
	}
}

// partial looks at a line without its end: of a hole or of an over-long line nothing is kept in memory.
func (r *fileScan) partial() {
	if r.have == 0 {
		return
	}
	data := r.buf[:r.have]
	if r.Skip == 0 && data[0] == 0 {
		if r.nuls == nil {
			r.nuls = r.prints.clone()
		}
		r.drop(len(data) - len(bytes.TrimLeft(data, "\x00")))
		return
	}
	if most := r.maxLine + len("\r") + len(bom); r.Skip == 0 && r.have <= most { // may yet be a line that fits
		return
	}
	n := int64(r.have)
	r.Skip += n
	if r.nuls != nil {
		r.nuls = nil
	}
	r.drop(r.have)
	r.Offset = r.start
	r.left -= n
	r.report.Bytes += n
}

// drop lets go of the first n bytes of the buffer.
func (r *fileScan) drop(n int) {
	if n == 0 {
		return
	}
	r.prints.add(r.buf[:n])
	copy(r.buf, r.buf[n:r.have])
	r.start += int64(n)
	r.have -= n
}

// anotherLine says whether a whole line is left behind the position: only then is the next read worth hurrying for.
func (r *fileScan) anotherLine() bool {
	return r.end-r.start > int64(r.have) || bytes.IndexByte(r.buf[:r.have], '\n') >= 0
}

// atEnd is the position behind the last whole line of p.
func (p *seen) atEnd(maxLine int) (File, error) {
	at := p.fresh()
	f, info, err := open(p.path)
	if missing(err) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer f.Close()
	end := info.Size()
	var head [2]byte
	if _, err := f.ReadAt(head[:], 0); err == nil && isUTF16(head[:]) {
		return at, ErrUTF16
	}
	if at.Offset, err = lastLineEnd(f, end, int64(maxLine)); err != nil {
		return at, err
	}
	if at.Offset < 0 { // in the middle of an over-long line
		at.Offset, at.Skip = end, int64(maxLine)+1
	}
	pr, err := printOf(f, at.Offset)
	if err != nil {
		return at, err
	}
	at.Head, at.Tail = pr.sums()
	at.Unread = end - at.Offset
	return at, nil
}

// lastLineEnd returns the offset behind the last newline before end, 0 if there is none, and -1 if there is none
// within reach.
func lastLineEnd(f io.ReaderAt, end, reach int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for at := end; at > 0; {
		n := min(at, int64(len(buf)))
		if err := readFull(f, buf[:n], at-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		if at -= n; end-at > reach {
			return -1, nil
		}
	}
	return 0, nil
}
