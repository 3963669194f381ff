package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
)

// peer is the daemon that a command talks to.
type peer struct {
	name  string
	owner rundir.Owner
	files rundir.Files
}

// flags are the words that name the same daemon again.
func (s serving) flags() string {
	if s.ID == "" {
		return ""
	}
	return "--id " + s.ID
}

// find says which daemon the words and the environment mean; it may not run.
func (s serving) find(c *call) (peer, error) {
	name, err := c.sourceName()
	if err != nil {
		return peer{}, err
	}
	p := peer{name: name}
	if s.ID != "" {
		if p.owner, err = rundir.FileSink(s.ID, 0); err != nil {
			return peer{}, usagef("", "%v", err)
		}
	} else if p.owner, err = rundir.Session(c.getenv); err != nil {
		return peer{}, c.noOwner(err)
	}
	dir, _, err := rundir.Open(c.getenv)
	if err != nil {
		return peer{}, err
	}
	p.files, err = rundir.Of(dir, p.owner, name)
	return p, err
}

// ask finds the daemon and asks it one thing.
func (s serving) ask(c *call, r control.Request) (peer, control.Response, error) {
	p, err := s.find(c)
	if err != nil {
		return p, control.Response{}, err
	}
	answer, err := s.askPeer(c, p, r)
	return p, answer, err
}

func (s serving) askPeer(c *call, p peer, r control.Request) (control.Response, error) {
	answer, err := control.Ask(c.ctx, p.files.Socket, r)
	if err == nil && answer.Stopping && answer.Error != "" { // it ended while we waited, and had the time to say so
		err = fmt.Errorf("%w at %s: it has stopped", control.ErrNoDaemon, p.files.Socket)
	}
	switch {
	case errors.Is(err, control.ErrNoDaemon):
		return answer, &problem{
			exitNoDaemon, fmt.Sprintf("%v, for %s", err, p.owner),
			"start it as a background task: " + c.command(strings.TrimSpace("daemon "+s.flags())),
		}
	case err != nil:
		return answer, err
	case answer.Error != "" && answer.Usage:
		return answer, usagef(answer.Hint, "%s", answer.Error)
	case answer.Error != "":
		return answer, &problem{exitFailed, answer.Error, answer.Hint}
	}
	return answer, nil
}

// noOwner is what to say where the environment names no session.
func (c *call) noOwner(err error) error {
	if errors.Is(err, rundir.ErrNoInbox) {
		return err
	}
	return usagef("", "%v", err)
}

// command is how the user calls a command with the same spec, such as `sessevents --spec build-log status`.
func (c *call) command(words string) string {
	line := c.program
	if c.spec != "" {
		line += " --spec " + quote(c.spec)
	}
	return strings.TrimSpace(line + " " + words)
}

// quote makes s one word for a shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("_-./:@%+=,~", r) || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
