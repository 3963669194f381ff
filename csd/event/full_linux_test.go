package event

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAFullFileSystemLeavesNoPart: the same on a real file system of a few pages.
func TestAFullFileSystemLeavesNoPart(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "e")
	e := Event{Name: Stop, LastAssistantMessage: strings.Repeat("x", 7000)}
	var err error
	wrote := int64(0)
	for ; err == nil && wrote < 100; wrote++ {
		err = Append(path, e)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("no full disk: %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 || data[len(data)-1] != '\n' {
		t.Errorf("%d bytes, the last one is no newline: %v", len(data), err)
	}
	if n, err := Lines(path, 1<<20); err != nil || n != wrote-1 {
		t.Errorf("%d whole lines, %v; %d were written", n, err, wrote-1)
	}
	// A short one still finds its place.
	if err := Append(path, Event{Name: SessionEnd}); err != nil {
		t.Error(err)
	}
}
