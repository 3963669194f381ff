package hook

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// patience is how long a hook waits for its input. Clients do not always close the pipe to it.
	patience = 4 * time.Second
	// maxInput is how much a hook reads at most.
	maxInput = 64 << 20
)

// await reads the input, unless it does not come. A file is waited for without a goroutine: to begin one, and the thread
// under it, would cost a tenth of what a hook costs.
func await(stdin io.Reader) (input, bool) {
	from := &source{r: stdin, patience: patience}
	from.file, _ = stdin.(*os.File)
	said := read(from)
	if said == nil {
		return input{}, false
	}
	return *said, true
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

// source is the standard input. It passes over a byte order mark, and has patience for a file only so long in all.
type source struct {
	r        io.Reader
	file     *os.File // r, if it is one
	patience time.Duration
	begun    bool
}

var errDry = errors.New("nothing comes")

func (s *source) Read(b []byte) (int, error) {
	if s.file != nil && !s.ready() {
		return 0, errDry
	}
	n, err := s.r.Read(b)
	if !s.begun && n > 0 {
		s.begun = true
		if n >= 3 && string(b[:3]) == "\xef\xbb\xbf" {
			b[0], b[1], b[2] = ' ', ' ', ' '
		}
	}
	return n, err
}

// ready waits until there is something to read, be it the end. What takes no waiting costs no patience: a machine that
// is busy may be slow with what has come.
func (s *source) ready() bool {
	for s.patience >= 0 {
		asked := time.Now()
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.file.Fd()), Events: unix.POLLIN}}, int(s.patience.Milliseconds()))
		s.patience -= time.Since(asked)
		if n > 0 {
			return true
		}
		if !errors.Is(err, unix.EINTR) {
			return err != nil // what cannot be waited for is read
		}
	}
	return false
}
