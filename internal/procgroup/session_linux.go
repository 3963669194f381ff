package procgroup

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// signalSession sends sig to the processes of a session that have left its first group, as a shell with job control
// and timeout(1) let theirs do. A process is held by a descriptor before it is asked for its session, so that a number
// that is given to another one meanwhile meets no stranger. The leader must not have been reaped.
func signalSession(leader int, sig unix.Signal) {
	dir, err := os.Open("/proc")
	if err != nil {
		return // the group is all that can be reached
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == leader {
			continue
		}
		if session, err := unix.Getsid(pid); err != nil || session != leader { // most are not worth a descriptor
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it ended, or the kernel is too old
		}
		if session, err := unix.Getsid(pid); err == nil && session == leader {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0) // it may have ended
		}
		_ = unix.Close(fd)
	}
}
