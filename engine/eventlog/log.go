package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Log is the writing end of an event log: a file of JSON lines that only grows. It has one writer; any number of
// readers follow it through [Reader].
type Log struct {
	file *os.File
	end  int64 // behind the last whole line
	last int64 // its id
}

// ErrInUse says that another process writes the log.
var ErrInUse = errors.New("another process writes it")

// Open opens the log at path, and makes it where there is none. It returns ErrInUse where another process has it open
// for writing: whatever became of that one's socket, there are never two writers. A last line without its end, as a crash or a full
// disk leaves it, is cut off: no reader ever took it.
func Open(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("open event log %s: not a regular file", path), err, file.Close())
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(fmt.Errorf("lock event log %s: %w", path, err), file.Close())
	}
	l := &Log{file: file}
	if err := l.repair(); err != nil {
		return nil, errors.Join(fmt.Errorf("repair event log %s: %w", path, err), file.Close())
	}
	return l, nil
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// LastID is the id of the last event in the log, 0 where there is none.
func (l *Log) LastID() int64 { return l.last }

// Line is an event as it stands in the log, without the line break.
type Line = json.RawMessage

// Append writes those lines whose id is above the last one in the log, and returns once they are on disk. So it may
// be called again with the same lines, after an error or a crash, and each of them stands in the log once.
func (l *Log) Append(lines []Line) error {
	var b bytes.Buffer
	last := l.last
	for _, line := range lines {
		id := ID(line)
		if id <= last {
			continue
		}
		b.Write(line)
		b.WriteByte('\n')
		last = id
	}
	if b.Len() == 0 {
		return nil
	}
	if _, err := l.file.WriteAt(b.Bytes(), l.end); err != nil {
		// Whole lines of it may have been read by somebody already: they stay, and count.
		return errors.Join(fmt.Errorf("append to event log: %w", err), l.repair())
	}
	if err := l.file.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync event log: %w", err), l.repair())
	}
	l.end += int64(b.Len())
	l.last = last
	return nil
}

// repair cuts off what stands behind the last line break and finds the last id.
func (l *Log) repair() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	r := &Reader{file: l.file, size: info.Size()}
	end, err := r.lineEnd(info.Size())
	if err != nil {
		return err
	}
	if end < info.Size() {
		if err := l.file.Truncate(end); err != nil {
			return err
		}
	}
	r.size, l.end, l.last = end, end, 0
	tail, err := r.Last(1)
	if err != nil && err != io.EOF {
		return err
	}
	if len(tail) > 0 {
		l.last = tail[0].ID
	}
	return nil
}
