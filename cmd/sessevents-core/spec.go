package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/examples"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

// errNoSpec is what every command of a source says without one.
var errNoSpec = &client.Problem{Code: client.ExitUsage, Text: "no source is named", Hint: "add --spec FILE, or the name of a known spec"}

// places are where a spec is looked for by its name.
func (c *call) places() specs.Places {
	return specs.Places{Dir: c.Dir, Config: specs.ConfigDir(), Builtin: examples.Files}
}

// parse reads the spec that --spec names: a path, or a name.
func (c *call) parse() (*specs.Spec, specs.Diagnostics, error) {
	found, err := c.find()
	if err != nil {
		return nil, nil, err
	}
	spec, faults := found.Load()
	return spec, faults, nil
}

func (c *call) find() (specs.Found, error) {
	if c.Spec == "" {
		return specs.Found{}, errNoSpec
	}
	found, err := c.places().Find(c.Spec)
	if err != nil {
		return found, client.Usagef("", "%v", err)
	}
	return found, nil
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

// builder makes the source that --spec names, and makes it anew when its file has changed.
type builder struct {
	call *call
	path string        // of the spec; empty for a built-in one
	set  *fetchers.Set // of the source that was built last
	text string        // it was built from
}

// build returns the source, its faults, or nil where the spec is as it was.
func (b *builder) build() (engine.Source, error) {
	found, err := b.call.find()
	if err != nil {
		return nil, err
	}
	if !found.Builtin {
		if b.path, err = filepath.Abs(found.Path); err != nil {
			return nil, err
		}
	}
	set := fetchers.NewSet()
	spec, source, faults := found.Check(specs.Options{Fetchers: set.Fetchers(), Getenv: b.call.Getenv})
	if b.set != nil && spec.Text() == b.text {
		return nil, nil
	}
	if faults.HasErrors() {
		return nil, slices.DeleteFunc(faults, func(d specs.Diagnostic) bool { return d.Severity == specs.Warning })
	}
	if b.set != nil {
		set.Succeed(b.set)
	}
	b.close() // what the old source remembered of answers does not count for another one
	b.set, b.text = set, spec.Text()
	return source, nil
}

func (b *builder) close() {
	if b.set != nil {
		b.set.Close()
	}
}

// limits are the hosts that asked for patience.
func (b *builder) limits() (limits []control.Limit) {
	for _, l := range b.set.Limits() {
		limits = append(limits, control.Limit{Host: l.Host, LeftSeconds: l.Left.Round(time.Second).Seconds()})
	}
	return limits
}

// printFaults shows each fault of a spec at its place.
func (c *call) printFaults(faults specs.Diagnostics) {
	_ = faults.Sort().WriteText(c.Err, colored(c.Err, c.Getenv))
}

// colored reports whether w may be coloured: a terminal, unless NO_COLOR asks for none.
func colored(w io.Writer, getenv func(string) string) bool {
	f, ok := w.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
