// Package rundir says where a daemon's files are and whose they are: the runtime directory, the file names, and the
// owner with its start token.
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Getenv looks a variable up, as os.Getenv does.
type Getenv func(name string) string

// NoDirError says that no folder can serve as runtime directory, and why each one cannot.
type NoDirError struct{ Tried []error }

func (e *NoDirError) Error() string {
	lines := make([]string, len(e.Tried))
	for i, err := range e.Tried {
		lines[i] = err.Error()
	}
	return "no runtime directory: " + strings.Join(lines, "; ")
}

// Open returns the runtime directory: the first candidate that is, or can be made, a private folder of this user.
// The second result names the candidates before it, with what was wrong with each.
func Open(getenv Getenv) (string, []error, error) {
	var tried []error
	for _, dir := range candidates(getenv) {
		err := makePrivate(dir)
		if err == nil {
			return dir, tried, nil
		}
		tried = append(tried, err)
	}
	return "", tried, &NoDirError{tried}
}

// Candidates are the patterns of the folders that Open tries, in order, for help texts.
func Candidates() []string {
	return []string{
		"$SESSION_EVENTS_DIR (an absolute path)", "$XDG_RUNTIME_DIR/session-events", "$CLAUDE_CODE_TMPDIR/session-events-<uid>",
		"<os tmpdir>/session-events-<uid>", "/tmp/session-events-<uid>",
	}
}

func candidates(getenv Getenv) []string {
	var dirs []string
	own := "session-events-" + strconv.Itoa(os.Geteuid())
	if dir := getenv("SESSION_EVENTS_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "session-events"))
	}
	if dir := getenv("CLAUDE_CODE_TMPDIR"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, own))
	}
	if dir := getenv("TMPDIR"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, own))
	}
	return append(dirs, filepath.Join("/tmp", own))
}

// makePrivate makes dir, or finds it, as a folder that is this user's, has mode 0700, and lies where nobody else can
// put another in its place.
func makePrivate(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%s is not an absolute path", dir)
	}
	dir = filepath.Clean(dir)
	// What is there of the way first: nothing is made in a place that is not trusted.
	if err := trusted(existing(filepath.Dir(dir))); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// Through a descriptor that no link was followed for, so that what is checked is what is changed.
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	switch {
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is a link or a file, not a folder", dir)
	case err != nil:
		return err
	}
	defer d.Close()
	info, err := d.Stat()
	if err != nil {
		return err
	}
	if owner := uidOf(info); owner != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d", dir, owner)
	}
	if info.Mode().Perm() != 0o700 {
		if err := d.Chmod(0o700); err != nil {
			return err
		}
	}
	return nil
}

// existing is path, or the nearest folder above it that is there.
func existing(path string) string {
	for {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// trusted refuses a path in which somebody else could put something of theirs in the place of a part: each folder on
// the way belongs to this user or to root, and where others may write, only the owner of an entry may replace it
// (the sticky bit of /tmp). A link on the way is as good as its owner.
func trusted(path string) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if owner := uidOf(info); owner != 0 && owner != os.Geteuid() {
			return fmt.Errorf("%s on the way belongs to user %d", at, owner)
		}
		if info.IsDir() && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return fmt.Errorf("%s on the way can be changed by others", at)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := filepath.EvalSymlinks(at)
			if err != nil {
				return err
			}
			if err := trusted(to); err != nil {
				return err
			}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func uidOf(info fs.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}
