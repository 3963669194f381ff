package plainfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessevents/sessevents/internal/plainfile"
)

func TestOnlyARegularFileIsOpened(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", path("link-to-fifo")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, row := range []struct {
		path  string
		flags int
		want  error
	}{
		{path("file"), 0, nil},
		{path("link"), 0, nil},
		{path("link"), syscall.O_NOFOLLOW, syscall.ELOOP},
		{path("none"), 0, fs.ErrNotExist},
		{dir, 0, plainfile.ErrFolder},
		{path("fifo"), 0, plainfile.ErrOther},
		{path("link-to-fifo"), 0, plainfile.ErrOther},
		{path("socket"), 0, plainfile.ErrOther},
		{"/dev/null", 0, plainfile.ErrOther},
	} {
		f, info, err := plainfile.Open(row.path, row.flags)
		if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
			t.Errorf("%s: %v, want %v", row.path, err, row.want)
		}
		if err != nil {
			if pe := new(fs.PathError); !errors.As(err, &pe) || pe.Path != row.path {
				t.Errorf("%s: %v does not name it", row.path, err)
			}
			continue
		}
		if info.Size() != 4 {
			t.Errorf("%s: %d bytes", row.path, info.Size())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
