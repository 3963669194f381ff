package fetchers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"
)

// Stat only looks at a file's entry: it opens nothing, so no pipe or device can hold it.
var statTable = Fetcher{
	Name: "stat",
	Help: "what the file system says of a file, or of each file that matches a pattern",
	Options: []Option{
		{Name: "path", Type: String, Template: Plain, Help: "the file; `~/` is the home folder"},
		{Name: "glob", Type: String, Template: InGlob, Help: "a pattern (`*`, `?`, `[a-z]`, `{a,b}`, `**`, which follows no link to a folder); the document is then the list of what matches, sorted by path"},
		{Name: "follow", Type: Bool, Default: true, Help: "whether a symbolic link stands for what it points to"},
		timeoutOption,
	},
	Listed: "glob",
	Doc: []Member{
		{"exists", "whether something is there; where not, all else is null"},
		{"type", "file, directory, link, pipe, socket, device or other"},
		{"size", "bytes"},
		{"mode", "the permissions as chmod takes them, such as 0644"},
		{"mtime", "when the content was last written, RFC 3339 with nine digits of a second, UTC"},
		{"mtimeNs", "the same as nanoseconds of the Unix clock; null outside the years 1678 to 2261"},
		{"ctime", "when the content or the entry last changed, likewise"},
		{"ctimeNs", "the same as nanoseconds of the Unix clock; null outside the years 1678 to 2261"},
		{"inode", "the number of the file in its file system"},
		{"device", "the number of its file system"},
		{"links", "how many names it has"},
		{"uid", "its owner"},
		{"gid", "its group"},
		{"path", "its path, in the list of a glob only"},
	},
	Check: func(o map[string]any) error {
		if err := exactlyOne("path", "glob")(o); err != nil {
			return err
		}
		return checkGlob(o)
	},
}

func (s *Set) stat(parent context.Context, r Request) (Answer, error) {
	o := options(r.Options)
	ctx, cancel := context.WithTimeout(parent, o.timeout())
	defer cancel()
	look := os.Lstat
	if o.flag("follow") {
		look = os.Stat
	}
	key := "stat\x00" + r.Target + "\x00" + o.text("path") + o.text("glob")
	doc, err := ask(ctx, &s.gate, key, func(ctx context.Context) (any, error) {
		if pattern := o.text("glob"); pattern != "" {
			return statAll(ctx, look, pattern)
		}
		return statOne(look, o.text("path"))
	})
	if err != nil {
		return Answer{}, failure(parent, err, r.Secrets)
	}
	return Answer{Doc: doc}, nil
}

func statOne(look func(string) (fs.FileInfo, error), path string) (any, error) {
	path, err := absolute(path)
	if err != nil {
		return nil, err
	}
	info, err := look(path)
	if missing(err) {
		return statDoc(nil), nil
	}
	if err != nil {
		return nil, err
	}
	return statDoc(info), nil
}

func statAll(ctx context.Context, look func(string) (fs.FileInfo, error), pattern string) (any, error) {
	pattern, err := absoluteGlob(pattern)
	if err != nil {
		return nil, err
	}
	paths, err := glob(ctx, pattern)
	if err != nil {
		return nil, err
	}
	list := make([]any, 0, len(paths))
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := look(path)
		if missing(err) { // gone since, or a link to nothing
			continue
		}
		if err != nil {
			return nil, err
		}
		doc := statDoc(info)
		doc["path"] = path
		list = append(list, doc)
	}
	return list, nil
}

// missing tells "no such file" from every other error: only this one says something about the world.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// timeForm is RFC 3339 with all nine digits, so that the order of the words is the order of the times.
const timeForm = "2006-01-02T15:04:05.000000000Z"

// unixNano is a time as nanoseconds of the Unix clock; nil for one that 64 bits cannot say, before 1678 or behind 2261.
func unixNano(t time.Time) any {
	ns := t.UnixNano()
	if !time.Unix(0, ns).Equal(t) {
		return nil
	}
	return int(ns)
}

// statDoc is the document of one file; of nil: of a file that is not there.
func statDoc(info fs.FileInfo) map[string]any {
	doc := map[string]any{
		"exists": info != nil, "type": nil, "size": nil, "mode": nil, "mtime": nil, "mtimeNs": nil, "ctime": nil,
		"ctimeNs": nil, "inode": nil, "device": nil, "links": nil, "uid": nil, "gid": nil,
	}
	if info == nil {
		return doc
	}
	doc["type"] = typeWord(info.Mode())
	doc["size"] = int(info.Size())
	doc["mode"] = modeWord(info.Mode())
	doc["mtime"] = info.ModTime().UTC().Format(timeForm)
	doc["mtimeNs"] = unixNano(info.ModTime())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		changed := time.Unix(ctime(st))
		doc["ctime"] = changed.UTC().Format(timeForm)
		doc["ctimeNs"] = unixNano(changed)
		doc["inode"] = unsigned(uint64(st.Ino))
		doc["device"] = unsigned(uint64(st.Dev)) // the width differs between systems
		doc["links"] = unsigned(uint64(st.Nlink))
		doc["uid"] = int(st.Uid)
		doc["gid"] = int(st.Gid)
	}
	return doc
}

// unsigned brings n behind the border of [value.Decode].
func unsigned(n uint64) any {
	if n <= math.MaxInt64 {
		return int(n)
	}
	return n
}

func typeWord(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "other"
}

// modeWord is the permission as chmod takes it, such as 0644 or 4755.
func modeWord(m fs.FileMode) string {
	n := uint32(m.Perm())
	for bit, value := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if m&bit != 0 {
			n |= value
		}
	}
	return fmt.Sprintf("%04o", n)
}
