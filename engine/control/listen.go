package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// ErrRunning says that a daemon answers on the socket already.
var ErrRunning = errors.New("a daemon is running")

// Listen binds the socket at path; holding it is what makes a daemon the only one. Where a daemon answers there it
// returns its Response with ErrRunning. A socket that nobody listens on was left by a crash and is removed.
func Listen(ctx context.Context, path string) (*net.UnixListener, Response, error) {
	unlock, err := lock(filepath.Dir(path))
	if err != nil {
		return nil, Response{}, err
	}
	defer unlock()

	addr := &net.UnixAddr{Name: path, Net: "unix"}
	l, err := net.ListenUnix("unix", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		if running, err := ask(ctx, path); err != nil {
			return nil, Response{}, err
		} else if running != nil {
			return nil, *running, ErrRunning
		}
		if err := os.Remove(path); err != nil {
			return nil, Response{}, fmt.Errorf("remove the socket that a crash left: %w", err)
		}
		l, err = net.ListenUnix("unix", addr)
	}
	if err != nil {
		return nil, Response{}, fmt.Errorf("bind control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, Response{}, errors.Join(fmt.Errorf("make control socket private: %w", err), l.Close())
	}
	l.SetUnlinkOnClose(true)
	return l, Response{}, nil
}

// lock keeps two starts from taking the same left-over socket away from each other: one looks and binds at a time.
func lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock runtime directory: %w", err)
	}
	for {
		err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock runtime directory %s: %w", dir, err), d.Close())
	}
	return func() { _ = d.Close() }, nil
}

// ask finds out who has the name at path: a daemon that answers, or, with a nil Response, nobody.
func ask(ctx context.Context, path string) (*Response, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is in the way: it is not a socket", path)
	}
	r, err := Ask(ctx, path, Request{Op: Status})
	if errors.Is(err, ErrNoDaemon) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("control socket %s is held by a program that does not answer as a daemon: %w", path, err)
	}
	return &r, nil
}
