package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/internal/plainfile"
)

// GoneError says that nothing is left of a session to resume it from.
type GoneError struct{ SessionID string }

func (e *GoneError) Error() string { return "nothing is left of session " + e.SessionID }

// Is makes it an error of a file that does not exist.
func (e *GoneError) Is(target error) bool { return target == fs.ErrNotExist }

// keptDir is where the files of a session are put aside, by the same paths below it as in the worker's folder.
func keptDir(root *store.Root, id string) string { return filepath.Join(root.Path(), "kept", id) }

// Forget removes what Keep put aside of a session. It is no error if there is nothing.
func Forget(root *store.Root, id string) error {
	if !store.ValidID(id) {
		return nil
	}
	return os.RemoveAll(keptDir(root, id))
}

// Kept reports whether something of a session was put aside.
func Kept(root *store.Root, id string) bool {
	if !store.ValidID(id) {
		return false
	}
	_, err := os.Stat(keptDir(root, id))
	return err == nil
}

// keep moves the files of a session that match a pattern out of the worker's folder. A session that has none yet, as
// before the end of its first turn, has nothing to keep.
func keep(w Worker, id, pattern string) error {
	if id == "" {
		return nil // nothing was said yet
	}
	if !store.ValidID(id) {
		return fmt.Errorf("keep session %q: not the id of one", id)
	}
	files, err := filepath.Glob(filepath.Join(escaped(w.Home), pattern))
	if err != nil || len(files) == 0 {
		return err
	}
	for _, from := range files {
		if err := carry(w.Home, keptDir(w.Root, id), from, os.Rename); err != nil {
			return fmt.Errorf("keep session %s: %w", id, err)
		}
	}
	return nil
}

// fetchKept finds the files of a session in the worker's folder, and brings those that were put aside back there. At
// least one is returned, or *[GoneError].
func fetchKept(w Worker, id, pattern string) ([]string, error) {
	if !store.ValidID(id) {
		return nil, &GoneError{SessionID: id}
	}
	here := filepath.Join(escaped(w.Home), pattern)
	files, err := filepath.Glob(here)
	if err != nil || len(files) > 0 {
		return files, err
	}
	aside, err := filepath.Glob(filepath.Join(escaped(keptDir(w.Root, id)), pattern))
	if err != nil {
		return nil, err
	}
	for _, from := range aside {
		// Copied, since this start may fail; [Forget] removes them.
		if err := carry(keptDir(w.Root, id), w.Home, from, copyWhole); err != nil {
			return nil, fmt.Errorf("bring back session %s: %w", id, err)
		}
	}
	if len(aside) == 0 {
		return nil, &GoneError{SessionID: id}
	}
	return filepath.Glob(here)
}

// carry brings the file from, which is below a, to the same place below b.
func carry(a, b, from string, how func(from, to string) error) error {
	rel, err := filepath.Rel(a, from)
	if err != nil {
		return err
	}
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no plain file", from)
	}
	to := filepath.Join(b, rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return how(from, to)
}

// copyWhole copies a file of any size.
func copyWhole(from, to string) error {
	in, _, err := plainfile.Open(from, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeWhole(to, in)
}

// writeWhole makes a file of what r gives, or none, in place of the one at path.
func writeWhole(path string, r io.Reader) (err error) {
	out, err := os.CreateTemp(filepath.Dir(path), ".csd-*")
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, r); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(out.Name()))
	}
	return err
}

// escaped is a path that a pattern may begin with.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// refuse looks for arguments that csd must give itself.
func refuse(args []string, owned map[string]string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if why, ok := owned[name]; ok {
			return &ArgError{Arg: name, Why: why}
		}
	}
	return nil
}
