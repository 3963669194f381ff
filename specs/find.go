package specs

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/sessevents/sessevents/internal/specfile"
)

// Found is where a spec is.
type Found struct {
	Name string
	// Path is the file; for a built-in spec the name of it among the built-in ones.
	Path string
	// Builtin says that it came with the program.
	Builtin bool
	files   fs.FS
}

// Load reads and parses it.
func (f Found) Load() (*Spec, Diagnostics) {
	if !f.Builtin {
		return Load(f.Path)
	}
	src, err := fs.ReadFile(f.files, f.Path)
	if err != nil {
		return &Spec{File: f.Path, src: newSource(f.Path, nil)}, Diagnostics{{File: f.Path, Severity: Error, Code: "read", Width: 1, Message: err.Error()}}
	}
	return Parse("built-in "+f.Path, src)
}

// Check is [CheckFile] of it.
func (f Found) Check(o Options) (*Spec, *Source, Diagnostics) {
	s, found := f.Load()
	return check(s, found, o)
}

// ErrNotFound is what a name comes to that nothing is found under.
var ErrNotFound = errors.New("no such spec")

// Places are where specs are looked for.
type Places struct {
	// Dir is the working directory: `.sessevents` of it and of each parent is looked into.
	Dir string
	// Config is $XDG_CONFIG_HOME, or what stands for it; empty: none.
	Config string
	// Builtin are the specs of the program, as NAME.yaml; nil: none.
	Builtin fs.FS
}

// ConfigDir is the user's folder for configuration: $XDG_CONFIG_HOME, else ~/.config; empty where there is none.
func ConfigDir() string { return specfile.ConfigDir() }

// Find finds what `--spec` names: a path, where it holds a slash or ends in .yaml or .yml; otherwise a name, looked up
// as .sessevents/NAME.yaml here and in each parent folder, in the user's configuration, and among the built-in specs.
func (p Places) Find(name string) (Found, error) {
	if f, ok := specfile.Places(p).Find(name); ok {
		return p.found(f), nil
	}
	if !isName(name) {
		return Found{}, fmt.Errorf("%w: %q is neither a path nor a name", ErrNotFound, name)
	}
	hint := ""
	if near := nearest(name, p.names()); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return Found{}, fmt.Errorf("%w: %s%s", ErrNotFound, name, hint)
}

// List is all that Find would find by name, each name once, by name.
func (p Places) List() []Found {
	var all []Found
	for _, f := range specfile.Places(p).List() {
		all = append(all, p.found(f))
	}
	return all
}

func (p Places) found(f specfile.Found) Found {
	return Found{Name: f.Name, Path: f.Path, Builtin: f.Builtin, files: p.Builtin}
}

func (p Places) names() []string {
	var names []string
	for _, f := range p.List() {
		names = append(names, f.Name)
	}
	return names
}
