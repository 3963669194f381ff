package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTheDefaultRootHasItsOldName(t *testing.T) {
	dir := t.TempDir()
	root, link := filepath.Join(dir, "csd-workers"), filepath.Join(dir, "claude-workers")
	openDefault := func(link string) error {
		r, err := open(root)
		if err == nil {
			err = r.make(root, link)
		}
		return err
	}
	for range 2 {
		if err := openDefault(link); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(link); err != nil || to != root {
			t.Errorf("the link leads to %q, %v", to, err)
		}
	}
	// What somebody else has there stays, and is not followed.
	if err := errors.Join(os.Remove(link), os.Mkdir(link, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := openDefault(link); err != nil {
		t.Errorf("a folder of the old name: %v", err)
	}
	if err := errors.Join(os.RemoveAll(root), os.Symlink(link, root)); err != nil {
		t.Fatal(err)
	}
	if err := openDefault(filepath.Join(dir, "none")); err == nil {
		t.Error("a root that is a link is taken")
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link to a root that was refused: %v", err)
	}
}
