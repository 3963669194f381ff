package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Remove removes every file of a worker; m is nil where it has no meta. A hook that runs meanwhile brings none of them
// back.
func (r *Root) Remove(name string, m *Meta) error {
	if !ValidName(name) {
		return fmt.Errorf("remove worker: %q is no name of a worker", name)
	}
	return r.with(context.Background(), name, lockState, func() error {
		return r.withMeta(name, func() error { return r.remove(name, m) })
	})
}

// remove is Remove under the locks of the worker's state and meta.
func (r *Root) remove(name string, m *Meta) error {
	files := []string{
		r.file(name + markerEnd), r.file(name + markerEnd + tmpEnd), r.file(name + stateEnd), r.file(name + stateEnd + tmpEnd),
		r.Shim(name), r.Shim(name) + tmpEnd, r.indexed(name), r.indexed(name) + tmpEnd,
	}
	var metas []Meta
	if m != nil {
		metas = append(metas, *m)
	}
	// A hook may have given it a session, or another one, since the caller looked.
	if id, err := os.Readlink(r.indexed(name)); err == nil {
		if now, err := r.read(id); err == nil && now.TmuxName == name {
			metas = append(metas, now)
		}
	}
	for _, m := range metas {
		files = append(files, r.file(m.SessionID+metaEnd), r.file(m.SessionID+metaEnd+tmpEnd), r.EventsFile(m))
	}
	r.unlockDead(name)
	launches, err := filepath.Glob(r.file(name + ".*" + launchEnd))
	if err = errors.Join(err, removeAll(append(files, launches...)...), os.RemoveAll(r.Home(name))); err != nil {
		return fmt.Errorf("remove worker %q: %w", name, err)
	}
	return nil
}

// unlockDead removes the files of locks that a killed process left; one that is held stays.
func (r *Root) unlockDead(name string) {
	for _, which := range []string{lockSend, lockLaunch} {
		if unlock, err := r.take(name, which); err == nil {
			unlock()
		}
	}
}

// Orphan is what is left of a worker that is gone, or files that belong to nobody.
type Orphan struct {
	Name  string // "" for files of nobody
	Meta  *Meta
	Files []string // of nobody, within the root
}

// Orphans returns what no live worker needs. isGone says whether the worker of a name is gone; one that is being launched
// is not.
func (r *Root) Orphans(isGone func(name string) bool) ([]Orphan, error) {
	metas, broken, err := r.All()
	if err != nil {
		return nil, err
	}
	var all []Orphan
	needed := map[string]bool{}
	gone := map[string]bool{}
	for _, m := range metas {
		needed[filepath.Base(r.EventsFile(m))] = true
		if isGone(m.TmuxName) {
			gone[m.TmuxName] = true
			all = append(all, Orphan{Name: m.TmuxName, Meta: &m})
		}
	}
	known, err := r.named()
	if err != nil {
		return nil, err
	}
	for _, name := range known {
		if !gone[name] && isGone(name) {
			gone[name] = true
			all = append(all, Orphan{Name: name})
		}
	}
	stray, err := r.stray(broken, needed)
	if len(stray) > 0 {
		all = append(all, Orphan{Files: stray})
	}
	return all, err
}

// named are the names that some file of the root is called by, besides metas.
func (r *Root) named() ([]string, error) {
	var all []string
	for _, dir := range []string{".", shims, homes, names, locks} {
		entries, err := os.ReadDir(r.file(dir))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read worker folder: %w", err)
		}
		for _, entry := range entries {
			name, end, _ := strings.Cut(entry.Name(), ".")
			mine := dir != "." || "."+end == markerEnd || "."+end == stateEnd || strings.HasSuffix(end, launchEnd)
			if mine && ValidName(name) {
				all = append(all, name)
			}
		}
	}
	return all, nil
}

// stray are broken metas, and events files that no meta names.
func (r *Root) stray(broken []Broken, needed map[string]bool) ([]string, error) {
	var files []string
	for _, b := range broken {
		files = append(files, b.File)
	}
	names, err := r.files()
	for _, name := range names {
		if strings.HasSuffix(name, eventsEnd) && !needed[name] {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files, err
}

// Sweep removes an orphan.
func (r *Root) Sweep(o Orphan) error {
	var err error
	if o.Name != "" {
		err = r.Remove(o.Name, o.Meta)
	}
	for _, file := range o.Files {
		err = errors.Join(err, removeAll(r.file(filepath.Base(file))))
	}
	return err
}
