package fetchers

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestStatOfAFile(t *testing.T) {
	a := newAsker(t, "stat")
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "12345")
	at := time.Unix(1_700_000_000, 123_456_789)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	doc := a.doc(map[string]any{"path": path})
	for name, want := range map[string]any{
		"exists": true, "type": "file", "size": 5, "mode": "0600", "mtime": "2023-11-14T22:13:20.123456789Z",
		"mtimeNs": 1_700_000_000_123_456_789, "links": 1, "uid": os.Getuid(),
	} {
		if doc[name] != want {
			t.Errorf("%s: got %v (%T), want %v", name, doc[name], doc[name], want)
		}
	}
}

func TestC9_OnlyNoSuchFileIsGone(t *testing.T) {
	a := newAsker(t, "stat")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	must(t, os.Symlink("nothing", filepath.Join(dir, "dangling")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	for _, name := range []string{"none", "none/deeper", "file/below", "dangling"} {
		doc := a.doc(map[string]any{"path": filepath.Join(dir, name)})
		if doc["exists"] != false {
			t.Errorf("%s: %v", name, doc)
		}
		for key, v := range doc {
			if key != "exists" && v != nil {
				t.Errorf("%s: %s is %v", name, key, v)
			}
		}
	}
	a.fails("io", map[string]any{"path": filepath.Join(dir, "loop")})
	if doc := a.doc(map[string]any{"path": filepath.Join(dir, "loop"), "follow": false}); doc["type"] != "link" {
		t.Errorf("%v", doc)
	}
	if os.Getuid() != 0 {
		must(t, os.Chmod(dir, 0))
		a.fails("permission", map[string]any{"path": filepath.Join(dir, "file")})
		must(t, os.Chmod(dir, 0o700))
	}
	a.fails("invalid", map[string]any{"path": "a\x00b"})
}

func TestC9_ErrorsOfTheDiskAreFailures(t *testing.T) {
	for errno, word := range map[syscall.Errno]string{
		syscall.ESTALE: "io", syscall.EIO: "io", syscall.EACCES: "permission", syscall.EPERM: "permission",
		syscall.ENAMETOOLONG: "io", syscall.ETIMEDOUT: "timeout", syscall.ENOMEM: "io",
	} {
		doc, err := statOne(func(path string) (os.FileInfo, error) {
			return nil, &os.PathError{Op: "stat", Path: path, Err: errno}
		}, "/x")
		wantWord(t, word, Answer{Doc: doc}, failure(context.Background(), err, nil))
	}
}

func TestC9_SameSizeInTheSameSecond(t *testing.T) {
	a := newAsker(t, "stat")
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	before := a.doc(map[string]any{"path": path})
	deadline := time.Now().Add(5 * time.Second) // a coarse clock needs a moment to tell two writes apart
	for {
		write(t, path, "two")
		after := a.doc(map[string]any{"path": path})
		if after["size"] != before["size"] {
			t.Fatal(after)
		}
		if after["mtimeNs"] != before["mtimeNs"] && after["ctimeNs"] != before["ctimeNs"] && after["mtime"].(string) > before["mtime"].(string) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no difference: %v", after)
		}
	}
}

func TestC10_StatNeverBlocks(t *testing.T) {
	a := newAsker(t, "stat")
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	must(t, err)
	defer l.Close()
	for path, want := range map[string]string{
		filepath.Join(dir, "fifo"): "pipe", dir: "directory", filepath.Join(dir, "sock"): "socket", "/dev/zero": "device",
	} {
		if doc := a.doc(map[string]any{"path": path}); doc["type"] != want {
			t.Errorf("%s: %v", path, doc)
		}
	}
}

func TestStatGlob(t *testing.T) {
	a := newAsker(t, "stat")
	dir := t.TempDir()
	for _, name := range []string{"b.log", "a.log", ".hidden.log", "c.txt"} {
		write(t, filepath.Join(dir, name), name)
	}
	must(t, os.Symlink("nothing", filepath.Join(dir, "d.log")))
	answer, err := a.ask(map[string]any{"glob": filepath.Join(dir, "*.log")})
	must(t, err)
	list := answer.Doc.([]any)
	if len(list) != 2 || list[0].(map[string]any)["path"] != filepath.Join(dir, "a.log") || list[1].(map[string]any)["size"] != 5 {
		t.Errorf("%v", list)
	}
	answer, err = a.ask(map[string]any{"glob": filepath.Join(dir, "none", "*")})
	must(t, err)
	if list := answer.Doc.([]any); len(list) != 0 {
		t.Errorf("%v", list)
	}
	// A path below a file is no path: nothing is there.
	answer, err = a.ask(map[string]any{"glob": filepath.Join(dir, "c.txt", "*")})
	must(t, err)
	if list := answer.Doc.([]any); len(list) != 0 {
		t.Errorf("below a file: %v", list)
	}
	// A link to a folder above leads nowhere new.
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	must(t, os.Symlink("..", filepath.Join(dir, "sub", "up")))
	write(t, filepath.Join(dir, "sub", "e.log"), "e")
	answer, err = a.ask(map[string]any{"glob": filepath.Join(dir, "**", "*.log")})
	must(t, err)
	if list := answer.Doc.([]any); len(list) != 3 {
		t.Errorf("through links: %v", list)
	}
	if os.Getuid() != 0 {
		must(t, os.Chmod(dir, 0o300))
		a.fails("permission", map[string]any{"glob": filepath.Join(dir, "*.log")})
		must(t, os.Chmod(dir, 0o700))
	}
}

func TestAFileSystemThatHangsIsAskedOnce(t *testing.T) {
	var g gate
	release, asked := make(chan struct{}), 0
	hang := func(context.Context) (int, error) { asked++; <-release; return 1, nil }
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, &g, "a", hang); err != context.DeadlineExceeded {
		t.Fatal(err)
	}
	_, err := ask(context.Background(), &g, "a", hang)
	wantWord(t, "timeout", Answer{}, err)
	if v, err := ask(context.Background(), &g, "b", func(context.Context) (int, error) { return 2, nil }); v != 2 || err != nil {
		t.Fatal(v, err)
	}
	close(release)
	for { // until the one that hung has come back
		v, err := ask(context.Background(), &g, "a", func(context.Context) (int, error) { return 3, nil })
		if err == nil {
			if v != 3 || asked != 1 {
				t.Fatal(v, asked)
			}
			return
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStat_ATimeBeyondNanoseconds: a file of the year 2300 has a time, and no number for it.
func TestStat_ATimeBeyondNanoseconds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]any{
		time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC): nil,
		time.Date(2200, 1, 1, 0, 0, 0, 7, time.UTC): int(time.Date(2200, 1, 1, 0, 0, 0, 7, time.UTC).UnixNano()),
	} {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().Equal(at) {
			t.Skipf("this file system has no time %s", at)
		}
		if doc := statDoc(info); doc["mtimeNs"] != want || doc["mtime"] != at.Format(timeForm) {
			t.Errorf("%s: %v, %v", at, doc["mtimeNs"], doc["mtime"])
		}
	}
}
