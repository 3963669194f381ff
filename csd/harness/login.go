package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessevents/sessevents/internal/atomicfile"
)

// login is a client's file of tokens, which a worker gets a copy of. The client renews it in its copy, and the
// operator's becomes worthless then: so the renewed one goes back.
type login struct {
	file string // its name in the worker's folder
	// renewed is when the content was renewed, as far as it says so: the later of two is the one that counts.
	renewed func(content []byte) time.Time
}

// mostLogin bounds a file of tokens.
const mostLogin = 4 << 20

// origin remembers, beside a copy, what was copied.
type origin struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of the operator's file at that time; empty if there was none
}

func (l login) originFile(home string) string { return filepath.Join(home, "csd-"+l.file+".origin") }

// copy gives a worker the operator's login. One that an earlier life of the worker renewed goes back first. Without a
// login of the operator's there is none to copy: it may be in the environment.
func (l login) copy(ctx context.Context, home, from string) error {
	if err := l.giveBack(ctx, home); err != nil {
		return err
	}
	to := filepath.Join(home, l.file)
	content, err := readSmall(from, mostLogin)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return l.remember(home, origin{Path: from})
	}
	if err != nil {
		return fmt.Errorf("copy the login: %w", err)
	}
	if err := atomicfile.Write(to, content); err != nil {
		return fmt.Errorf("copy the login: %w", err)
	}
	return l.remember(home, origin{Path: from, SHA256: digest(content)})
}

// origin is where the login of a worker came from.
func (l login) origin(home string) (o origin, err error) {
	b, err := readSmall(l.originFile(home), mostRegistry)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	return o, err
}

func (l login) remember(home string, o origin) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return atomicfile.Write(l.originFile(home), b)
}

// giveBack writes a renewed login over the operator's, unless that changed since it was copied: then somebody else
// renewed it or logged in anew, and what the worker has is worth nothing.
func (l login) giveBack(_ context.Context, home string) error {
	o, err := l.origin(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("return the login: %w", err)
	}
	ours, err := readSmall(filepath.Join(home, l.file), mostLogin)
	if errors.Is(err, fs.ErrNotExist) || o.SHA256 == "" || digest(ours) == o.SHA256 || !json.Valid(ours) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("return the login: %w", err)
	}
	target, err := filepath.EvalSymlinks(o.Path) // it may be a link into another folder, and stays one
	if err != nil {
		return nil // the operator's is gone: they logged out
	}
	unchanged := func() bool {
		theirs, err := readSmall(target, mostLogin)
		return err == nil && digest(theirs) == o.SHA256 && l.newer(ours, theirs, filepath.Join(home, l.file), target)
	}
	if !unchanged() {
		return nil
	}
	if err := replace(target, ours, unchanged); err != nil {
		return fmt.Errorf("return the login to %s: %w", target, err)
	}
	o.SHA256 = digest(ours)
	return l.remember(home, o)
}

// newer reports whether ours was renewed after theirs: by what they say, else by the times of the files.
func (l login) newer(ours, theirs []byte, ourFile, theirFile string) bool {
	a, b := l.renewed(ours), l.renewed(theirs)
	if !a.IsZero() && !b.IsZero() {
		return a.After(b)
	}
	ourInfo, err1 := os.Stat(ourFile)
	theirInfo, err2 := os.Stat(theirFile)
	return err1 == nil && err2 == nil && ourInfo.ModTime().After(theirInfo.ModTime())
}

// replace puts content in place of a file that others write too: the new one has a name of its own until the last
// moment, in which still is asked again.
func replace(path string, content []byte, still func() bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".csd-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !still() {
		return os.Remove(f.Name())
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// copyFile copies a small file where it is there, for the owner alone. Where it is not, an earlier copy goes.
func copyFile(from, to string) error {
	content, err := readSmall(from, mostLogin)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	if old, err := readSmall(to, mostLogin); err == nil && bytes.Equal(old, content) {
		return nil
	}
	return atomicfile.WriteSoft(to, content)
}

// linkFolder makes to a link to the folder from, where that is there and to is free.
func linkFolder(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil // there is none to link
	}
	if err := os.Symlink(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
