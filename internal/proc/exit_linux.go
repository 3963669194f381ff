package proc

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// WaitExit returns nil when the process has ended, be it a child or not, and ctx's error when that is done first. It
// sleeps in the kernel: no process is looked at twice.
func WaitExit(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { _ = file.Close() })
	defer stop()
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	err = conn.Read(func(fd uintptr) bool { // a pidfd is readable once its process has ended
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
