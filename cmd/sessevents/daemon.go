package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/engine/rundir"
)

type daemonCmd struct {
	serving
	PID      *int   `name:"pid" placeholder:"PID" help:"With --id: end with this process."`
	Interval string `placeholder:"SECONDS" help:"Wait between polls while something goes on, 1 to 86400; default: the spec's."`
	Mode     string `enum:"bypass,prompting,auto" default:"bypass" help:"The session's permission mode: ${enum}."`
}

// Run serves until the owner is gone or somebody stops it.
func (d *daemonCmd) Run(c *call) error {
	if d.PID != nil && d.ID == "" {
		return usagef("add --id NAME: --pid ends a file sink with that process", "--pid without --id")
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
				return usagef("", "invalid pid %d", pid)
			}
		}
		if owner, err = rundir.FileSink(d.ID, pid); err != nil {
			return usagef("", "%v", err)
		}
	} else if owner, err = rundir.Session(c.getenv); err != nil {
		return c.noOwner(err)
	}
	dir, tried, err := rundir.Open(c.getenv)
	if err != nil {
		return err
	}
	for _, why := range tried {
		fmt.Fprintf(c.err, "note: runtime directory passed over: %v\n", why)
	}
	// A daemon mostly sleeps beside an agent that needs the memory more: collect when it has grown by a quarter.
	debug.SetGCPercent(25)
	err = engine.Run(c.ctx, engine.Options{
		Source: source, Dir: dir, Owner: owner, Interval: interval, Mode: inbox.Mode(d.Mode),
		SessionID: c.getenv("CLAUDE_CODE_SESSION_ID"), Token: c.getenv("CLAUDE_CODE_MESSAGING_TOKEN"),
		Command: c.command(""), Flags: d.flags(), Out: c.out,
		Reload: b.build, SourceFile: b.path, Hangup: c.hangup(), Limits: b.limits,
	})
	var running *engine.RunningError
	if errors.As(err, &running) {
		fmt.Fprintln(c.out, err)
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
		return 0, usagef("", "--interval %s is out of range: 1 to 86400 seconds", s)
	}
	return d, nil
}
