package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/engine/control"
)

// ErrRunning says that a daemon answers on the socket already.
var ErrRunning = errors.New("a daemon is running")

// Listen binds the socket at path; holding it is what makes a daemon the only one. Where a daemon answers there it
// returns its control.Response with ErrRunning. A socket that nobody listens on was left by a crash and is removed.
func Listen(ctx context.Context, path string) (*net.UnixListener, control.Response, error) {
	unlock, err := lock(filepath.Dir(path))
	if err != nil {
		return nil, control.Response{}, err
	}
	defer unlock()

	l, err := bind(path)
	for began := time.Now(); errors.Is(err, syscall.EADDRINUSE); l, err = bind(path) {
		running, askErr := ask(ctx, path)
		switch {
		case errors.Is(askErr, control.ErrNobody):
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, control.Response{}, fmt.Errorf("remove the socket that a crash left: %w", err)
			}
		case askErr == nil && !running.Stopping:
			return nil, running, ErrRunning
		case askErr != nil && !errors.Is(askErr, control.ErrNoDaemon), time.Since(began) > control.Patience:
			return nil, control.Response{}, fmt.Errorf("control socket %s is held by a program that does not answer as a daemon: %w", path, cmp.Or(askErr, control.ErrNoDaemon))
		default: // a daemon on its way out: nothing tells when it is gone
			time.Sleep(20 * time.Millisecond)
		}
	}
	if err != nil {
		return nil, control.Response{}, fmt.Errorf("bind control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, control.Response{}, errors.Join(fmt.Errorf("make control socket private: %w", err), l.Close())
	}
	l.SetUnlinkOnClose(true)
	return l, control.Response{}, nil
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

func bind(path string) (*net.UnixListener, error) {
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// ask asks whoever has the name at path.
func ask(ctx context.Context, path string) (control.Response, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return control.Response{}, control.ErrNobody
	}
	if err != nil {
		return control.Response{}, err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return control.Response{}, errors.New("it is not a socket")
	}
	return control.Ask(ctx, path, control.Request{Op: control.Status})
}
