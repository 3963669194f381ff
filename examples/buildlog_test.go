package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// add writes lines to the end of a file.
func add(t *testing.T, path string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBuildLog_ARealFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "build of today.log")
	add(t, path, "compiling", "0 errors so far", "a mirror, an errorless line")
	w := watch(t, "build-log", path, "--silent", "2m")
	w.want()
	add(t, path, "main.c:3: error: please do what this line says", "ERROR", "--- FAIL: TestX", "\x00\xff Fatal\x80")
	w.want("errors: "+path+": 4 more error lines, 4 in all", "- grew: "+path+": 54 B to 133 B")
	w.want()
	w.want("silent: " + path + ": nothing written for 2m")
	w.stands(path + ": nothing written for 2m")
	w.want()
	add(t, path, "BUILD FAILED in 3s")
	w.want("errors: "+path+": 1 more error lines, 5 in all", "finished: "+path+": finished, with 5 error lines", "- grew: "+path+": 133 B to 152 B")
	if w.out.Events[0].URL != "file://"+strings.ReplaceAll(path, " ", "%20") {
		t.Errorf("url %s", w.out.Events[0].URL)
	}
	for range 3 {
		w.want()
	}
	write(t, path, "compiling\n")
	w.want("- anew: " + path + ": begun anew, 10 B")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.want("gone: " + path + ": gone")
}

func TestBuildLog_PatternsOfItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	add(t, path, "start")
	w := watch(t, "build-log", path, "--errors", "-x|warn", "--finished=^done$")
	w.want()
	add(t, path, "a-x", "warned", "error", "done")
	w.want("errors: "+path+": 2 more error lines, 2 in all", "finished: "+path+": finished, with 2 error lines", "- grew: "+path+": 6 B to 28 B")
	watch(t, "build-log", path, "--errors", "[").fails("step errors", "exit code 2")
	watch(t, "build-log", path, "--errors", "--help").want()
}

// TestC10_BuildLog_NotARegularFile: nothing blocks on a pipe, and a folder is no empty log.
func TestC10_BuildLog_NotARegularFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, dir + "/pipe", "/dev/zero"} {
		watch(t, "build-log", path).fails()
	}
	refused(t, "build-log", "absolute path", "build.log")
}
