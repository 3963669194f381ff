package main

import (
	"context"
	"errors"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/build"
	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/cmd/internal/complete"
	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/state"
	"github.com/sessevents/sessevents/specs"
)

// call is one call of the program that has every command.
type call struct{ *client.Call }

// run parses the words of one command line, does what they say and returns the exit code.
func run(ctx context.Context, args []string, w client.World) int {
	c := &call{&client.Call{World: w, Ctx: ctx, Program: client.Name(args)}}
	c.Source = c.sourceName
	if err := client.CheckCaller(); err != nil {
		return c.fail(err)
	}
	words := client.Hoist(args[1:])
	if lint := plainLint(words); lint != nil {
		return c.fail(lint.Run(c))
	}
	grammar, spec := trimmed(words)
	code := -1
	parser, err := kong.New(grammar,
		kong.Name(c.Program),
		kong.Description("Polls what a coding agent waits for, and tells its session in one message what happened."),
		kong.Writers(w.Out, w.Err),
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
	return kong.Vars{"version": build.Version(), "formats": strings.Join(specs.Formats, ","), "starters": strings.Join(specs.Starters(), ",")}
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
		return client.ExitOK
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return c.fail(usage(err))
	}
	c.Spec = *spec
	return c.fail(parsed.Run(c, c.Call))
}

// usage makes a fault of the words on the command line, as kong found it.
func usage(err error) error {
	hint := "--help shows every command"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		hint = parse.Context.Selected().FullPath() + " --help shows what it takes"
	}
	return client.Usagef(hint, "%v", err)
}

// fail prints an error as the user sees it and returns the exit code for it.
func (c *call) fail(err error) int {
	var silent client.ExitCode
	var faults specs.Diagnostics
	if !errors.As(err, &silent) && errors.As(err, &faults) {
		c.printFaults(faults)
		return client.ExitUsage
	}
	return c.Fail(c.explained(err))
}

// explained makes a problem of the errors that only a daemon's own side has.
func (c *call) explained(err error) error {
	var p *client.Problem
	var damaged *state.DamagedError
	var refused *engine.UsageError
	switch {
	case errors.As(err, &p) || c.Ctx.Err() != nil:
		return err
	case errors.As(err, &damaged):
		return client.Usagef("it is kept as it is; move it away to start from nothing", "%v", err)
	case errors.As(err, &refused):
		return client.Usagef(refused.Hint, "%s", refused.Text)
	}
	return err
}
