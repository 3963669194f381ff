package fetchers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// maxMatches bounds the files that one glob may find.
const maxMatches = 10_000

// gate keeps questions to a file system from piling up: a file server that hangs holds the asking thread in the
// kernel, where no context reaches it.
type gate struct {
	mu   sync.Mutex
	busy map[string]bool
}

// ask runs question and returns when it does or when ctx ends. A question that has not come back is left behind, and
// until it does the same key is refused: one stuck thread for each target, not one for each poll.
func ask[T any](ctx context.Context, g *gate, key string, question func(context.Context) (T, error)) (T, error) {
	var zero T
	g.mu.Lock()
	if g.busy[key] {
		g.mu.Unlock()
		return zero, failf("timeout", "the file system has not answered an earlier poll")
	}
	if g.busy == nil {
		g.busy = map[string]bool{}
	}
	g.busy[key] = true
	g.mu.Unlock()

	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := question(ctx)
		g.mu.Lock()
		delete(g.busy, key)
		g.mu.Unlock()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

// glob lists what matches, sorted. Unlike the standard library it does not take a folder that cannot be read for an
// empty one. As in a shell, `*` does not match a leading dot; `**` is any number of folders, and follows no link to one.
func glob(ctx context.Context, pattern string) ([]string, error) {
	base, rest := doublestar.SplitPattern(pattern)
	how := []doublestar.GlobOption{doublestar.WithFailOnIOErrors(), doublestar.WithNoHidden()}
	if strings.Contains(rest, "**") { // a link to a folder above would be followed until the system refuses
		how = append(how, doublestar.WithNoFollow())
	}
	var out []string
	err := doublestar.GlobWalk(endingFS{ctx, os.DirFS(base)}, rest, func(path string, _ fs.DirEntry) error {
		if out = append(out, filepath.Join(base, path)); len(out) > maxMatches {
			return failf("too-large", "glob %s: more than %d matches", pattern, maxMatches)
		}
		return nil
	}, how...)
	if err != nil {
		return nil, fmt.Errorf("glob %s: %w", pattern, err)
	}
	sort.Strings(out)
	return out, nil
}

// endingFS is a file system that can be read only until ctx ends.
type endingFS struct {
	ctx context.Context
	fs.FS
}

func (f endingFS) Open(name string) (fs.File, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	file, err := f.FS.Open(name)
	return file, belowFile(err)
}

// belowFile makes "not a folder" what it is to who looks for a path below: there is no such file.
func belowFile(err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return &fs.PathError{Op: "open", Path: "", Err: fs.ErrNotExist}
	}
	return err
}

func (f endingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(f.FS, name)
	return entries, belowFile(err)
}

func (f endingFS) Stat(name string) (fs.FileInfo, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	info, err := fs.Stat(f.FS, name)
	return info, belowFile(err)
}

// checkGlob refuses a pattern that can never be one.
func checkGlob(o map[string]any) error {
	if g := options(o).text("glob"); g != "" && !strings.Contains(g, "${") && !doublestar.ValidatePattern(g) {
		return failf("invalid", "glob %q is not a pattern", g)
	}
	return nil
}

const (
	// watchTimeout bounds how long a folder may take to say what is in it, maxWatched how many folders are named.
	watchTimeout = time.Second
	maxWatched   = 256
)

// watchLocal is the Watch of the fetchers that look at files: the file itself, or the folders in which a glob finds
// its files. Where the folders do not answer in time it names the one in which the pattern begins.
func (s *Set) watchLocal(o map[string]any) []string {
	opts := options(o)
	if path := opts.text("path"); path != "" {
		if path, err := absolute(path); err == nil {
			return []string{path}
		}
		return nil
	}
	pattern, err := absoluteGlob(opts.text("glob"))
	if err != nil {
		return nil
	}
	dir := filepath.Dir(pattern)
	if !strings.ContainsAny(dir, `*?[{\`) {
		return []string{dir}
	}
	base, _ := doublestar.SplitPattern(pattern)
	ctx, cancel := context.WithTimeout(context.Background(), watchTimeout)
	defer cancel()
	dirs, err := ask(ctx, &s.gate, "watch\x00"+pattern, func(ctx context.Context) ([]string, error) { return glob(ctx, dir) })
	if err != nil {
		return []string{base}
	}
	all := slices.Compact(append([]string{base}, dirs...)) // `**` matches its base too
	return all[:min(len(all), maxWatched)]
}
