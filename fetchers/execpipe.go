package fetchers

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// streams are the pipes of one command. It owns the ends of both sides until they are closed.
type streams struct {
	out, err *pipe
	in       *os.File // our end of stdin; nil: it reads nothing
	text     string
	theirs   []*os.File
}

// openStreams gives cmd its three files.
func openStreams(o options, cmd *exec.Cmd) (s *streams, err error) {
	s = &streams{text: o.text("stdin")}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.text != "" {
		r, w, err := os.Pipe()
		if err != nil {
			return s, err
		}
		s.in, s.theirs = w, append(s.theirs, r)
		cmd.Stdin = r
	}
	var w *os.File
	if s.out, w, err = newPipe(int(o.number("maxBytes")), true); err != nil {
		return s, err
	}
	s.theirs, cmd.Stdout = append(s.theirs, w), w
	if s.err, w, err = newPipe(stderrKept, false); err != nil {
		return s, err
	}
	s.theirs, cmd.Stderr = append(s.theirs, w), w
	return s, nil
}

// started closes the ends that the command has now.
func (s *streams) started() {
	for _, f := range s.theirs {
		f.Close()
	}
	s.theirs = nil
}

// pump moves bytes until [streams.drain]; the returned function waits for that.
func (s *streams) pump() (wait func()) {
	var wg sync.WaitGroup
	wg.Go(s.out.read)
	wg.Go(s.err.read)
	if s.in != nil {
		wg.Go(func() {
			_, _ = io.WriteString(s.in, s.text) // a command need not read it
			s.in.Close()
		})
	}
	return wg.Wait
}

// drain is called when the command has ended: what it wrote is in the pipes by now, and only that is waited for.
func (s *streams) drain(grace time.Duration) {
	if s.in != nil {
		_ = s.in.SetWriteDeadline(time.Now())
	}
	end := time.Now().Add(grace)
	_ = s.out.file.SetReadDeadline(end)
	_ = s.err.file.SetReadDeadline(end)
}

func (s *streams) close() {
	s.started()
	for _, p := range []*pipe{s.out, s.err} {
		if p != nil {
			p.file.Close()
		}
	}
	if s.in != nil {
		s.in.Close()
	}
}

// pipe collects what a command writes, up to a bound.
type pipe struct {
	file  *os.File
	limit int
	stop  bool          // whether more than limit ends the reading; otherwise the rest is thrown away
	full  chan struct{} // closed when there was more than limit

	mu   sync.Mutex
	buf  []byte
	seen int64
	over bool
}

func newPipe(limit int, stop bool) (*pipe, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &pipe{file: r, limit: limit, stop: stop, full: make(chan struct{})}, w, nil
}

// read collects until the end, the bound or the deadline. At the deadline it takes what is in the pipe already.
func (p *pipe) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := p.file.Read(buf)
		if !p.take(buf[:n]) {
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.rest(buf)
			return
		}
		if err != nil {
			return
		}
	}
}

// rest takes what is in the pipe without waiting for more.
func (p *pipe) rest(buf []byte) {
	if p.file.SetReadDeadline(time.Time{}) != nil {
		return
	}
	conn, err := p.file.SyscallConn()
	if err != nil {
		return
	}
	for range 64 { // a pipe holds less; whoever still writes is not waited for
		n := 0
		err := conn.Read(func(fd uintptr) bool {
			n, err = unix.Read(int(fd), buf)
			return true
		})
		if err != nil || n <= 0 || !p.take(buf[:n]) {
			return
		}
	}
}

// take says whether more is wanted.
func (p *pipe) take(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen += int64(len(b))
	room := p.limit - len(p.buf)
	p.buf = append(p.buf, b[:min(room, len(b))]...)
	if len(b) > room && !p.over {
		p.over = true
		close(p.full)
	}
	return !(p.over && p.stop)
}

func (p *pipe) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf
}

func (p *pipe) total() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

func (p *pipe) isFull() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}
