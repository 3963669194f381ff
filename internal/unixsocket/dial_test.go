package unixsocket

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func listen(t *testing.T) (*net.UnixListener, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, path
}

func TestAConversation(t *testing.T) {
	l, path := listen(t)
	done := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = io.Copy(conn, io.LimitReader(conn, 5))
			err = errors.Join(err, conn.Close())
		}
		done <- err
	}()
	conn, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); string(got) != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestADeadlineEndsAReadThatWaits(t *testing.T) {
	_, path := listen(t)
	conn, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	read := make(chan error)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	if err := conn.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestNobodyListens(t *testing.T) {
	l, path := listen(t)
	l.SetUnlinkOnClose(false)
	l.Close()
	for path, want := range map[string]error{path: syscall.ECONNREFUSED, path + "x": os.ErrNotExist, strings.Repeat("x", 200): syscall.EINVAL} {
		if conn, err := Dial(path); !errors.Is(err, want) || conn != nil {
			t.Errorf("%s: error %v, want %v", path, err, want)
		}
	}
}

// TestAFullQueueIsAnErrorNotAWait: a daemon that stands still (SIGSTOP) takes no connection from it.
func TestAFullQueueIsAnErrorNotAWait(t *testing.T) {
	_, path := listen(t)
	for range 1 << 16 {
		conn, err := Dial(path)
		if err != nil {
			return // how many it holds is the system's affair, and what it says then too
		}
		defer conn.Close()
	}
	t.Error("no end of connections that nobody accepts")
}
