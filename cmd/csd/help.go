package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/complete"
	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
)

// reference is every command in the form in which it is called. $CSD stands for the program.
const reference = `usage:
  $CSD launch [--harness <claude|codex|pi>] [--json] <tmux-name> <cwd> [-- harness-args...]
  $CSD adopt [--harness <claude|codex|pi>] [--json] <tmux-name> <cwd> <session-id> [-- harness-args...]
  $CSD list [--all] [--json] [<pattern>]
  $CSD prune [--json]                 # remove dead/orphaned worker state
  $CSD grant-consent
  $CSD completion <bash|zsh|fish>
  $CSD help

  <shim> converse [--with-turn] <prompt> [timeout=120]      # - as the prompt: standard input
  <shim> send <prompt>
  <shim> wait-for-turn [timeout=60] [--after-line N]
  <shim> status [--json]
  <shim> read-events [--last N] [--type T] [--follow]   # --last caps the --follow backlog
  <shim> read-turn [--full]
  <shim> stop [--keep]
  <shim> handoff
  <shim> session-id
  <shim> events-file

<shim> is /tmp/csd-workers/bin/<tmux-name>, or: $CSD --worker <tmux-name>
`

const details = `
exits:
  0 done   1 it could not be done, or the worker is gone   2 usage
  3 the turn ended with an API error   4 the worker waits for a person   124 the time ran out   130 a signal

environment (all optional):
  CSD_CLAUDE_BIN, CSD_CODEX_BIN, CSD_PI_BIN   the harness programs (claude, codex, pi through PATH)
  CSD_CODEX_MODEL, CSD_PI_MODEL               the model of a worker (codex: gpt-5.5; pi: its own default)
  CSD_WORKER_DIR                              the folder of all workers (/tmp/csd-workers)
  CSD_SUBMIT_TIMEOUT                          seconds in which a worker has to take a prompt (10)
  CSD_SUBMIT_RETRY_INTERVAL                   seconds between two presses of Enter until then (2)
  CSD_REGISTER_TIMEOUT                        seconds for a first prompt to give codex or pi an id (15)
  CSD_START_TIMEOUT_MS                        milliseconds in which a harness has to start (60000)
  CSD_CONVERSE_DIAG_FILE                      where converse writes what it saw when the time runs out
  HOME                                        finds ~/.claude and the one-time consent
`

func usageText(program string) string { return strings.ReplaceAll(reference, "$CSD", program) }

type helpCmd struct{}

// Run shows every command.
func (*helpCmd) Run(c *call) error {
	_, err := fmt.Fprint(c.out, usageText(c.program), details)
	return err
}

// help prints the help of one command, or of the program.
func (c *call) help(options kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	if selected == nil {
		return (&helpCmd{}).Run(c)
	}
	if selected.Name != "launch" && selected.Name != "adopt" {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	// The words behind -- are none that the grammar knows.
	var text strings.Builder
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(options, ctx)
	ctx.Stdout = c.out
	if err == nil {
		_, err = fmt.Fprint(c.out, strings.Replace(text.String(), " [flags]\n", " [flags] [-- harness-args...]\n", 1))
	}
	return err
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"For which shell: ${enum}."`
}

// Run prints what the shell has to read.
func (s *completionCmd) Run(c *call) error {
	script, err := complete.Script(s.Shell, c.program)
	if err != nil {
		return &csd.Error{Kind: csd.Usage, Text: err.Error(), Hint: "one of bash, zsh, fish"}
	}
	_, err = fmt.Fprint(c.out, script)
	return err
}

// completions are the words that the grammar does not know. Whatever goes wrong is a word less to choose from.
func (c *call) completions(at complete.Place) (list complete.Values) {
	switch {
	case at.Flag == "worker" || at.Flag == "" && at.Command == "list":
		return complete.Values{List: c.names()}
	case at.Flag == "type" && at.Command == "read-events":
		for _, name := range event.Names {
			list.List = append(list.List, complete.Candidate{Word: string(name)})
		}
		return list
	case at.Flag == "" && (at.Command == "launch" || at.Command == "adopt"):
		return complete.Values{Files: true}
	}
	return complete.Values{}
}

func (c *call) names() (list []complete.Candidate) {
	f, err := c.fleet()
	if err != nil {
		return nil
	}
	for _, n := range f.Names() {
		list = append(list, complete.Candidate{Word: n.Name, Help: n.Harness})
	}
	return list
}
