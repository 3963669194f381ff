package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/internal/shellwords"
)

type launchCmd struct {
	Harness string `enum:"claude,codex,pi" default:"claude" help:"Which coding agent: ${enum}."`
	JSON    bool   `name:"json" help:"Print one JSON object instead of the shim's path."`
	Name    string `arg:"" name:"tmux-name" help:"The worker's name, and that of its tmux session."`
	Dir     string `arg:"" name:"cwd" help:"The folder it works in."`
}

// Help is what kong shows below the first line.
func (*launchCmd) Help() string { return argsHelp }

// argsHelp is about the words that the grammar does not see.
const argsHelp = "What stands behind -- are arguments for the agent: -- --model NAME"

// Run starts a worker.
func (s *launchCmd) Run(c *call) error {
	f, err := c.fleet()
	if err != nil {
		return err
	}
	done, err := f.Launch(c.ctx, csd.LaunchOptions{Name: s.Name, Dir: s.Dir, Harness: s.Harness, Args: c.extra})
	if err != nil {
		return err
	}
	return c.launched("Worker launched.", done, s.JSON)
}

type adoptCmd struct {
	Harness string `enum:"claude,codex,pi" default:"claude" help:"Whose session it is: ${enum}."`
	JSON    bool   `name:"json" help:"Print one JSON object instead of the shim's path."`
	Name    string `arg:"" name:"tmux-name" help:"The worker's name, and that of its tmux session."`
	Dir     string `arg:"" name:"cwd" help:"The folder it works in."`
	ID      string `arg:"" name:"session-id" help:"The session."`
}

// Help is what kong shows below the first line.
func (*adoptCmd) Help() string { return argsHelp }

// Run takes a session up again.
func (s *adoptCmd) Run(c *call) error {
	f, err := c.fleet()
	if err != nil {
		return err
	}
	done, err := f.Adopt(c.ctx, csd.AdoptOptions{
		LaunchOptions: csd.LaunchOptions{Name: s.Name, Dir: s.Dir, Harness: s.Harness, Args: c.extra}, SessionID: s.ID,
	})
	if err != nil {
		return err
	}
	title := "Session adopted, in a tmux session of its own."
	if done.InPlace {
		title = "Session adopted, in the tmux session that was there."
	}
	return c.launched(title, done, s.JSON)
}

// launched prints the path of the shim, and for a person what there is to know.
func (c *call) launched(title string, l csd.Launched, asJSON bool) error {
	if asJSON {
		return c.printJSON(l)
	}
	id, events := l.SessionID, l.Events
	if id == "" {
		id, events = "(with the first prompt)", "(with the first prompt)"
	}
	fmt.Fprintf(c.err, "%s\n  tmux        %s\n  session_id  %s\n  cwd         %s\n  events      %s\n  reproduce:  %s\n",
		title, l.Name, id, printable(l.CWD, ""), printable(events, ""), printable(shellwords.Join(l.Reproduce), "\n\t"))
	_, err := fmt.Fprintln(c.out, l.Shim)
	return err
}

func (c *call) printJSON(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

type execCmd struct {
	File string `arg:""`
}

// Run becomes the client that a launch file names.
func (s *execCmd) Run(*call) error { return csd.Exec(s.File, os.Environ()) }

type grantConsentCmd struct{}

// Run asks for the consent.
func (*grantConsentCmd) Run(c *call) error {
	f, err := c.fleet()
	if err != nil {
		return err
	}
	path, before, err := f.GrantConsent(c.in, c.err)
	switch {
	case err != nil:
		return err
	case before:
		_, err = fmt.Fprintf(c.out, "Consent was granted before: %s\n", path)
	default:
		_, err = fmt.Fprintf(c.out, "Consent granted: %s\n", path)
	}
	return err
}
