package tail

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"syscall"
)

// printLen is how many bytes a print covers.
const printLen = 1024

// ErrNotRegular says that a path is a directory, a pipe, a device or a file of /proc: nothing that grows by lines.
var ErrNotRegular = errors.New("not a regular file")

// seen is a file as it is now.
type seen struct {
	name  string // as it is watched
	path  string // symbolic links resolved
	dev   uint64
	inode uint64
	size  int64
	// held says that it was found by the descriptor that is held of it, and by no name.
	held bool
	// elsewhere says that it is held and has a name, though none that we know.
	elsewhere bool
	// changed is the inode's time of change in Unix nanoseconds: any write moves it on.
	changed int64
}

// folders resolves the symbolic links of folders, each once.
type folders map[string]string

func (f folders) resolve(dir string) (string, error) {
	if real, ok := f[dir]; ok {
		return real, nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		f[dir] = real
	}
	return real, err
}

// look stats every path, in their order. A missing one is left out, and of two names of one file the first counts.
func look(ctx context.Context, paths []string) ([]*seen, error) {
	paths = append([]string(nil), paths...)
	sort.Strings(paths)
	var out []*seen
	known, dirs := map[[2]uint64]bool{}, folders{}
	for _, name := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := lookAt(name, dirs)
		if err != nil {
			return nil, err
		}
		if p == nil || known[[2]uint64{p.dev, p.inode}] {
			continue
		}
		known[[2]uint64{p.dev, p.inode}] = true
		out = append(out, p)
	}
	return out, nil
}

// lookAt stats one path; nil means that nothing is there.
func lookAt(name string, dirs folders) (*seen, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			info, err = os.Lstat(path)
		}
	} else if err == nil {
		var dir string
		dir, err = dirs.resolve(filepath.Dir(path))
		path = filepath.Join(dir, filepath.Base(path))
	}
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", name, ErrNotRegular)
	}
	return newSeen(name, path, info), nil
}

func newSeen(name, path string, info fs.FileInfo) *seen {
	p := &seen{name: name, path: path, size: info.Size()}
	p.dev, p.inode = number(info)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		p.changed = changed(st)
	}
	return p
}

// missing tells "no such file" from every other error: only this one says something about the world.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func number(info fs.FileInfo) (dev, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), uint64(st.Ino) // the widths differ between systems
	}
	return 0, 0
}

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) // the width differs between systems
	}
	return 1
}

// open opens a regular file for reading. It never blocks on what is not one.
func open(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err == nil {
		err = refusePseudo(f)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// fresh is the position at the start of p.
func (p *seen) fresh() File {
	return File{Path: p.path, Dev: p.dev, Inode: p.inode, Unread: p.size, Born: born(p.path)}
}

// bears says whether p has the inode of f, and has had it since: where the system says when a file was made, a reused
// inode is told from the one that we know.
func (p *seen) bears(f File) bool {
	return p.inode == f.Inode && p.dev == f.Dev && (f.Born == 0 || f.Born == born(p.path))
}

// is says whether p is the file that f knows, by its content: what was read of it is still there. A file of which
// nothing was read has no content to be known by.
func (p *seen) is(f File) (bool, error) {
	if f.Offset == 0 || p.size < f.Offset {
		return false, nil
	}
	if f.Changed != 0 && p.changed == f.Changed && p.inode == f.Inode && p.dev == f.Dev && p.size == f.Offset+f.Unread {
		return true, nil // nothing was written since the last look
	}
	file, info, err := open(p.path)
	if missing(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", p.name, err)
	}
	defer file.Close()
	if _, inode := number(info); inode != p.inode {
		return false, nil // replaced since the look; the next read sees it
	}
	ok, err := holds(file, f)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", p.name, err)
	}
	return ok, nil
}

// holds says whether what was read of f is in the file.
func holds(file io.ReaderAt, f File) (bool, error) {
	pr, err := printOf(file, f.Offset)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil // it is shorter
	}
	if err != nil {
		return false, err
	}
	head, tail := pr.sums()
	return head == f.Head && tail == f.Tail, nil
}

// prints are the bytes by which a file is known: its first ones, and the last ones that were read.
type prints struct {
	head, tail []byte
}

// printOf reads the prints of a file that was read up to offset.
func printOf(f io.ReaderAt, offset int64) (*prints, error) {
	n := min(offset, printLen)
	p := &prints{head: make([]byte, n, printLen), tail: make([]byte, n, 2*printLen)}
	if n == 0 {
		return p, nil
	}
	if err := readFull(f, p.head, 0); err != nil {
		return nil, err
	}
	return p, readFull(f, p.tail, offset-n)
}

func readFull(f io.ReaderAt, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// add takes what was read next.
func (p *prints) add(b []byte) {
	if room := printLen - len(p.head); room > 0 {
		p.head = append(p.head, b[:min(room, len(b))]...)
	}
	if len(b) > printLen {
		b = b[len(b)-printLen:]
	}
	p.tail = append(p.tail, b...)
	if over := len(p.tail) - printLen; over > 0 {
		p.tail = append(p.tail[:0], p.tail[over:]...)
	}
}

func (p *prints) clone() *prints {
	return &prints{append([]byte(nil), p.head...), append([]byte(nil), p.tail...)}
}

func (p *prints) sums() (head, tail string) { return sum(p.head), sum(p.tail) }

func sum(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	h := fnv.New64a()
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// Regular returns those of paths that are regular files, for a pattern that also matches folders and pipes. One that
// is gone is left out.
func Regular(paths []string) ([]string, error) {
	out := paths[:0]
	for _, path := range paths {
		info, err := os.Stat(path)
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			out = append(out, path)
		}
	}
	return out, nil
}
