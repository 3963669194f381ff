package main

import (
	"os"
	"strings"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/examples"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

// errNoSpec is what every command of a source says without one.
var errNoSpec = &problem{exitUsage, "no source is named", "add --spec FILE, or the name of a known spec"}

// places are where a spec is looked for by its name.
func (c *call) places() specs.Places {
	return specs.Places{Dir: c.dir, Config: specs.ConfigDir(), Builtin: examples.Files}
}

// parse reads the spec that --spec names: a path, or a name.
func (c *call) parse() (*specs.Spec, specs.Diagnostics, error) {
	if c.spec == "" {
		return nil, nil, errNoSpec
	}
	found, err := c.places().Find(c.spec)
	if err != nil {
		return nil, nil, usagef("", "%v", err)
	}
	spec, faults := found.Load()
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
func (c *call) compile() (engine.Source, func(), error) {
	spec, faults, err := c.parse()
	if err != nil {
		return nil, nil, err
	}
	if faults.HasErrors() {
		return nil, nil, faults
	}
	set := fetchers.NewSet()
	source, faults := specs.Compile(spec, specs.Options{Fetchers: set.Fetchers(), Getenv: c.getenv})
	if faults.HasErrors() {
		set.Close()
		return nil, nil, faults
	}
	return source, set.Close, nil
}

// printFaults shows each fault of a spec at its place.
func (c *call) printFaults(faults specs.Diagnostics) {
	_ = faults.Sort().WriteText(c.err, c.color())
}

// color reports whether errors may be coloured: on a terminal, unless NO_COLOR asks for none.
func (c *call) color() bool {
	f, ok := c.err.(*os.File)
	if !ok || c.getenv("NO_COLOR") != "" || strings.HasPrefix(c.getenv("TERM"), "dumb") {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
