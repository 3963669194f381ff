package specs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
func ConfigDir() string {
	if d := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		return d
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".config")
	}
	return ""
}

// Find finds what `--spec` names: a path, where it holds a slash, ends in .yaml or .yml, or is a file; otherwise a
// name, looked up as .sessevents/NAME.yaml here and in each parent folder, in the user's configuration, and among
// the built-in specs.
func (p Places) Find(name string) (Found, error) {
	if strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return Found{Name: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".yml"), ".yaml"), Path: name}, nil
	}
	if !isName(name) {
		return Found{}, fmt.Errorf("%w: %q is neither a path nor a name", ErrNotFound, name)
	}
	for _, dir := range p.folders() {
		path := filepath.Join(dir, name+".yaml")
		if isFile(path) {
			return Found{Name: name, Path: path}, nil
		}
	}
	if p.Builtin != nil {
		if _, err := fs.Stat(p.Builtin, name+".yaml"); err == nil {
			return Found{Name: name, Path: name + ".yaml", Builtin: true, files: p.Builtin}, nil
		}
	}
	hint := ""
	if near := nearest(name, p.names()); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return Found{}, fmt.Errorf("%w: %s%s", ErrNotFound, name, hint)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// folders are the folders of specs, nearest first.
func (p Places) folders() []string {
	var dirs []string
	for dir := p.Dir; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, filepath.Join(dir, ".sessevents"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if p.Config != "" {
		dirs = append(dirs, filepath.Join(p.Config, "sessevents", "specs"))
	}
	return dirs
}

// List is all that Find would find by name, each name once, by name.
func (p Places) List() []Found {
	byName := map[string]Found{}
	for _, dir := range p.folders() {
		paths, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
		for _, path := range paths {
			name := strings.TrimSuffix(filepath.Base(path), ".yaml")
			if _, nearer := byName[name]; !nearer && isName(name) && isFile(path) {
				byName[name] = Found{Name: name, Path: path}
			}
		}
	}
	if p.Builtin != nil {
		paths, _ := fs.Glob(p.Builtin, "*.yaml")
		for _, path := range paths {
			name := strings.TrimSuffix(path, ".yaml")
			if _, nearer := byName[name]; !nearer {
				byName[name] = Found{Name: name, Path: path, Builtin: true, files: p.Builtin}
			}
		}
	}
	all := make([]Found, 0, len(byName))
	for _, f := range byName {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (p Places) names() []string {
	var names []string
	for _, f := range p.List() {
		names = append(names, f.Name)
	}
	return names
}
