package client

import (
	"fmt"

	"github.com/sessevents/sessevents/engine/control"
)

// Watch watches a target.
type Watch struct {
	Serving
	Words []string `arg:"" name:"target" passthrough:"all" help:"The target, and the source's own flags."`
}

// Run watches a target. That its first poll failed is said, but the target is watched all the same.
func (w *Watch) Run(c *Call) error {
	_, r, err := w.ask(c, control.Request{Op: control.Watch, Words: Unescape(w.Words)})
	if err != nil {
		return err
	}
	for _, text := range r.Targets {
		fmt.Fprintf(c.Out, "watching %s\n", text)
	}
	c.printFailures(r.Failed)
	return nil
}

// Unwatch forgets targets.
type Unwatch struct {
	Serving
	All   bool     `help:"Forget every target."`
	Words []string `arg:"" optional:"" name:"target" passthrough:"all" help:"The target, as it was typed."`
}

// Run forgets targets.
func (u *Unwatch) Run(c *Call) error {
	words := Unescape(u.Words)
	if u.All == (len(words) > 0) {
		return Usagef("", "unwatch takes either a target or --all")
	}
	_, r, err := u.ask(c, control.Request{Op: control.Unwatch, Words: words, All: u.All})
	if err != nil {
		return err
	}
	for _, text := range r.Targets {
		fmt.Fprintf(c.Out, "forgot %s\n", text)
	}
	return nil
}

// Poll polls every target now.
type Poll struct{ Serving }

// Run polls every target now.
func (p *Poll) Run(c *Call) error {
	_, r, err := p.ask(c, control.Request{Op: control.Poll})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "polled %s: %s\n", Count(len(r.Targets), "target"), Count(r.Events, "event"))
	c.printFailures(r.Failed)
	return nil
}

// Stop ends the daemon.
type Stop struct{ Serving }

// Run ends the daemon; that there is none is fine.
func (s *Stop) Run(c *Call) error {
	_, r, err := s.ask(c, control.Request{Op: control.Stop})
	if p, ok := err.(*Problem); ok && p.Code == ExitNoDaemon {
		fmt.Fprintln(c.Out, "no daemon is running")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "daemon %d stopped\n", r.PID)
	return nil
}

// Unescape drops the -- that ends the program's own flags: it is not a word of the target.
func Unescape(words []string) []string {
	for i, w := range words {
		if w == "--" {
			return append(words[:i:i], words[i+1:]...)
		}
	}
	return words
}

func (c *Call) printFailures(failed []control.Failure) {
	for _, f := range failed {
		fmt.Fprintf(c.Err, "warning: poll of %s failed: %s\n", f.Target, f.Reason)
	}
}

// Count is a number of things in words.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
