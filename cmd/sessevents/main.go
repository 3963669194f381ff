// Command sessevents polls what a coding agent's session waits for, and tells it in one message what happened.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			cancel(signalError(s))
		}
	}()
	hangup := func() <-chan os.Signal {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGHUP)
		return signals
	}
	wd, _ := os.Getwd()
	os.Exit(run(ctx, os.Args, world{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, dir: wd, hangup: hangup}))
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
