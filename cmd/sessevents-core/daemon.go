package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/engine/rundir"
)

type daemonCmd struct {
	client.Serving
	PID      *int   `name:"pid" placeholder:"PID" help:"With --id: end with this process."`
	Interval string `placeholder:"SECONDS" help:"Wait between polls while something goes on, 1 to 86400; default: the spec's."`
	Mode     string `enum:"bypass,prompting,auto" default:"bypass" help:"The session's permission mode: ${enum}."`
}

// Run serves until the owner is gone or somebody stops it.
func (d *daemonCmd) Run(c *call) error {
	if d.PID != nil && d.ID == "" {
		return client.Usagef("add --id NAME: --pid ends a file sink with that process", "--pid without --id")
	}
	interval, err := parseInterval(d.Interval)
	if err != nil {
		return err
	}
	b := &builder{call: c}
	source, err := b.build()
	if err != nil {
		return err
	}
	defer b.close()
	var owner rundir.Owner
	if d.ID != "" {
		pid := 0
		if d.PID != nil {
			if pid = *d.PID; pid <= 0 { // such as an empty variable's 0: not an owner that is left out
				return client.Usagef("", "invalid pid %d", pid)
			}
		}
		if owner, err = rundir.FileSink(d.ID, pid); err != nil {
			return client.Usagef("", "%v", err)
		}
	} else if owner, err = rundir.Session(c.Getenv); err != nil {
		return c.NoOwner(err)
	}
	dir, tried, err := rundir.Open(c.Getenv)
	if err != nil {
		return err
	}
	for _, why := range tried {
		fmt.Fprintf(c.Err, "note: runtime directory passed over: %v\n", why)
	}
	debug.SetGCPercent(sparing)
	err = engine.Run(c.Ctx, engine.Options{
		Source: source, Dir: dir, Owner: owner, Interval: interval, Mode: inbox.Mode(d.Mode),
		SessionID: c.Getenv("CLAUDE_CODE_SESSION_ID"), Token: c.Getenv("CLAUDE_CODE_MESSAGING_TOKEN"),
		Command: c.Command(""), Flags: d.Flags(), Out: c.Out,
		Reload: b.build, SourceFile: b.path, Hangup: c.Hangup(), Limits: b.limits, Backlog: collect,
	})
	var running *engine.RunningError
	if errors.As(err, &running) {
		fmt.Fprintln(c.Out, err)
		return nil
	}
	return err
}

// parseInterval reads seconds, with or without a unit; 0: none given.
func parseInterval(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if n, numErr := strconv.ParseFloat(s, 64); numErr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d < engine.MinInterval || d > engine.MaxInterval {
		return 0, client.Usagef("", "--interval %s is out of range: 1 to 86400 seconds", s)
	}
	return d, nil
}

// By how many percent the memory of a daemon may grow before it collects. It mostly sleeps beside an agent that needs the
// memory more; but while it reads through a large file, a quarter would cost it as much time as the reading.
const (
	sparing = 25
	hurried = 100
)

func collect(reading bool) {
	if reading {
		debug.SetGCPercent(hurried)
		return
	}
	debug.SetGCPercent(sparing)
}
