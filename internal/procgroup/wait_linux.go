package procgroup

import (
	"errors"

	"golang.org/x/sys/unix"
)

// waitExit returns when the child has ended, and leaves it to be reaped.
func waitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
