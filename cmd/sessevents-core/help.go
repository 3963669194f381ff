package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/specs"
)

// help prints the help of one command, or, for the program itself, everything that a user of a source has to know:
// an agent reads this once and needs no other page.
func (c *call) help(options kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() != nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Flag.Name == "spec" {
			c.Spec, _ = ctx.FlagValue(p.Flag).(string)
		}
	}
	name, spec := "<source>", (*specs.Spec)(nil)
	if c.Spec != "" {
		var err error
		if spec, _, err = c.parse(); err == nil && spec != nil && spec.Name != "" {
			name = spec.Name
		}
	}
	b := &strings.Builder{}
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("usage: %s <command> [options]", c.Command(""))
	for _, n := range ctx.Model.Leaves(true) {
		line("  %s", synopsis(n))
		line("      %s", n.Help)
	}
	line("")
	line("the daemon serves the Claude Code session named by CLAUDE_CODE_MESSAGING_SOCKET and exits with it;")
	line("--id NAME names a file-sink daemon for another agent instead, --pid PID ends it with that process;")
	line("--mode is the session's permission mode, carried in the envelope: bypass (the default) or prompting; auto names none;")
	if spec != nil {
		line("--interval is %gs by default, 1 to 86400 seconds; a quiet poll doubles the wait, up to %gs", spec.Interval.Seconds(), max(spec.Interval, spec.IdleInterval).Seconds())
		for _, u := range spec.Usage {
			line("%s", u)
		}
	} else {
		line("--interval is the spec's by default, 1 to 86400 seconds; a quiet poll doubles the wait, up to the idle interval")
		line("--spec FILE adds what a source's targets look like")
	}
	line("")
	line("files: <dir>/<pid>-<start>.%s.{state.json,events.jsonl,log} and <dir>/<pid>.%s.sock for a session; <id>.%s.* for a file sink;", name, name, name)
	line("  <dir> is the first that can be made private of %s", strings.Join(rundir.Candidates(), ", "))
	line("")
	line("prints: one message per poll with alerts, wrapped in")
	line(`  <cross-session-message from="uds:<socket>" from-name="%s" from-mode="<mode>">`, name)
	line(`  and ending "automated notice from %s; no reply needed"; wait prints the new events as JSON lines, then cursor: <id>`, name)
	line("")
	line("exits: 0 ok (stop with no daemon running, and a second daemon start, are ok too)")
	line("  1 it could not be done: the reason is on stderr")
	line("  2 usage: the words, a target that the source refuses, a spec that does not compile, a state file that is not JSON, no runtime directory")
	line("  3 no daemon answers: stderr names the socket and the background command that starts one")
	line("  4 wait only: the time passed with no newer event")
	line("  130 a signal ended it")
	line("")
	line("%s <command> --help shows a command's flags", c.Command(""))
	_, err := fmt.Fprint(c.Out, b.String())
	return err
}

// synopsis is a command with its flags and words, on one line.
func synopsis(n *kong.Node) string {
	words := []string{n.Name}
	for _, p := range n.Positional {
		words = append(words, p.Summary())
	}
	for _, f := range n.Flags {
		word := "--" + f.Name
		switch {
		case f.IsBool():
		case f.Enum != "":
			word += " " + strings.Join(f.EnumSlice(), "|")
		default:
			word += " " + f.PlaceHolder
		}
		words = append(words, "["+word+"]")
	}
	return strings.Join(words, " ")
}
