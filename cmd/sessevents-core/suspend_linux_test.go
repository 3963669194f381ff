package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
)

func TestC25_ASuspendedDaemonPollsOnceWhenItGoesOn(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "sessevents")
	if out, err := exec.Command("go", "build", "-o", dir, "../sessevents", ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := filepath.Join(dir, "run")
	cmd := exec.Command(bin, "--spec", "log-events", "daemon", "--id", "x", "--interval", "1")
	cmd.Env = append(os.Environ(), "SESSION_EVENTS_DIR="+run)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	watch := control.Request{Op: control.Watch, Words: []string{filepath.Join(dir, "build.log")}}
	for {
		if _, err := control.Ask(context.Background(), filepath.Join(run, "x.log-events.sock"), watch); err == nil {
			break
		}
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !stopped(t, cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	before := polls(t, run)
	time.Sleep(6 * time.Second) // time has to pass while it stands still: that is the case
	awake := time.Now()
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// One when it goes on, and then one a second: at no time more than that.
	for n := 0; n < 3; time.Sleep(10 * time.Millisecond) {
		n = polls(t, run) - before
		if most := 1 + int((time.Since(awake)+50*time.Millisecond)/time.Second); n > most {
			t.Fatalf("%d polls %s after it went on: what was missed is caught up with", n, time.Since(awake))
		}
	}
}

// stopped says whether the kernel has stopped a process.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "T")
}

// polls counts the polls in the daemon log.
func polls(t *testing.T, run string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(run, "x.log-events.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), " poll: ")
}
