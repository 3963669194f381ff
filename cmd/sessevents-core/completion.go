package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/cmd/internal/complete"
	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"For which shell: ${enum}."`
}

// Run prints what the shell has to read.
func (s *completionCmd) Run(c *call) error {
	script, err := complete.Script(s.Shell, c.Program)
	if err != nil {
		return client.Usagef("", "%v", err)
	}
	_, err = fmt.Fprint(c.Out, script)
	return err
}

// complete answers a completion script. Whatever goes wrong is a word less to choose from.
func (c *call) complete(model *kong.Application, args []string) {
	complete.Completer{Model: model, Values: c.completions}.Run(c.Out, args)
}

// completions are the words that the grammar does not know.
func (c *call) completions(at complete.Place) complete.Values {
	c.Spec = at.Flags["spec"]
	switch at.Flag {
	case "spec":
		return complete.Values{List: c.knownSpecs(), Files: true}
	case "id":
		return complete.Values{List: c.fileSinks()}
	case "out", "record":
		return complete.Values{Files: true}
	case "":
		switch at.Command {
		case "unwatch":
			return complete.Values{List: c.watched(at)}
		case "watch", "try", "lint", "test":
			return complete.Values{Files: true}
		}
	}
	return complete.Values{}
}

func (c *call) knownSpecs() (list []complete.Candidate) {
	for _, found := range c.places().List() {
		help := found.Path
		if found.Builtin {
			help = "built in"
		}
		list = append(list, complete.Candidate{Word: found.Name, Help: help})
	}
	return list
}

// fileSinks are the ids of the file sinks that have a socket, of the source that --spec names or of all.
func (c *call) fileSinks() (list []complete.Candidate) {
	dir, _, err := rundir.Open(c.Getenv)
	if err != nil {
		return nil
	}
	source, err := c.sourceName()
	if err != nil {
		source = "*"
	}
	sockets, _ := filepath.Glob(filepath.Join(client.GlobQuote(dir), "*."+source+".sock"))
	for _, s := range sockets {
		id, of, _ := strings.Cut(strings.TrimSuffix(filepath.Base(s), ".sock"), ".")
		if strings.Trim(id, "0123456789") != "" { // a number is a session's
			list = append(list, complete.Candidate{Word: id, Help: of})
		}
	}
	return list
}

// completionPatience is how long a user waits for a tab key.
const completionPatience = 500 * time.Millisecond

// watched are the targets of the daemon, word by word.
func (c *call) watched(at complete.Place) (list []complete.Candidate) {
	p, err := client.Serving{ID: at.Flags["id"]}.Find(c.Call)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Ctx, completionPatience)
	defer cancel()
	r, err := control.Ask(ctx, p.Files.Socket, control.Request{Op: control.Status})
	if err != nil || r.Report == nil {
		return nil
	}
	for _, t := range r.Report.Targets {
		words := strings.Split(t.Text, " ")
		if n := len(at.Words); n < len(words) && slices.Equal(words[:n], at.Words) {
			list = append(list, complete.Candidate{Word: words[n]})
		}
	}
	return list
}
