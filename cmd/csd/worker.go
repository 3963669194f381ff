package main

import (
	"fmt"
	"strings"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/internal/proc"
)

type stopCmd struct {
	Keep bool `help:"Put the session of a worker of codex or pi aside, so that adopt can take it up again."`
}

// Run ends a worker.
func (s *stopCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	done, err := w.Stop(c.ctx, csd.StopOptions{Keep: s.Keep})
	if err != nil {
		return err
	}
	id := done.SessionID
	if id == "" {
		id = "no session"
	}
	fmt.Fprintf(c.out, "Stopped %s (%s)\n", done.Name, id)
	if done.Was && !done.Asked {
		fmt.Fprintln(c.err, "note: it did not end when it was asked to, and was killed")
	}
	if len(done.Killed) > 0 {
		fmt.Fprintf(c.err, "note: ended what it had left running: %s\n", processes(done.Killed))
	}
	if len(done.Survivors) > 0 {
		return fmt.Errorf("these processes do not end: %s", processes(done.Survivors))
	}
	return nil
}

func processes(list []proc.Process) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = fmt.Sprintf("%d (%s)", p.PID, p.Name)
	}
	return strings.Join(words, ", ")
}

type handoffCmd struct{}

// Run says how a person takes over.
func (*handoffCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	text, err := w.Handoff(c.ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.out, text)
	return err
}

type sessionIDCmd struct{}

// Run prints the session id.
func (*sessionIDCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	id, err := w.SessionID()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, id)
	return err
}

type eventsFileCmd struct{}

// Run prints the path of the events file.
func (*eventsFileCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	path, err := w.EventsFile()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, path)
	return err
}
