package procgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a shell text and returns its output.
func start(t *testing.T, script string) (*Group, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Stdout = w
	g, err := Start(cmd)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return g, bufio.NewReader(r)
}

func TestEndOfALeaderThatEndedByItself(t *testing.T) {
	g, _ := start(t, "exit 7")
	<-g.Exited()
	if err := syscall.Kill(g.PID(), 0); err != nil {
		t.Errorf("reaped before End: %v", err) // its number could belong to a stranger by now
	}
	state, err := g.End(time.Second)
	if err != nil || state.ExitCode() != 7 {
		t.Fatal(state, err)
	}
	if err := g.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("a signal after the end: %v", err)
	}
	if err := syscall.Kill(g.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a zombie is left: %v", err)
	}
}

func TestEndReachesGrandchildren(t *testing.T) {
	g, out := start(t, "(sleep 100 & sleep 100) & echo ready; exit 0")
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	<-g.Exited()
	if _, err := g.End(0); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(out); err != nil { // ends only when nobody holds the pipe
		t.Fatal(err)
	}
}

// TestEndReachesOtherGroupsOfTheSession: a shell with job control gives each command a group of its own, and timeout(1)
// takes one. What takes a session of its own has left.
func TestEndReachesOtherGroupsOfTheSession(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell who is in a session")
	}
	for _, grace := range []time.Duration{0, 5 * time.Second} {
		for _, script := range []string{"exec bash -c 'set -m; (echo ready; sleep 100) & wait'", "timeout 100 sh -c 'echo ready; sleep 100' & wait"} {
			g, out := start(t, script)
			if line, err := out.ReadString('\n'); line != "ready\n" {
				t.Fatal(line, err)
			}
			if _, err := g.End(grace); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(out); err != nil { // ends only when nobody holds the pipe
				t.Fatal(err)
			}
		}
	}
}

func TestSIGTERMComesFirst(t *testing.T) {
	g, out := start(t, "trap 'echo ending; exit 3' TERM; echo ready; while :; do sleep 0.01; done")
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	state, err := g.End(5 * time.Second)
	if err != nil || state.ExitCode() != 3 {
		t.Fatal(state, err)
	}
	if rest, _ := io.ReadAll(out); string(rest) != "ending\n" {
		t.Errorf("%q", rest)
	}
}

func TestSIGTERMThatIsIgnored(t *testing.T) {
	g, out := start(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	began := time.Now()
	state, err := g.End(100 * time.Millisecond)
	if err != nil || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || time.Since(began) > 2*time.Second {
		t.Fatal(state, err, time.Since(began))
	}
}

func TestStoppedProcessIsNoEndedOne(t *testing.T) {
	g, out := start(t, "echo ready; kill -STOP $$; exit 5")
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	select {
	case <-g.Exited():
		t.Error("a stopped process has not ended")
	case <-time.After(100 * time.Millisecond):
	}
	if state, err := g.End(50 * time.Millisecond); err != nil || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatal(state, err)
	}
}

func TestItsOwnSessionWithoutATerminal(t *testing.T) {
	g, out := start(t, "ps -o sid= -o pgid= -p $$ 2>/dev/null || cut -d' ' -f6,5 /proc/$$/stat")
	line, _ := out.ReadString('\n')
	<-g.Exited()
	if _, err := g.End(0); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d %d", g.PID(), g.PID()); strings.Join(strings.Fields(line), " ") != want {
		t.Errorf("session and group %q, want %q", line, want)
	}
}

func TestStartErrors(t *testing.T) {
	if _, err := Start(exec.Command("/no/such/program")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	cmd := exec.Command("true")
	cmd.Stdout = io.Discard
	if _, err := Start(cmd); err == nil {
		t.Error("a stream that needs a copying goroutine is taken")
	}
}
