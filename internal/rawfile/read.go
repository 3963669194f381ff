// Package rawfile reads many small files fast: with the system's calls alone, four a file. Package os makes ready for
// files that could block, which costs as much again; a list of five hundred workers reads a thousand and a half.
package rawfile

import (
	"errors"
	"io/fs"
	"syscall"
)

// Errors, besides those of the system, which come as *fs.PathError.
var (
	// ErrNotRegular says that the path is no regular file. A symbolic link is none, and is not followed.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLong says that the file is longer than the caller takes.
	ErrTooLong = errors.New("longer than it may be")
)

// Read returns the content of a file of at most limit bytes. It is for files that are replaced whole: one that grows
// meanwhile is given as long as it was.
func Read(path string, limit int64) ([]byte, error) {
	data, size, err := read(path, func(size int64) []byte { return make([]byte, min(size, limit)) })
	if err == nil && size > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLong}
	}
	return data, err
}

// Tail reads the last bytes of a file into buf, as many as there are and have room. It returns them, and the file's
// size.
func Tail(path string, buf []byte) (data []byte, size int64, err error) {
	return read(path, func(size int64) []byte { return buf[:min(size, int64(len(buf)))] })
}

// read fills the buffer that room gives for a file of a size with the last bytes of it.
func read(path string, room func(size int64) []byte) (data []byte, size int64, err error) {
	failed := func(op string, err error) ([]byte, int64, error) {
		return nil, 0, &fs.PathError{Op: op, Path: path, Err: err}
	}
	var fd int
	// O_NONBLOCK: the open of a pipe waits for nobody.
	err = again(func() (err error) {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		return err
	})
	if errors.Is(err, syscall.ELOOP) {
		err = ErrNotRegular
	}
	if err != nil {
		return failed("open", err)
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	var stat syscall.Stat_t
	if err := again(func() error { return syscall.Fstat(fd, &stat) }); err != nil {
		return failed("stat", err)
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return failed("open", ErrNotRegular)
	}
	size = stat.Size
	data = room(size)
	for got, from := 0, size-int64(len(data)); got < len(data); {
		var m int
		err := again(func() (err error) {
			m, err = syscall.Pread(fd, data[got:], from+int64(got))
			return err
		})
		if err != nil {
			return failed("read", err)
		}
		if m == 0 { // it was cut off meanwhile
			return data[:got], size, nil
		}
		got += m
	}
	return data, size, nil
}

func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
