package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/complete"
	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/engine/state"
	"github.com/sessevents/sessevents/specs"
)

// Exit codes. Scripts and agents drive their loops by them; they never change their meaning.
const (
	exitOK          = 0
	exitFailed      = 1   // it could not be done; or, of lint and test: there are findings
	exitUsage       = 2   // the words, the spec, the state file or the runtime directory
	exitNoDaemon    = 3   // no daemon answers
	exitTimeout     = 4   // wait: the time passed without a newer event
	exitInterrupted = 130 // by a signal, as shells say it
)

// world is what a command sees of its surroundings.
type world struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	dir      string                  // the working folder
	hangup   func() <-chan os.Signal // tells of each SIGHUP from now on; until then it ends the program
}

// call is one call of the program: the words, parsed, and the world around it.
type call struct {
	world
	ctx     context.Context
	program string // as the user called it
	spec    string // --spec as typed
}

// run parses the words of one command line, does what they say and returns the exit code.
func run(ctx context.Context, args []string, w world) int {
	c := &call{world: w, ctx: ctx, program: filepath.Base(args[0])}
	words := hoist(args[1:])
	grammar, spec := trimmed(words)
	code := -1
	parser, err := kong.New(grammar,
		kong.Name(c.program),
		kong.Description("Polls what a coding agent waits for, and tells its session in one message what happened."),
		kong.Writers(w.out, w.err),
		kong.Exit(func(n int) { code = n; panic(exited{}) }),
		kong.Help(c.help), kong.ShortHelp(c.help),
		vars(),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong: every test fails on it
	}
	defer func() {
		if p := recover(); p != nil && p != any(exited{}) {
			panic(p)
		}
	}()
	return c.dispatch(parser, spec, words, &code)
}

// vars are the words that the grammar takes from other tables.
func vars() kong.Vars {
	return kong.Vars{"version": version(), "formats": strings.Join(specs.Formats, ","), "starters": strings.Join(specs.Starters(), ",")}
}

// exited unwinds the stack where kong would end the process: after --help and --version.
type exited struct{}

func (c *call) dispatch(parser *kong.Kong, spec *string, args []string, code *int) (exit int) {
	defer func() {
		if *code >= 0 {
			exit = *code
			if p := recover(); p != nil && p != any(exited{}) {
				panic(p)
			}
		}
	}()
	if len(args) > 0 && args[0] == complete.Command {
		c.complete(parser.Model, args[1:])
		return exitOK
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return c.fail(usage(err))
	}
	c.spec = *spec
	return c.fail(parsed.Run(c))
}

// problem is an error with its exit code and, where one is known, a way out.
type problem struct {
	code int
	text string
	hint string
}

func (p *problem) Error() string { return p.text }

func usagef(hint, format string, args ...any) error {
	return &problem{exitUsage, fmt.Sprintf(format, args...), hint}
}

// usage makes a fault of the words on the command line, as kong found it.
func usage(err error) error {
	hint := "--help shows every command"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		hint = parse.Context.Selected().FullPath() + " --help shows what it takes"
	}
	return &problem{exitUsage, err.Error(), hint}
}

// exitCode ends a command with a code and without a word.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// fail prints an error as the user sees it and returns the exit code for it.
func (c *call) fail(err error) int {
	if err == nil {
		return exitOK
	}
	var silent exitCode
	if errors.As(err, &silent) {
		return int(silent)
	}
	var faults specs.Diagnostics
	if errors.As(err, &faults) {
		c.printFaults(faults)
		return exitUsage
	}
	p := c.problem(err)
	if p.code != exitInterrupted {
		fmt.Fprintf(c.err, "error: %s\n", p.text)
		if p.hint != "" {
			fmt.Fprintf(c.err, "hint: %s\n", p.hint)
		}
	}
	return p.code
}

// problem finds out what kind of failure an error is.
func (c *call) problem(err error) *problem {
	var p *problem
	var damaged *state.DamagedError
	var noDir *rundir.NoDirError
	var refused *engine.UsageError
	switch {
	case errors.As(err, &p):
		return p
	case c.ctx.Err() != nil:
		return &problem{exitInterrupted, err.Error(), ""}
	case errors.As(err, &damaged):
		return &problem{exitUsage, err.Error(), "it is kept as it is; move it away to start from nothing"}
	case errors.As(err, &noDir):
		return &problem{exitUsage, err.Error(), "set SESSION_EVENTS_DIR to an absolute path of a folder of your own"}
	case errors.As(err, &refused):
		return &problem{exitUsage, refused.Text, refused.Hint}
	case errors.Is(err, rundir.ErrNoInbox):
		return &problem{exitUsage, err.Error(), "name a file sink with --id NAME, and read its events with wait"}
	case errors.Is(err, control.ErrNoDaemon):
		return &problem{exitNoDaemon, err.Error(), ""}
	}
	return &problem{exitFailed, err.Error(), ""}
}
