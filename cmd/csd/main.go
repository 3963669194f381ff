// Command csd drives coding-agent sessions in tmux as workers.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/sessevents/sessevents/csd/hook"
)

// gcPercent lets the heap of a command grow to some 16 MB before the first collection: nearly every one ends before.
const gcPercent = 400

func main() {
	if len(os.Args) > 1 && os.Args[1] == hook.Word { // an agent waits for each of these calls: nothing else is begun
		hook.Main(os.Args[2:])
		os.Exit(exitOK)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // else it ends the process, and loudly: `csd read-events | head -1`
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args, world{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, environ: os.Environ(), exe: os.Executable})
	stop()
	os.Exit(code)
}
