package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// StartToken identifies the process that has pid now: its start time in microseconds since the epoch. It is ErrGone
// for a zombie too, since nobody runs there any more.
func StartToken(pid int) (string, error) {
	info, err := kinfo(pid)
	if err != nil {
		return "", err
	}
	if info.Proc.P_stat == zombie {
		return "", fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	at := info.Proc.P_starttime
	return fmt.Sprint(at.Sec*1_000_000 + int64(at.Usec)), nil
}

// Parent returns the parent of pid.
func Parent(pid int) (int, error) {
	info, err := kinfo(pid)
	if err != nil {
		return 0, err
	}
	return int(info.Eproc.Ppid), nil
}

func kinfo(pid int) (*unix.KinfoProc, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) { // an empty answer: no such process
		return nil, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return info, nil
}

func peerOf(fd int) (Peer, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		return Peer{}, err
	}
	return Peer{PID: pid, UID: int(cred.Uid)}, nil
}
