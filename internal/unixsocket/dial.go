// Package unixsocket connects to a socket in the file system, without package net: a client that does nothing else
// starts in two thirds of the time.
package unixsocket

import (
	"fmt"
	"os"
	"syscall"
)

// Dial connects to the socket at path. It does not wait for whoever listens there: where the queue is full it fails.
// The file that it returns takes deadlines; reading and writing it is reading and writing the connection.
func Dial(path string) (*os.File, error) {
	// Between the two calls no other thread starts a process, which would inherit the descriptor.
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("dial unix %s: socket: %w", path, err)
	}
	if err = syscall.SetNonblock(fd, true); err == nil {
		err = connect(fd, path)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return nil, fmt.Errorf("dial unix %s: connect: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// connect does not come back with a connection half made: on this disk there is nothing to wait for.
func connect(fd int, path string) error {
	for {
		err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
		if err != syscall.EINTR {
			return err
		}
	}
}
