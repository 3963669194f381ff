// Package reader tells when nobody reads what a program prints any more. A program that waits for something to print
// learns that only from the write which fails, and where nothing comes it would wait for ever: `csd read-events --follow
// | head -1`.
package reader

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Watch returns a context that ends with ctx, and as soon as the reader of out, a pipe or a socket, has gone. Of anything
// else, such as a file, there is nothing to watch. It sleeps until then. The watch ends with ctx, or when stop is called,
// which waits for that.
func Watch(ctx context.Context, out io.Writer) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancel(ctx)
	file, ok := out.(*os.File)
	if !ok || !readable(file) {
		return watched, cancel
	}
	wake, waker, err := os.Pipe()
	if err != nil {
		return watched, cancel // who waits waits as long as before
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if gone(int(file.Fd()), int(wake.Fd())) {
			cancel()
		}
	}()
	return watched, func() {
		cancel()
		_ = waker.Close()
		<-ended
		_ = wake.Close()
	}
}

func readable(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// gone returns when the reader of out has gone, which it reports, or when the other end of wake is closed.
func gone(out, wake int) bool {
	fds := []unix.PollFd{{Fd: int32(out)}, {Fd: int32(wake), Events: unix.POLLIN}} // what is not asked for, as POLLERR, is told always
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || fds[1].Revents != 0:
			return false
		case fds[0].Revents != 0:
			return fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	}
}
