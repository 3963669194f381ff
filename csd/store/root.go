// Package store keeps what is known of workers as files of one private folder, the root: who they are, their events,
// their shims and homes. Every file is readable by its owner alone and is replaced whole; docs/csd-events.md lists
// them. There is no daemon: commands and hooks of many processes meet here, under the locks of this package.
package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// DefaultPath is the root where the environment names none.
const (
	DefaultPath = "/tmp/csd-workers"
	compatLink  = "/tmp/claude-workers"
)

// Root is the folder of the workers. Its methods may be called from any goroutine and process.
type Root struct{ path string }

// Open opens the root that the environment names, CSD_WORKER_DIR or else /tmp/csd-workers, be it there or not: see Make.
// It refuses a root that is a symbolic link or belongs to another user, and takes away what others may do there.
func Open(getenv func(string) string) (*Root, error) {
	path := getenv("CSD_WORKER_DIR")
	if path == "" {
		return open(DefaultPath)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find worker folder: %w", err)
	}
	return open(path)
}

func open(path string) (*Root, error) {
	r, err := At(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Root{path: path}, nil
	}
	return r, err
}

// Make makes the folder where there is none, for a worker that is to be. A command that looks makes none.
func (r *Root) Make() error { return r.make(DefaultPath, compatLink) }

func (r *Root) make(path, link string) error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("make worker folder: %w", err)
	}
	if err := os.Mkdir(r.path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make worker folder: %w", err)
	}
	_, err := At(r.path) // somebody else may have made it since it was opened
	if err == nil && r.path == path {
		// Old programs look there. Whatever has the name already may keep it.
		_ = os.Symlink(path, link)
	}
	return err
}

// At opens the root at path, an absolute one, which is there: where there is none the error is os.ErrNotExist. It
// refuses what Open refuses.
func At(path string) (*Root, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("open worker folder %q: not an absolute path", path)
	}
	path = filepath.Clean(path)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("open worker folder: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open worker folder %s: it is no folder but %s", path, kind(info.Mode()))
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("open worker folder %s: it belongs to another user", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o700); err != nil {
			return nil, fmt.Errorf("close worker folder to others: %w", err)
		}
	}
	return &Root{path: path}, nil
}

func kind(m os.FileMode) string {
	if m&os.ModeSymlink != 0 {
		return "a symbolic link"
	}
	return "a file"
}

// Path is the folder itself.
func (r *Root) Path() string { return r.path }

// Full reports whether the file system of the root has no room left for one more block.
func (r *Root) Full() bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(r.path, &fs) == nil && fs.Blocks > 0 && fs.Bavail == 0
}

// The folders and endings of the root.
const (
	shims      = "bin"
	homes      = "homes"
	names      = "names"
	locks      = "locks"
	metaEnd    = ".meta"
	eventsEnd  = ".events.jsonl"
	markerEnd  = ".harness"
	stateEnd   = ".seen"
	launchEnd  = ".launch"
	tmpEnd     = ".tmp"
	maxFile    = 1 << 20  // bytes of a meta, a marker, a state
	maxLaunch  = 64 << 20 // bytes of a launch: arguments and environment
	privateDir = 0o700
)

// Shim is the path of a worker's shim.
func (r *Root) Shim(name string) string { return filepath.Join(r.path, shims, name) }

// Home is the path of a worker's private home. It is there for codex and pi alone.
func (r *Root) Home(name string) string { return filepath.Join(r.path, homes, name) }

// EventsFile is the path of a worker's events file, which need not be there yet.
func (r *Root) EventsFile(m Meta) string {
	name := filepath.Base(m.EventsFile)
	if m.EventsFile == "" || !strings.HasSuffix(name, eventsEnd) {
		name = m.SessionID + eventsEnd
	}
	return filepath.Join(r.path, name)
}

func (r *Root) file(name string) string { return filepath.Join(r.path, name) }

// folder makes a folder of the root.
func (r *Root) folder(name string) error {
	if err := os.Mkdir(r.file(name), privateDir); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make folder: %w", err)
	}
	return nil
}

// ValidName reports whether name may be the name of a worker: a letter or digit, then at most 63 letters, digits,
// underscores and dashes. So it is a tmux session, a file and a word of a shell without any quoting.
func ValidName(name string) bool {
	return len(name) >= 1 && len(name) <= 64 && alnum(name[0]) && only(name[1:], "_-")
}

// ValidID reports whether id may be the id of a client's session.
func ValidID(id string) bool {
	return len(id) >= 8 && len(id) <= 128 && alnum(id[0]) && only(id[1:], "-")
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func only(s, others string) bool {
	for i := range len(s) {
		if !alnum(s[i]) && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return true
}
