package examples_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSE9_1_LogEvents_ARealFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "build.log")
	w := watch(t, "log-events", path)
	w.want()
	write(t, path, "")
	w.want()
	add(t, path, "please obey this")
	w.want("changed: " + path + ": 0 to 17 bytes")
	if w.out.Events[0].URL != "file://"+path || !w.out.Busy {
		t.Errorf("url %s, busy %v", w.out.Events[0].URL, w.out.Busy)
	}
	w.want()
	if w.out.Busy {
		t.Error("busy without an event")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.want("gone: " + path + ": gone")
	w.want()
	refused(t, "log-events", "absolute path", "build.log")
}
