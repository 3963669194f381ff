package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"
)

const (
	// maxLog is where the daemon log is turned over; one old file is kept.
	maxLog = 10 << 20
	// maxLogLine bounds a line of it, in bytes.
	maxLogLine = 2000
)

// daemonLog is the daemon's own log: what it did, and what was odd. It has one writer.
type daemonLog struct {
	path string
	file *os.File
	size int64
	max  int64
	now  func() time.Time
}

func openLog(path string, now func() time.Time) (*daemonLog, error) {
	l := &daemonLog{path: path, max: maxLog, now: now}
	return l, l.open()
}

func (l *daemonLog) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("daemon log %s is not a regular file", l.path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

// printf adds one line. A log that cannot be written stops nothing: the daemon's work does not hang on it.
func (l *daemonLog) printf(format string, args ...any) {
	line := l.now().UTC().Format(time.RFC3339) + " " + oneLine(fmt.Sprintf(format, args...), maxLogLine) + "\n"
	if l.size+int64(len(line)) > l.max {
		l.turn()
	}
	n, _ := l.file.WriteString(line)
	l.size += int64(n)
}

// turn moves the full log aside and begins a new one; where that fails the old one goes on.
func (l *daemonLog) turn() {
	old := l.file
	if os.Rename(l.path, l.path+".1") != nil || l.open() != nil {
		l.size = 0 // try again after as much as the log may hold
		return
	}
	_ = old.Close()
}

func (l *daemonLog) close() error { return l.file.Close() }

// oneLine makes s one printable line of at most limit bytes.
func oneLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
