package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/build"
	"github.com/sessevents/sessevents/cmd/internal/complete"
	"github.com/sessevents/sessevents/csd"
)

// Exit codes. Controllers drive their loops by them; they never change their meaning.
const (
	exitOK          = 0
	exitFailed      = 1   // it could not be done, or the worker is gone
	exitUsage       = 2   // the words
	exitAPIError    = 3   // the turn ended, and the model's API had failed
	exitNeedsPerson = 4   // the worker waits for a person
	exitTimeout     = 124 // the time ran out; the worker goes on
	exitInterrupted = 130 // by a signal, as shells say it
)

var exitOf = map[csd.Kind]int{
	csd.Failed: exitFailed, csd.Usage: exitUsage, csd.APIError: exitAPIError, csd.NeedsPerson: exitNeedsPerson, csd.TimedOut: exitTimeout,
}

// world is what a command sees of its surroundings.
type world struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  []string
	exe      func() (string, error)
}

// call is one call of the program: the words, parsed, and the world around it.
type call struct {
	world
	ctx     context.Context
	program string   // as the user called it
	name    string   // --worker
	extra   []string // what stands behind -- for the harness
}

// run parses the words of one command line, does what they say and returns the exit code.
func run(ctx context.Context, args []string, w world) (exit int) {
	c := &call{world: w, ctx: ctx, program: filepath.Base(args[0])}
	words := args[1:]
	if len(words) == 0 {
		fmt.Fprint(w.err, usageText(c.program))
		return exitUsage
	}
	if len(words) == 1 && slices.Contains([]string{"help", "--help", "-h"}, words[0]) { // without a grammar
		return c.fail((&helpCmd{}).Run(c))
	}
	if command, worker := plain(words); command != nil {
		c.name = worker
		return c.fail(command.Run(c))
	}
	g, name := trimmed(words)
	code := -1
	parser, err := kong.New(g,
		kong.Name(c.program), kong.Writers(w.out, w.err), kong.Vars{"version": build.Version()},
		kong.Exit(func(n int) { code = n; panic(exited{}) }), kong.Help(c.help), kong.ShortHelp(c.help))
	if err != nil {
		panic(err) // the grammar itself is wrong: every test fails on it
	}
	defer func() {
		if p := recover(); p != nil {
			if p != any(exited{}) {
				panic(p)
			}
			exit = code
		}
	}()
	if words[0] == complete.Command {
		complete.Completer{Model: parser.Model, Values: c.completions}.Run(w.out, words[1:])
		return exitOK
	}
	words, c.extra = order(words)
	parsed, err := parser.Parse(words)
	if err != nil {
		return c.fail(c.usage(err, words))
	}
	c.name = *name
	if err := c.checkWorker(parsed.Selected()); err != nil {
		return c.fail(err)
	}
	return c.fail(parsed.Run(c))
}

// exited unwinds the stack where kong would end the process: after --help and --version.
type exited struct{}

// checkWorker holds the two kinds of commands apart: those of a worker need one, the others take none.
func (c *call) checkWorker(selected *kong.Node) error {
	switch needs := selected.Tag.Get("worker") != ""; {
	case needs && c.name == "":
		return &csd.Error{
			Kind: csd.Usage, Text: fmt.Sprintf("%s needs a worker", selected.Name),
			Hint: fmt.Sprintf("call it through the worker's shim, or %s --worker NAME %s", c.program, selected.Name),
		}
	case !needs && c.name != "":
		return &csd.Error{
			Kind: csd.Usage, Text: fmt.Sprintf("%s is about no one worker, so it takes no --worker", selected.Name),
			Hint: "leave out --worker " + c.name,
		}
	}
	return nil
}

// usage makes a fault of the words on the command line, as kong found it.
func (c *call) usage(err error, words []string) error {
	hint := c.program + " help shows every command"
	text := plainWords(err.Error())
	if name, _, missing := strings.Cut(text, ": expected "); missing && strings.HasSuffix(text, "(<EOL>)") {
		text = name + " needs a value"
	}
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		if negative(text) && parse.Context.Selected().Name == "wait-for-turn" {
			text = "a number of seconds counts from 0"
		}
		hint = c.program + " " + parse.Context.Selected().Name + " --help shows what it takes"
		return &csd.Error{Kind: csd.Usage, Text: text, Hint: hint}
	}
	return &csd.Error{Kind: csd.Usage, Text: text, Hint: hint, Err: errNoCommand}
}

// rewordings are for faults that kong tells in words about itself. They are compiled only where words are wrong: to do so
// at every start would cost each call more than its own work.
var rewordings = []struct{ pattern, with string }{
	{`^\[?<([a-z-]+)>\]?: `, "$1: "},
	{`^(--[a-z-]+): expected int value but got "-.*`, "$1 counts from 0"},
	{`^(--[a-z-]+): expected a valid 64 bit int but got (".*")$`, "$1: $2 is no whole number"},
	{`^(unknown flag -[^-].*), did you mean "-h"\?$`, "$1"},
}

func plainWords(text string) string {
	for _, r := range rewordings {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	return text
}

// negative reports whether a fault is a number below 0, which kong takes for a flag.
func negative(text string) bool {
	rest, ok := strings.CutPrefix(text, "unknown flag -")
	return ok && rest != "" && strings.ContainsRune("0123456789.", rune(rest[0]))
}

// errNoCommand is behind an error of words that name no command: then all of them are shown.
var errNoCommand = errors.New("no such command")

// exitCode ends a command with a code and without a word.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// fail prints an error as the user sees it and returns the exit code for it.
func (c *call) fail(err error) int {
	var silent exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, syscall.EPIPE): // who reads what we print has read enough
		return exitOK
	case errors.As(err, &silent):
		return int(silent)
	case c.ctx.Err() != nil:
		return exitInterrupted
	}
	text, hint := err.Error(), csd.HintOf(err)
	var ours *csd.Error
	if errors.As(err, &ours) && ours.Err == errNoCommand { //nolint:errorlint // it is ours, and never wrapped
		text = ours.Text
	}
	fmt.Fprintf(c.err, "error: %s\n", printable(text, "\n\t"))
	if hint != "" {
		fmt.Fprintf(c.err, "hint: %s\n", printable(hint, ""))
	}
	if errors.Is(err, errNoCommand) {
		fmt.Fprint(c.err, usageText(c.program))
	}
	return exitOf[csd.KindOf(err)]
}

// fleet opens the workers' folder.
func (c *call) fleet() (*csd.Fleet, error) {
	exe, err := c.exe()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return csd.Open(csd.Options{Getenv: c.getenv, Environ: c.environ, Exe: exe, HookExe: func() string { return hookExe(exe) }, Notes: c.err})
}

// worker finds the worker that --worker names.
func (c *call) worker() (*csd.Worker, error) {
	f, err := c.fleet()
	if err != nil {
		return nil, err
	}
	return f.Worker(c.name)
}
