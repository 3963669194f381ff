package rawfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessevents/sessevents/internal/rawfile"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := write(t, "hello")
	if b, err := rawfile.Read(path, 5); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := rawfile.Read(path, 4); !errors.Is(err, rawfile.ErrTooLong) || b != nil {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := rawfile.Read(write(t, ""), 4); err != nil || len(b) != 0 {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := rawfile.Read(path+"x", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestTail(t *testing.T) {
	path := write(t, strings.Repeat("a", 100_000)+"end")
	if b, size, err := rawfile.Tail(path, make([]byte, 4)); err != nil || string(b) != "aend" || size != 100_003 {
		t.Errorf("%q, %d, %v", b, size, err)
	}
	if b, size, err := rawfile.Tail(path, make([]byte, 1<<20)); err != nil || len(b) != 100_003 || size != 100_003 {
		t.Errorf("%d bytes, %d, %v", len(b), size, err)
	}
}

// TestWhatIsNoFile: links are not followed, a pipe does not block, and a folder is no file.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.Symlink(write(t, "secret"), link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, pipe, dir} {
		if b, err := rawfile.Read(path, 100); !errors.Is(err, rawfile.ErrNotRegular) {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
}
