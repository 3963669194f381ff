package reader_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessevents/sessevents/cmd/internal/reader"
)

const patience = 30 * time.Second

func ends(t *testing.T, ctx context.Context) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		t.Error("nobody noticed")
	}
}

func TestAReaderThatGoesEndsTheWatch(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := reader.Watch(t.Context(), w)
	defer stop()
	if _, err := w.WriteString("not read yet"); err != nil || ctx.Err() != nil {
		t.Errorf("it ended while there is a reader: %v, %v", err, ctx.Err())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	ends(t, ctx)
}

func TestAPeerThatGoesEndsTheWatch(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.(*net.UnixConn).File()
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := reader.Watch(t.Context(), file)
	defer stop()
	_ = peer.Close()
	ends(t, ctx)
}

// TestAWatchEndsWithoutItsReader: when it is stopped, or its context ends; and of a file there is none.
func TestAWatchEndsWithoutItsReader(t *testing.T) {
	_, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	parent, cancel := context.WithCancel(t.Context())
	ctx, stop := reader.Watch(parent, w)
	cancel()
	ends(t, ctx)
	stop() // returns
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop = reader.Watch(t.Context(), file)
	if ctx.Err() != nil {
		t.Error("the watch of a file ended")
	}
	stop()
	ends(t, ctx)
}
