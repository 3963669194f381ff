package procgroup

import (
	"errors"

	"golang.org/x/sys/unix"
)

// waitExit returns when the child has ended, and leaves it to be reaped. waitid of macOS returns for a process that
// only stopped, so the kernel is asked by a kqueue.
func waitExit(pid int) {
	kq, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(kq)
	change := []unix.Kevent_t{{Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}}
	unix.SetKevent(&change[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	events := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(kq, change, events, nil)
		if !errors.Is(err, unix.EINTR) {
			return // an exit, or ESRCH: it is over already
		}
	}
}
