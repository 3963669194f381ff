// Package plainfile opens files that others name or own, where something else may stand in their place.
package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Errors of what stands in the place of a file; they come in an [fs.PathError].
var (
	ErrFolder = errors.New("is a folder")
	ErrOther  = errors.New("not a regular file") // a FIFO, a socket, a device
)

// Open opens the regular file at path to read, and tells how it was then. It never waits, as the opening of a FIFO would
// for its writer, and it takes no terminal. flags are added, such as O_NOFOLLOW. The caller closes the file.
func Open(path string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|flags, 0)
	if err != nil {
		if errors.Is(err, syscall.ENXIO) { // a socket cannot be opened at all
			err = &fs.PathError{Op: "open", Path: path, Err: ErrOther}
		}
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = &fs.PathError{Op: "open", Path: path, Err: ErrFolder}
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: path, Err: ErrOther}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
