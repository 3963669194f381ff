package main

import (
	"fmt"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/specs"
)

// errNoSpec is what every command of a source says without one.
var errNoSpec = &problem{exitUsage, "no source is named", "add --spec FILE, or the name of a known spec"}

// parse reads the spec that --spec names.
func (c *call) parse() (*specs.Spec, specs.Diagnostics, error) {
	if c.spec == "" {
		return nil, nil, errNoSpec
	}
	spec, faults := specs.Load(c.spec)
	return spec, faults, nil
}

// sourceName is all that a client command needs of a spec, so that it starts in a few milliseconds and works while
// somebody edits the rest.
func (c *call) sourceName() (string, error) {
	spec, faults, err := c.parse()
	if err != nil {
		return "", err
	}
	if spec == nil || spec.Name == "" {
		return "", faults
	}
	return spec.Name, nil
}

// compile makes the source that --spec names, or returns its faults.
func (c *call) compile() (engine.Source, error) {
	return nil, errNoSpec
}

// printFaults shows each fault of a spec at its place.
func (c *call) printFaults(faults specs.Diagnostics) {
	for _, f := range faults {
		fmt.Fprintf(c.err, "%s:%d:%d: %s: %s\n", f.File, f.Line, f.Column, f.Severity, f.Message)
	}
}
