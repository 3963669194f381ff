package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/internal/shellwords"
)

// Peer is the daemon that a command talks to.
type Peer struct {
	Name  string
	Owner rundir.Owner
	Files rundir.Files
}

// Flags are the words that name the same daemon again.
func (s Serving) Flags() string {
	if s.ID == "" {
		return ""
	}
	return "--id " + s.ID
}

// Find says which daemon the words and the environment mean; it may not run.
func (s Serving) Find(c *Call) (Peer, error) {
	name, err := c.Source()
	if err != nil {
		return Peer{}, err
	}
	p := Peer{Name: name}
	if s.ID != "" {
		if p.Owner, err = rundir.FileSink(s.ID, 0); err != nil {
			return Peer{}, Usagef("", "%v", err)
		}
	} else if p.Owner, err = rundir.Session(c.Getenv); err != nil {
		return Peer{}, c.NoOwner(err)
	}
	dir, _, err := rundir.Open(c.Getenv)
	if err != nil {
		return Peer{}, err
	}
	p.Files, err = rundir.Of(dir, p.Owner, name)
	return p, err
}

// ask finds the daemon and asks it one thing.
func (s Serving) ask(c *Call, r control.Request) (Peer, control.Response, error) {
	p, err := s.Find(c)
	if err != nil {
		return p, control.Response{}, err
	}
	answer, err := s.askPeer(c, p, r)
	return p, answer, err
}

func (s Serving) askPeer(c *Call, p Peer, r control.Request) (control.Response, error) {
	answer, err := control.Ask(c.Ctx, p.Files.Socket, r)
	if err == nil && answer.Stopping && answer.Error != "" { // it ended while we waited, and had the time to say so
		err = fmt.Errorf("%w at %s: it has stopped", control.ErrNoDaemon, p.Files.Socket)
	}
	switch {
	case errors.Is(err, control.ErrNoDaemon):
		return answer, &Problem{
			ExitNoDaemon, fmt.Sprintf("%v, for %s", err, p.Owner),
			"start it as a background task: " + c.Command(strings.TrimSpace("daemon "+s.Flags())),
		}
	case err != nil:
		return answer, err
	case answer.Error != "" && answer.Usage:
		return answer, Usagef(answer.Hint, "%s", answer.Error)
	case answer.Error != "":
		return answer, &Problem{ExitFailed, answer.Error, answer.Hint}
	}
	return answer, nil
}

// NoOwner is what to say where the environment names no session.
func (c *Call) NoOwner(err error) error {
	if errors.Is(err, rundir.ErrNoInbox) {
		return err
	}
	return Usagef("", "%v", err)
}

// Command is how the user calls a command with the same spec, such as `sessevents --spec build-log status`.
func (c *Call) Command(words string) string {
	line := c.Program
	if c.Spec != "" {
		line += " --spec " + shellwords.Quote(c.Spec)
	}
	return strings.TrimSpace(line + " " + words)
}
