package event

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Follower waits for the lines that are still to come. It is for one goroutine at a time.
type Follower struct {
	path    string
	offset  int64
	watch   *fsnotify.Watcher // nil where the system gives none: then the size is looked at now and then
	watched string            // the file, or its folder while there is no file
	seen    bool              // the file was there
}

const (
	// batch is about how many bytes of lines one Next gives.
	batch = 4 << 20
	// look is how often the size is looked at where no notices can be had.
	look = 250 * time.Millisecond
)

// Follow begins to wait for lines behind offset of the file at path, which need not be there yet; its folder must.
// Close it.
func Follow(path string, offset int64) (*Follower, error) {
	f := &Follower{path: filepath.Clean(path), offset: offset}
	if info, err := os.Stat(filepath.Dir(f.path)); err != nil {
		return nil, fmt.Errorf("follow events: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("follow events: %w", &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: fs.ErrInvalid})
	}
	// A user has only some hundred watchers: without one it goes on, a little later and a little dearer.
	if w, err := fsnotify.NewWatcher(); err == nil {
		f.watch = w
		f.aim()
	}
	return f, nil
}

// Close gives up the watch.
func (f *Follower) Close() {
	if f.watch != nil {
		_ = f.watch.Close()
	}
}

// Offset is where the next line will begin.
func (f *Follower) Offset() int64 { return f.offset }

// aim watches the file, or its folder as long as there is no file: a busy neighbour in the folder must wake nobody.
func (f *Follower) aim() {
	for _, name := range []string{f.path, filepath.Dir(f.path)} {
		if name == f.watched {
			return
		}
		if f.watch.Add(name) == nil {
			if f.watched != "" {
				_ = f.watch.Remove(f.watched)
			}
			f.watched = name
			return
		}
	}
}

// Next returns the lines that were written since the last call, at least one, and sleeps until there are. It returns
// ctx's error when ctx ends, and os.ErrNotExist when the file was removed after it was seen.
func (f *Follower) Next(ctx context.Context) ([]Line, error) {
	for {
		lines, err := f.read()
		if err != nil || len(lines) > 0 {
			return lines, err
		}
		if err := f.sleep(ctx); err != nil {
			return nil, err
		}
	}
}

func (f *Follower) read() ([]Line, error) {
	info, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !f.seen:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("follow events: %w", err)
	}
	f.seen = true
	if f.watch != nil {
		f.aim()
	}
	if info.Size() < f.offset { // it was cut, or is another file
		f.offset = 0
	}
	var lines []Line
	size := 0
	for line, err := range Forward(f.path, f.offset) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
		f.offset = line.End
		if size += len(line.Raw); size >= batch {
			break
		}
	}
	return lines, nil
}

// sleep ends when something happened to the file.
func (f *Follower) sleep(ctx context.Context) error {
	if f.watch == nil {
		t := time.NewTimer(look)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-f.watch.Events:
			if !ok {
				return fmt.Errorf("follow events %s: %w", f.path, os.ErrClosed)
			}
			if e.Name == f.path {
				if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
					f.watched = "" // the watch went with the file
				}
				return nil
			}
			if f.watched == "" || f.watched == e.Name {
				return nil
			}
		case err := <-f.watch.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("follow events %s: %w", f.path, err)
			}
			return nil
		}
	}
}
