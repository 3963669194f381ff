// Package client is the commands that ask a daemon, or read what it logged: what they take, what they print, and how
// the program ends. It links neither YAML nor an expression language, nor what parses the whole command line, so that
// a program of it alone starts in a few milliseconds.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
)

// Exit codes. Scripts and agents drive their loops by them; they never change their meaning.
const (
	ExitOK          = 0
	ExitFailed      = 1   // it could not be done; or, of lint and test: there are findings
	ExitUsage       = 2   // the words, the spec, the state file or the runtime directory
	ExitNoDaemon    = 3   // no daemon answers
	ExitTimeout     = 4   // wait: the time passed without a newer event
	ExitInterrupted = 130 // by a signal, as shells say it
)

// World is what a command sees of its surroundings.
type World struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Dir      string                  // the working folder
	Hangup   func() <-chan os.Signal // tells of each SIGHUP from now on; until then it ends the program
}

// Real is the world of this process.
func Real() World {
	wd, _ := os.Getwd()
	return World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Dir: wd, Hangup: func() <-chan os.Signal {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGHUP)
		return signals
	}}
}

// Call is one call of the program: what it was told, and the world around it.
type Call struct {
	World
	Ctx     context.Context
	Program string // as the user called it
	Spec    string // --spec as typed
	// Source gives the name of the source that Spec names.
	Source func() (string, error)
}

// Interruptible is a context that SIGINT and SIGTERM end, with an error of the signal's name.
func Interruptible() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			cancel(signalError(s))
		}
	}()
	return ctx
}

// signalError is the reason that the daemon log gives for the end of a daemon: the signal's name.
func signalError(s os.Signal) error {
	if s == syscall.SIGTERM {
		return errTerminated
	}
	return errInterrupted
}

var (
	errTerminated  = errors.New("SIGTERM")
	errInterrupted = errors.New("SIGINT")
)

// Name is how the user called the program: the last part of args[0].
func Name(args []string) string { return filepath.Base(args[0]) }

// Problem is an error with its exit code and, where one is known, a way out.
type Problem struct {
	Code int
	Text string
	Hint string
}

func (p *Problem) Error() string { return p.Text }

// Usagef is a problem of what the user typed.
func Usagef(hint, format string, args ...any) error {
	return &Problem{ExitUsage, fmt.Sprintf(format, args...), hint}
}

// ExitCode ends a command with a code and without a word.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Fail prints an error as the user sees it and returns the exit code for it; no error is exit code 0.
func (c *Call) Fail(err error) int {
	if err == nil {
		return ExitOK
	}
	var silent ExitCode
	if errors.As(err, &silent) {
		return int(silent)
	}
	p := c.problem(err)
	if p.Code != ExitInterrupted {
		fmt.Fprintf(c.Err, "error: %s\n", p.Text)
		if p.Hint != "" {
			fmt.Fprintf(c.Err, "hint: %s\n", p.Hint)
		}
	}
	return p.Code
}

// problem finds out what kind of failure an error is.
func (c *Call) problem(err error) *Problem {
	var p *Problem
	var noDir *rundir.NoDirError
	switch {
	case errors.As(err, &p):
		return p
	case c.Ctx.Err() != nil:
		return &Problem{ExitInterrupted, err.Error(), ""}
	case errors.As(err, &noDir):
		return &Problem{ExitUsage, err.Error(), "set SESSION_EVENTS_DIR to an absolute path of a folder of your own"}
	case errors.Is(err, rundir.ErrNoInbox):
		return &Problem{ExitUsage, err.Error(), "name a file sink with --id NAME, and read its events with wait"}
	case errors.Is(err, control.ErrNoDaemon):
		return &Problem{ExitNoDaemon, err.Error(), ""}
	}
	return &Problem{ExitFailed, err.Error(), ""}
}
