// Package procgroup runs a command in a session and process group of its own, and ends all of it.
package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Group is a command that was started, with all processes that stayed in its group. A process that made a session of
// its own has left the group and is nobody's any more; one that made only a group of its own is ended with a command
// that does not end by itself, where the system tells who is in a session (Linux).
//
// The leader is reaped only by [Group.End]. Until then its number belongs to no other process, so a signal to the
// group never meets a stranger.
type Group struct {
	proc   *os.Process
	exited chan struct{}

	mu     sync.Mutex
	reaped bool
}

// Start starts cmd as the leader of a new session, without a terminal that could ask anyone anything. The caller must
// call [Group.End] once, and not cmd.Wait. What cmd.Stdin, Stdout and Stderr name must be nil or files.
func Start(cmd *exec.Cmd) (*Group, error) {
	for _, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if _, file := stream.(*os.File); stream != nil && !file {
			return nil, errors.New("a stream of a process group must be a file") // exec.Cmd would need its Wait
		}
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &Group{proc: cmd.Process, exited: make(chan struct{})}
	go func() { // ends with the leader
		waitExit(g.proc.Pid)
		close(g.exited)
	}()
	return g, nil
}

// PID is the number of the leader and of the group.
func (g *Group) PID() int { return g.proc.Pid }

// Exited is closed when the leader has ended. Others of its group may still run.
func (g *Group) Exited() <-chan struct{} { return g.exited }

// Signal sends sig to every process of the group. A group that has ended is no error.
func (g *Group) Signal(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reaped {
		return nil
	}
	err := syscall.Kill(-g.proc.Pid, sig)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) { // EPERM: only a zombie is left (macOS)
		return nil
	}
	return err
}

// ErrStuck says that a process does not end though it was killed: the kernel holds it.
var ErrStuck = errors.New("the process was killed and has not ended")

// End ends the whole group and reaps its leader. While the leader runs, the group is asked with SIGTERM and has until
// grace has passed; then it is killed. A leader that the kernel keeps for longer than a second after that is left to
// be reaped whenever it ends, and End returns ErrStuck.
func (g *Group) End(grace time.Duration) (*os.ProcessState, error) {
	byItself := false
	select {
	case <-g.exited:
		byItself = true
	default:
		if grace > 0 {
			if err := g.Signal(syscall.SIGTERM); err != nil {
				return nil, err
			}
			signalSession(g.proc.Pid, syscall.SIGTERM)
			g.await(grace)
		}
	}
	if err := g.Signal(syscall.SIGKILL); err != nil {
		return nil, err
	}
	if !byItself {
		signalSession(g.proc.Pid, syscall.SIGKILL)
	}
	if !g.await(time.Second) {
		go func() {
			<-g.exited
			_, _ = g.reap()
		}()
		return nil, ErrStuck
	}
	return g.reap()
}

func (g *Group) await(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-g.exited:
		return true
	case <-t.C:
		return false
	}
}

func (g *Group) reap() (*os.ProcessState, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reaped = true
	return g.proc.Wait()
}
