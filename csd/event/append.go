package event

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ErrNotRegular says that what has the name of an events file is no file.
var ErrNotRegular = errors.New("not a regular file")

// Append writes e as the last line of the file at path, which it makes, for its owner alone, where there is none.
//
// Any number of processes may append at once: a line is written with one write(2), whatever its size, under a lock of
// the file. A line that was torn by a crash is closed first, so that it stands alone. A line that found no room is cut
// off again: after an error the file holds what it held before. Append does not wait for the disk.
func Append(path string, e Event) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	return appendLine(path, line, os.O_CREATE)
}

// AppendExisting is Append to a file that is there: where there is none the error is os.ErrNotExist.
func AppendExisting(path string, e Event) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	return appendLine(path, line, 0)
}

// appendLine writes line, which ends in a newline.
func appendLine(path string, line []byte, flags int) (err error) {
	// Not to block: somebody may have put a pipe there.
	f, err := os.OpenFile(path, flags|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("open events: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lock(f)
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("append event: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("append event: %w", &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular})
	}
	size := info.Size()
	if size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return fmt.Errorf("append event: %w", err)
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	return write(f, line, size)
}

// file is what write needs of an *os.File; a test gives one that is full.
type file interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
}

// write appends line to f, which has the given size, whole or not at all.
func write(f file, line []byte, size int64) error {
	n, err := f.Write(line)
	if err == nil {
		return nil
	}
	if n > 0 {
		err = errors.Join(err, f.Truncate(size))
	}
	return fmt.Errorf("append event: %w", err)
}

// patience is how long a writer waits for another one that stands still, as one does that was stopped or swapped out.
// Then it writes without the lock: a line is one write, and of two lines the kernel makes no mixture.
const patience = 2 * time.Second

// lock waits for the lock of f, or for its patience to end. The lock goes with f.
func lock(f *os.File) {
	pause := 100 * time.Microsecond
	for waited := time.Duration(0); ; waited += pause {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil && errors.Is(err, syscall.EINTR) {
			continue
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || waited >= patience {
			return // ours, or a file system without locks
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}
