package rundir

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/sessevents/sessevents/internal/proc"
	"github.com/sessevents/sessevents/internal/unixsocket"
)

// Owner is whom a daemon serves: a Claude Code session by its inbox, or, as a file sink, whoever reads its files.
type Owner struct {
	// ID names a file sink. It is empty for a session.
	ID string
	// PID ends the daemon with it: the session's process, or what --pid names. Zero: the daemon runs until `stop`.
	PID int
	// Start is the start token of PID, so that another process that gets the same pid is not the owner.
	Start string
	// Inbox is the session's socket. It is empty for a file sink.
	Inbox string
}

// ErrNoInbox says that nothing names a session, and no id names a file sink.
var ErrNoInbox = errors.New("CLAUDE_CODE_MESSAGING_SOCKET is not set: this is not a Claude Code session, or it has no inbox")

// Session returns the owner that the environment of a session's own processes names. Its pid is the process that
// listens on the inbox, since the name of the socket is not a promise; only when nobody listens does CLAUDE_PID
// count.
func Session(getenv Getenv) (Owner, error) {
	inbox := getenv("CLAUDE_CODE_MESSAGING_SOCKET")
	if inbox == "" {
		return Owner{}, ErrNoInbox
	}
	pid, peerErr := listener(inbox)
	if peerErr != nil {
		var err error
		if pid, err = strconv.Atoi(getenv("CLAUDE_PID")); err != nil || pid <= 0 {
			return Owner{}, fmt.Errorf("find the session of inbox %s: %w; and CLAUDE_PID names no process", inbox, peerErr)
		}
	}
	start, err := startToken(pid, inbox)
	if err != nil {
		return Owner{}, fmt.Errorf("find the session of inbox %s: %w", inbox, err)
	}
	return Owner{PID: pid, Start: start, Inbox: inbox}, nil
}

// FileSink returns the owner of a daemon without an inbox. pid may be 0; otherwise the daemon ends with it.
func FileSink(id string, pid int) (Owner, error) {
	if !ValidName(id) {
		return Owner{}, fmt.Errorf("invalid id %q: small letters, digits and -, at most 40", id)
	}
	owner := Owner{ID: id, PID: pid}
	if pid == 0 {
		return owner, nil
	}
	if pid < 0 {
		return Owner{}, fmt.Errorf("invalid pid %d", pid)
	}
	if pid == os.Getpid() {
		return Owner{}, fmt.Errorf("pid %d is this daemon itself: it would never end ($$ of a shell that runs exec is the daemon's own)", pid)
	}
	start, err := proc.StartToken(pid)
	if err != nil {
		return Owner{}, fmt.Errorf("owner: %w", err)
	}
	owner.Start = start
	return owner, nil
}

// Alive reports whether the owner is still there. A file sink without a pid always is.
func (o Owner) Alive() bool {
	if o.PID == 0 {
		return true
	}
	if now, err := startToken(o.PID, o.Inbox); !errors.Is(err, proc.ErrGone) {
		return err != nil || now == o.Start
	}
	return false
}

// String names the owner to a person.
func (o Owner) String() string {
	switch {
	case o.ID == "":
		return "session " + strconv.Itoa(o.PID)
	case o.PID == 0:
		return "file sink " + o.ID
	default:
		return "file sink " + o.ID + " of process " + strconv.Itoa(o.PID)
	}
}

// listener is the process that listens on an inbox. An inbox whose queue is full, since its session stands still
// (SIGSTOP), is an error.
func listener(inbox string) (int, error) {
	conn, err := unixsocket.Dial(inbox)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	peer, err := proc.PeerOf(conn)
	if err != nil {
		return 0, err
	}
	if peer.UID != os.Geteuid() {
		return 0, fmt.Errorf("a process of user %d listens there", peer.UID)
	}
	if peer.PID <= 0 {
		return 0, errors.New("the process that listens there is not visible from here")
	}
	return peer.PID, nil
}

// startToken is the process's start time, or, where the process table does not tell, the inode of its inbox.
func startToken(pid int, inbox string) (string, error) {
	token, err := proc.StartToken(pid)
	if err == nil || errors.Is(err, proc.ErrGone) || inbox == "" {
		return token, err
	}
	info, statErr := os.Lstat(inbox)
	if errors.Is(statErr, os.ErrNotExist) {
		return "", proc.ErrGone
	}
	if statErr != nil {
		return "", errors.Join(err, statErr)
	}
	return "i" + strconv.FormatUint(uint64(info.Sys().(*syscall.Stat_t).Ino), 10), nil
}
