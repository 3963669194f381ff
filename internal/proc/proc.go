// Package proc answers what the engine and csd ask of the process table: whether a process is still the one it was,
// whose child it is, and who is at the other end of a unix socket.
package proc

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrGone says that there is no such process any more, or only its zombie.
var ErrGone = errors.New("no such process")

// Same reports whether the process pid is still the one that had the start token. A pid that was given to another
// process since is not the same; an unreadable process table is no proof that it is gone.
func Same(pid int, token string) bool {
	now, err := StartToken(pid)
	if errors.Is(err, ErrGone) {
		return false
	}
	return err != nil || now == token
}

// hops is how far up Descends looks: the depth that Claude Code looks when it asks the same question.
const hops = 12

// Descends reports whether ancestor is pid itself or among the parents of pid.
func Descends(pid, ancestor int) bool {
	for range hops {
		if pid == ancestor {
			return true
		}
		parent, err := Parent(pid)
		if err != nil || parent <= 0 {
			return false
		}
		pid = parent
	}
	return false
}

// Peer is the process at the other end of a unix socket: the one that connected, or that called listen.
type Peer struct {
	PID int
	UID int
}

// PeerOf asks the kernel who is at the other end of conn.
func PeerOf(conn syscall.Conn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("peer of a unix socket: %w", err)
	}
	var peer Peer
	var peerErr error
	if err := raw.Control(func(fd uintptr) { peer, peerErr = peerOf(int(fd)) }); err != nil {
		return Peer{}, fmt.Errorf("peer of a unix socket: %w", err)
	}
	if peerErr != nil {
		return Peer{}, fmt.Errorf("peer of a unix socket: %w", peerErr)
	}
	return peer, nil
}
