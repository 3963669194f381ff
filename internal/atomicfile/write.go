// Package atomicfile replaces a file whole: a reader, and the next start after a crash, sees the old content or the
// new one and never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces path with data, readable by the owner alone. It returns after the content is on disk; the new name
// is made durable with the folder. On an error the old file stands.
//
// The temporary file has a fixed name beside path, so that a process that is killed here leaves at most one behind
// and the next Write takes it over. Path has one writer at a time; that is the caller's promise.
func Write(path string, data []byte) error {
	if err := WriteSoft(path, data); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteSoft is Write without making the new name durable: after a power cut the old file may stand again.
func WriteSoft(path string, data []byte) (err error) {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("create %s: %w", tmp, reason(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(os.Remove(tmp)))
		}
	}()
	if _, err = f.Write(data); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", tmp, reason(err)), f.Close())
	}
	if err = f.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", tmp, reason(err)), f.Close())
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", tmp, reason(err))
	}
	return Rename(tmp, path)
}

// Rename gives from the name to, in place of what had it.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("rename %s to %s: %w", from, filepath.Base(to), reason(err))
	}
	return nil
}

// SyncDir makes the names in dir durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open folder %s: %w", dir, reason(err))
	}
	err = d.Sync()
	// Some file systems cannot sync a folder; there is nothing more to ask of them.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, reason(err))
	}
	return nil
}

// reason takes the operation and the path off an error of package os: the callers say both in their own words.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
