package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Remove removes every file of a worker; m is nil where it has no meta. A hook that runs meanwhile brings none of them
// back.
func (r *Root) Remove(name string, m *Meta) error {
	if !ValidName(name) {
		return fmt.Errorf("remove worker: %q is no name of a worker", name)
	}
	return r.withMeta(name, func() error {
		files := []string{
			r.file(name + markerEnd), r.file(name + stateEnd), r.file(name + stateEnd + tmpEnd), r.Shim(name),
			r.file(filepath.Join(names, name)), r.file(filepath.Join(names, name+tmpEnd)),
		}
		if m != nil {
			// The hook may have given it another session since the caller looked.
			for _, meta := range []Meta{*m, r.current(name, *m)} {
				files = append(files, r.file(meta.SessionID+metaEnd), r.file(meta.SessionID+metaEnd+tmpEnd), r.EventsFile(meta))
			}
		}
		launches, err := filepath.Glob(r.file(name + ".*" + launchEnd))
		err = errors.Join(err, removeAll(append(files, launches...)...), os.RemoveAll(r.Home(name)))
		if err != nil {
			return fmt.Errorf("remove worker %q: %w", name, err)
		}
		return nil
	})
}

func (r *Root) current(name string, m Meta) Meta {
	if now, ok := r.Lookup(name, m.SessionID); ok {
		return now
	}
	return m
}

// Orphan is what is left of a worker that is gone, or files that belong to nobody.
type Orphan struct {
	Name  string // "" for files of nobody
	Meta  *Meta
	Files []string // of nobody, within the root
}

// Orphans returns what no live worker needs. alive says whether a worker's tmux session is there. A name that is
// reserved is being launched, and is left alone.
func (r *Root) Orphans(alive func(name string) bool) ([]Orphan, error) {
	metas, broken, err := r.All()
	if err != nil {
		return nil, err
	}
	var all []Orphan
	needed := map[string]bool{}
	gone := map[string]bool{}
	isGone := func(name string) bool { return !alive(name) && !r.Reserved(name) }
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
	entries, err := os.ReadDir(r.path)
	if err != nil {
		return nil, fmt.Errorf("read worker folder: %w", err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), eventsEnd) && !needed[entry.Name()] {
			files = append(files, entry.Name())
		}
	}
	return files, nil
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
