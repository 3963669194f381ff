package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartToken identifies the process that has pid now: its start time in clock ticks since boot. It is ErrGone for a
// zombie too, since nobody runs there any more.
func StartToken(pid int) (string, error) {
	fields, err := stat(pid)
	if err != nil {
		return "", err
	}
	if state := fields[0]; len(state) == 1 && (state[0] == 'Z' || state[0] == 'X') {
		return "", fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	return string(fields[startTime]), nil
}

// Parent returns the parent of pid.
func Parent(pid int) (int, error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(fields[1]))
}

// startTime is the start time's place among the fields behind the command: field 22 of proc_pid_stat(5), counted from
// field 3.
const startTime = 22 - 3

// stat returns the fields of /proc/PID/stat behind the command, which is in parentheses and may hold anything.
func stat(pid int) ([][]byte, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) <= startTime {
		return nil, fmt.Errorf("process %d: /proc/%d/stat has %d fields behind the command", pid, pid, len(fields))
	}
	return fields, nil
}

func peerOf(fd int) (Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	return Peer{PID: int(cred.Pid), UID: int(cred.Uid)}, nil
}
