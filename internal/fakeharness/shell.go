package fakeharness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// hook is one command that a client runs at an event.
type hook struct {
	command string
	timeout time.Duration
}

// mostOutput bounds what is kept of a hook's or a tool's output.
const mostOutput = 1 << 20

// runHook runs a hook as the clients do: through sh, with one JSON line to read.
func (c *client) runHook(event string, h hook, input any, env environment) (stdout string, status int) {
	ctx, cancel := context.WithTimeout(context.Background(), h.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.command)
	cmd.Dir, cmd.Env = c.dir, env
	cmd.Stdin = bytes.NewReader(append(encode(input), '\n'))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.ExitCode()
	case err != nil:
		status = -1
	}
	c.logf("hook %s status=%d stdout=%q", event, status, out)
	return string(out[:min(len(out), mostOutput)]), status
}

// task is a command of the model's, in a session of its own, as all clients start theirs.
type task struct {
	cmd    *exec.Cmd
	output string
	keep   bool // the file of the output
}

// startTask starts a command whose output goes to a file: path, or one that goes with the task. The end of ctx kills
// its group. What it leaves behind when it ends by itself goes on living.
func (c *client) startTask(ctx context.Context, path string, env environment, argv ...string) (*task, error) {
	var f *os.File
	var err error
	t := &task{keep: path != ""}
	if t.keep {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	} else {
		f, err = os.CreateTemp("", "fakeharness")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t.output = f.Name()
	t.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	t.cmd.Dir, t.cmd.Env, t.cmd.Stdout, t.cmd.Stderr = c.dir, env, f, f
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	t.cmd.Cancel = func() error { return syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) }
	return t, t.cmd.Start()
}

// wait waits for the end of a task. A task that a signal ended has 128 and its number, as from a shell.
func (t *task) wait() (output string, code int) {
	err := t.cmd.Wait()
	text := t.read()
	if !t.keep {
		_ = os.Remove(t.output) // a temporary file
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			code = -1
		}
		return text, code
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return text, 128 + int(ws.Signal())
	}
	return text, exit.ExitCode()
}

func (t *task) read() string {
	f, err := os.Open(t.output)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostOutput))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}

// sleep waits, or says that ctx has ended.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
