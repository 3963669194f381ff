package main

import (
	"fmt"
	"strings"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/schema"
	"github.com/sessevents/sessevents/specs"
)

type specsCmd struct {
	JSON bool `name:"json" help:"Print a JSON list."`
}

// knownSpec is a spec that --spec finds by its name.
type knownSpec struct {
	Name    string        `json:"name"`
	Path    string        `json:"path,omitempty"` // empty for one that came with the program
	Usage   []string      `json:"usage,omitempty"`
	Touches specs.Touches `json:"touches"`
	Faults  int           `json:"faults,omitempty"`
}

// Run lists the specs that --spec finds by name, and what each may reach.
func (s *specsCmd) Run(c *call) error {
	list := []knownSpec{}
	for _, found := range c.places().List() {
		spec, source, faults := found.Check(specs.Options{Fetchers: fetchers.All, Getenv: c.Getenv})
		known := knownSpec{Name: found.Name, Usage: spec.Usage}
		if !found.Builtin {
			known.Path = found.Path
		}
		if source != nil {
			known.Touches = source.Touches()
		}
		for _, f := range faults {
			if f.Severity == specs.Error {
				known.Faults++
			}
		}
		list = append(list, known)
	}
	if s.JSON {
		return client.PrintJSON(c.Out, list)
	}
	for _, k := range list {
		where := "built in"
		if k.Path != "" {
			where = k.Path
		}
		fmt.Fprintf(c.Out, "%s (%s)\n", k.Name, where)
		for _, u := range k.Usage {
			fmt.Fprintf(c.Out, "  %s\n", u)
		}
		for _, part := range []struct {
			name string
			list []string
		}{{"asks", k.Touches.Hosts}, {"runs", k.Touches.Commands}, {"reads", k.Touches.Paths}, {"takes from the environment", k.Touches.Env}} {
			if len(part.list) > 0 {
				fmt.Fprintf(c.Out, "  %s: %s\n", part.name, strings.Join(part.list, ", "))
			}
		}
		if k.Faults > 0 {
			fmt.Fprintf(c.Out, "  %s: %s lint shows them\n", client.Count(k.Faults, "fault"), c.Program)
		}
	}
	return nil
}

type schemaCmd struct {
	Of string `arg:"" optional:"" enum:"spec,event" default:"spec" help:"Of what: ${enum}."`
}

// Run prints a JSON Schema, for editors and for readers of the event log.
func (s *schemaCmd) Run(c *call) error {
	text := schema.Spec
	if s.Of == "event" {
		text = schema.Event
	}
	_, err := c.Out.Write(text)
	return err
}
