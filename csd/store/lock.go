package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A worker has four locks, each a file of the folder locks that is held with flock(2), so that the death of a process
// frees it. They are apart since one may be held for long: a send holds its own until a hook has written, and the hook
// takes that of the meta.
const (
	lockSend   = ""
	lockMeta   = ".meta"
	lockState  = ".seen"
	lockLaunch = ".launch"
)

// ErrReserved says that another process launches or adopts a worker of that name at this moment.
var ErrReserved = errors.New("another launch, adopt, stop or prune of this name is running")

// Reserve takes a name until release is called: for a launch, or for whoever removes what is left of its worker. It does
// not wait: the error is ErrReserved where another process has it.
func (r *Root) Reserve(name string) (release func(), err error) {
	release, err = r.take(name, lockLaunch)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrReserved
	}
	if err != nil {
		return nil, fmt.Errorf("reserve name %q: %w", name, err)
	}
	return release, nil
}

// AwaitReserve is Reserve that waits as long as ctx lasts.
func (r *Root) AwaitReserve(ctx context.Context, name string) (release func(), err error) {
	return r.wait(ctx, name, lockLaunch)
}

// Reserved reports whether somebody holds the reservation of name.
func (r *Root) Reserved(name string) bool {
	f, err := os.OpenFile(r.lockFile(name, lockLaunch), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(flock(f), syscall.EWOULDBLOCK)
}

// Lock takes the lock of a worker under which prompts are sent. It waits as long as ctx lasts.
func (r *Root) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return r.wait(ctx, name, lockSend)
}

func (r *Root) wait(ctx context.Context, name, which string) (unlock func(), err error) {
	err = r.retry(ctx, name, func() error {
		unlock, err = r.take(name, which)
		return err
	})
	return unlock, err
}

// retry calls do until it gets the lock that it needs: as long as its error is EWOULDBLOCK, and ctx lasts.
func (r *Root) retry(ctx context.Context, name string, do func() error) error {
	pause := time.Millisecond
	for {
		err := do()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("lock worker %q: %w", name, ctx.Err())
		case <-t.C:
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// metaWait is how long a process waits for another one that is changing a meta, which takes it a moment. On a busy
// machine a hundred that register at once have been seen to need five seconds, and a hook that gives up loses its line.
const metaWait = 8 * time.Second

// withMeta runs do under the lock of a worker's meta.
func (r *Root) withMeta(name string, do func() error) error {
	return r.with(context.Background(), name, lockMeta, do)
}

func (r *Root) with(ctx context.Context, name, which string, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, metaWait)
	defer cancel()
	unlock, err := r.wait(ctx, name, which)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

func (r *Root) lockFile(name, which string) string {
	return r.file(filepath.Join(locks, name+which))
}

// take takes a lock, or returns EWOULDBLOCK. Giving it back removes its file.
func (r *Root) take(name, which string) (unlock func(), err error) {
	if !ValidName(name) {
		return nil, fmt.Errorf("lock worker: %q is no name of one", name)
	}
	if err := r.folder(locks); err != nil {
		return nil, err
	}
	path := r.lockFile(name, which)
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock worker: %w", err)
		}
		if err := flock(f); err != nil {
			return nil, errors.Join(fmt.Errorf("lock worker %q: %w", name, err), f.Close())
		}
		// The last holder has removed the file: what is locked has to be what has the name.
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock worker %q: %w", name, err), f.Close())
		}
		if now, err := os.Lstat(path); err == nil && os.SameFile(mine, now) {
			return func() {
				_ = os.Remove(path) // while it is held
				_ = f.Close()
			}, nil
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("lock worker %q: %w", name, err)
		}
	}
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
