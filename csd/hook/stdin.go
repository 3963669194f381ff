package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// patience is how long a hook waits for its input. Clients do not always close the pipe to it.
	patience = 4 * time.Second
	// maxReading is how long a hook may take to read what is there: a long input on a machine that is busy.
	maxReading = 20 * time.Second
	// maxInput is how much a hook reads at most.
	maxInput = 64 << 20
)

// await reads the input, unless it does not come. A goroutine that still waits for it ends with the process.
func await(ctx context.Context, stdin io.Reader) (input, bool) {
	ctx, cancel := context.WithTimeout(ctx, maxReading)
	defer cancel()
	from := &source{r: stdin}
	got := make(chan *input, 1)
	go func() {
		var said *input
		defer func() {
			_ = recover() // as in Run
			got <- said
		}()
		said = read(from)
	}()
	for wait := patience; ; wait = patience / 20 {
		t := time.NewTimer(wait)
		select {
		case said := <-got:
			t.Stop()
			if said == nil {
				return input{}, false
			}
			return *said, true
		case <-ctx.Done():
			t.Stop()
			return input{}, false
		case <-t.C:
			if from.dry() {
				return input{}, false
			}
		}
	}
}

// read reads one JSON object, nil where there is none. It does not wait for what may follow.
func read(r io.Reader) *input {
	var in input
	err := json.NewDecoder(io.LimitReader(r, maxInput)).Decode(&in)
	var wrong *json.UnmarshalTypeError
	if err != nil && (!errors.As(err, &wrong) || wrong.Field == "") { // else a member has another type than today: it is left out
		return nil
	}
	return &in
}

// source is the standard input. It passes over a byte order mark, and says whether its reader waits in vain.
type source struct {
	r       io.Reader
	begun   bool
	waiting atomic.Bool
}

func (s *source) Read(b []byte) (int, error) {
	s.waiting.Store(true)
	n, err := s.r.Read(b)
	s.waiting.Store(false)
	if !s.begun && n > 0 {
		s.begun = true
		if n >= 3 && string(b[:3]) == "\xef\xbb\xbf" {
			b[0], b[1], b[2] = ' ', ' ', ' '
		}
	}
	return n, err
}

// dry reports whether the reader waits for bytes that are not there. One that only waits for its turn on a busy machine
// does not.
func (s *source) dry() bool {
	if !s.waiting.Load() {
		return false
	}
	f, ok := s.r.(*os.File)
	if !ok {
		return true
	}
	ready, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, 0)
	return err != nil || ready == 0
}
