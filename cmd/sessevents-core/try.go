package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/atomicfile"
	"github.com/sessevents/sessevents/internal/plainfile"
	"github.com/sessevents/sessevents/specs"
)

type tryCmd struct {
	Polls    int      `default:"1" placeholder:"N" help:"How many polls; default 1."`
	Interval string   `placeholder:"SECONDS" help:"Wait between them; default: the spec's interval."`
	Record   string   `placeholder:"FILE" help:"Add what was seen to the tests of the spec FILE, or write them to a new FILE; - prints them."`
	Words    []string `arg:"" name:"target" passthrough:"all" help:"The target, and the source's own flags."`
}

// Run polls a target with real fetches, without a daemon and without state, and shows what happens inside.
func (t *tryCmd) Run(c *call) error {
	found, err := c.find()
	if err != nil {
		return err
	}
	set := fetchers.NewSet()
	defer set.Close()
	spec, source, faults := found.Check(specs.Options{Fetchers: set.Fetchers(), Getenv: c.Getenv})
	if faults.HasErrors() {
		return faults
	}
	if t.Polls < 1 {
		return client.Usagef("", "--polls %d is too few: at least 1", t.Polls)
	}
	wait, err := parseInterval(t.Interval)
	if err != nil {
		return err
	}
	if wait == 0 {
		wait = spec.Interval
	}
	trial, err := source.NewTrial(client.Unescape(t.Words))
	if err != nil {
		return err
	}
	var failure error
	for n := 1; n <= t.Polls; n++ {
		if n > 1 {
			select {
			case <-time.After(wait):
			case <-c.Ctx.Done():
				return context.Cause(c.Ctx)
			}
		}
		fmt.Fprintf(c.Out, "poll %d of %d\n", n, t.Polls)
		trace, err := trial.Poll(c.Ctx, time.Now())
		c.printTrace(trace, err)
		failure = errors.Join(failure, err)
	}
	if t.Record != "" {
		entry, err := trial.Record(c.Ctx, "recorded "+time.Now().UTC().Format(time.DateOnly))
		if err != nil {
			return err
		}
		if err := c.record(t.Record, entry); err != nil {
			return err
		}
	}
	if failure != nil {
		return client.ExitCode(client.ExitFailed) // each was shown with its poll
	}
	return nil
}

// record puts an entry of tests where the user wants it.
func (c *call) record(file, entry string) error {
	if file == "-" {
		_, err := fmt.Fprint(c.Out, "tests:\n"+entry)
		return err
	}
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(file, []byte("tests:\n"+entry), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "recorded into %s\n", file)
		return nil
	}
	if err != nil {
		return err
	}
	f, _, err := plainfile.Open(file, 0)
	if err != nil {
		return err
	}
	src, err := io.ReadAll(io.LimitReader(f, 2<<20))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	added, err := specs.AddTest(file, src, entry)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(file, added); err != nil {
		return err
	}
	if err := os.Chmod(file, info.Mode().Perm()); err != nil { // an executable spec stays one
		return err
	}
	fmt.Fprintf(c.Out, "recorded into the tests of %s\n", file)
	return nil
}

// maxShown bounds what is shown of one value, in bytes.
const maxShown = 2000

// printTrace shows what one poll came to, in the order in which it happened.
func (c *call) printTrace(t specs.Trace, err error) {
	line := func(format string, args ...any) { fmt.Fprintf(c.Out, "  "+format+"\n", args...) }
	for _, s := range t.Steps {
		name := s.Fetcher
		if s.Name != "" {
			name = s.Name + ": " + name
		}
		switch {
		case s.Skipped:
			line("%s: skipped", name)
		case s.Error != "":
			line("%s (%s): %s", name, s.Took.Round(time.Millisecond), s.Error)
		default:
			line("%s (%s)", name, s.Took.Round(time.Millisecond))
		}
		if s.Doc != nil {
			line("  %s", shown(s.Doc))
		}
	}
	if err != nil {
		line("the poll failed: %v", err)
		return
	}
	line("items: %d", len(t.Items))
	for _, item := range t.Items {
		line("  %s", shown(item))
	}
	line("rules")
	for _, r := range t.Rules {
		holds := "no"
		if r.Holds {
			holds = "yes"
		}
		if r.Error != "" {
			holds = r.Error
		}
		what := r.Kind
		if r.Until {
			what += " (until)"
		}
		if r.Item != "" {
			what += " of " + r.Item
		}
		line("  %s: %s; %s", what, holds, strings.Join(r.Why, ", "))
	}
	line("events: %d", len(t.Outcome.Events))
	for _, e := range t.Outcome.Events {
		if e.Level == "" {
			e.Level = eventlog.Alert
		}
		line("  %s %s: %s", e.Level, e.Kind, e.Text)
		if e.URL != "" {
			line("    %s", e.URL)
		}
	}
	for _, l := range t.Outcome.Log {
		line("log: %s", l)
	}
	line("cursor: %s", shown(t.Cursor))
}

// shown is a value as JSON, cut where it is long.
func shown(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	s := strings.TrimSpace(b.String())
	if len(s) > maxShown {
		s = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:maxShown], ""), len(s))
	}
	return s
}
