package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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
	before := len(pollTimes(t, run))
	time.Sleep(6 * time.Second) // time has to pass while it stands still: that is the case
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for len(pollTimes(t, run)) < before+3 { // each a second after the other
		time.Sleep(10 * time.Millisecond)
	}
	seconds := map[string]int{}
	for _, at := range pollTimes(t, run)[before:] {
		if seconds[at]++; seconds[at] > 2 {
			t.Fatalf("more than two polls at %s: what was missed is caught up with", at)
		}
	}
}

// pollTimes are the times of the polls in the daemon log, to the second.
func pollTimes(t *testing.T, run string) (times []string) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(run, "x.log-events.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		if at, rest, _ := strings.Cut(line, " "); strings.HasPrefix(rest, "poll: ") {
			times = append(times, at)
		}
	}
	return times
}
