package main

import (
	"fmt"

	"github.com/sessevents/sessevents/engine/control"
)

type watchCmd struct {
	serving
	Words []string `arg:"" name:"target" passthrough:"all" help:"The target, and the source's own flags."`
}

// Run watches a target. That its first poll failed is said, but the target is watched all the same.
func (w *watchCmd) Run(c *call) error {
	_, r, err := w.ask(c, control.Request{Op: control.Watch, Words: unescape(w.Words)})
	if err != nil {
		return err
	}
	for _, text := range r.Targets {
		fmt.Fprintf(c.out, "watching %s\n", text)
	}
	c.printFailures(r.Failed)
	return nil
}

type unwatchCmd struct {
	serving
	All   bool     `help:"Forget every target."`
	Words []string `arg:"" optional:"" name:"target" passthrough:"all" help:"The target, as it was typed."`
}

// Run forgets targets.
func (u *unwatchCmd) Run(c *call) error {
	words := unescape(u.Words)
	if u.All == (len(words) > 0) {
		return usagef("", "unwatch takes either a target or --all")
	}
	_, r, err := u.ask(c, control.Request{Op: control.Unwatch, Words: words, All: u.All})
	if err != nil {
		return err
	}
	for _, text := range r.Targets {
		fmt.Fprintf(c.out, "forgot %s\n", text)
	}
	return nil
}

type pollCmd struct{ serving }

// Run polls every target now.
func (p *pollCmd) Run(c *call) error {
	_, r, err := p.ask(c, control.Request{Op: control.Poll})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "polled %s: %s\n", count(len(r.Targets), "target"), count(r.Events, "event"))
	c.printFailures(r.Failed)
	return nil
}

type stopCmd struct{ serving }

// Run ends the daemon; that there is none is fine.
func (s *stopCmd) Run(c *call) error {
	_, r, err := s.ask(c, control.Request{Op: control.Stop})
	if p, ok := err.(*problem); ok && p.code == exitNoDaemon {
		fmt.Fprintln(c.out, "no daemon is running")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "daemon %d stopped\n", r.PID)
	return nil
}

// unescape drops the -- that ends the program's own flags: it is not a word of the target.
func unescape(words []string) []string {
	for i, w := range words {
		if w == "--" {
			return append(words[:i:i], words[i+1:]...)
		}
	}
	return words
}

func (c *call) printFailures(failed []control.Failure) {
	for _, f := range failed {
		fmt.Fprintf(c.err, "warning: poll of %s failed: %s\n", f.Target, f.Reason)
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
