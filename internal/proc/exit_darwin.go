package proc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// WaitExit returns nil when the process has ended, be it a child or not, and ctx's error when that is done first.
func WaitExit(ctx context.Context, pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(queue) }()
	change := unix.Kevent_t{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	if _, err := unix.Kevent(queue, []unix.Kevent_t{change}, nil, nil); errors.Is(err, unix.ESRCH) {
		return nil
	} else if err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	for ctx.Err() == nil {
		// The kernel wakes us at the end itself; the second is for ctx alone.
		second := unix.NsecToTimespec(int64(time.Second))
		n, err := unix.Kevent(queue, nil, make([]unix.Kevent_t, 1), &second)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("watch process %d: %w", pid, err)
		}
	}
	return ctx.Err()
}
