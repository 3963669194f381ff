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
	file   *os.File
	output string // the file's name, of a task that was given one
}

// startTask starts a command whose output goes to the file of path, or to none that others see. The end of ctx kills
// its group. What it leaves behind when it ends by itself goes on living.
func (c *client) startTask(ctx context.Context, path string, env environment, argv ...string) (*task, error) {
	t := &task{output: path}
	var err error
	if path != "" {
		t.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	} else if t.file, err = os.CreateTemp("", "fakeharness"); err == nil {
		err = os.Remove(t.file.Name()) // the client may be killed before it could do it
	}
	if err != nil {
		return nil, err
	}
	t.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	t.cmd.Dir, t.cmd.Env, t.cmd.Stdout, t.cmd.Stderr = c.dir, env, t.file, t.file
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	t.cmd.Cancel = func() error { return syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) }
	if err := t.cmd.Start(); err != nil {
		t.file.Close()
		return nil, err
	}
	return t, nil
}

// wait waits for the end of a task. A task that a signal ended has 128 and its number, as from a shell.
func (t *task) wait() (output string, code int) {
	err := t.cmd.Wait()
	text := t.read()
	t.file.Close()
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

// read is the output so far.
func (t *task) read() string {
	b, err := io.ReadAll(io.NewSectionReader(t.file, 0, mostOutput))
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
