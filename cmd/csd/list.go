package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/sessevents/sessevents/csd"
)

type listCmd struct {
	All     bool   `help:"Also workers that are gone."`
	JSON    bool   `name:"json" help:"Print a JSON array, with turns, errors, background work and work trees."`
	Pattern string `arg:"" optional:"" help:"Only workers whose name holds this."`
}

// Run lists the workers.
func (s *listCmd) Run(c *call) error {
	f, err := c.fleet()
	if err != nil {
		return err
	}
	list, err := f.List(c.ctx, csd.ListOptions{All: s.All, Pattern: s.Pattern, Detail: s.JSON})
	if err != nil {
		return err
	}
	if s.JSON {
		if list == nil {
			list = []csd.Status{}
		}
		return c.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(c.err, "No workers found")
		return nil
	}
	out := bufio.NewWriter(c.out)
	fmt.Fprintln(out, "STATUS\tHARNESS\tTMUX\tSESSION_ID\tSHIM\tCWD")
	for _, w := range list {
		row := []string{w.State, w.Harness, w.Name, w.SessionID, w.Shim, w.CWD}
		if !w.Registered {
			if row[3], row[5] = "-", "-"; w.State != csd.Gone {
				row[0] = "unregistered"
			}
		}
		for i := range row {
			row[i] = printable(row[i], "")
		}
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	return out.Flush()
}

type pruneCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run removes what workers that are gone left behind.
func (s *pruneCmd) Run(c *call) error {
	f, err := c.fleet()
	if err != nil {
		return err
	}
	names, files, err := f.Prune(c.ctx)
	if s.JSON {
		if err != nil {
			return err
		}
		return c.printJSON(struct {
			Workers []string `json:"workers"`
			Files   []string `json:"files"`
		}{append([]string{}, names...), append([]string{}, files...)})
	}
	switch {
	case len(names)+len(files) == 0 && err == nil:
		fmt.Fprintln(c.err, "Nothing to prune")
	case len(names) > 0:
		fmt.Fprintf(c.out, "Pruned %d: %s\n", len(names), strings.Join(names, ", "))
	}
	if len(files) > 0 {
		fmt.Fprintf(c.out, "Removed %d files of nobody\n", len(files))
	}
	return err
}

type statusCmd struct {
	JSON bool `name:"json" help:"Print one JSON object: since when, what it waits for, errors, background work, work tree."`
}

// Run prints the state of a worker.
func (s *statusCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	status, err := w.Status(c.ctx, s.JSON)
	if err != nil {
		return err
	}
	if s.JSON {
		return c.printJSON(status)
	}
	_, err = fmt.Fprintln(c.out, status.State)
	return err
}
