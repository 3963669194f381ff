// Package specfile says where a spec is that `--spec` names, and what the head of its file gives as its name. It reads
// no YAML, so that a program which only asks a daemon need not link any.
package specfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxName bounds the name of a spec: it becomes a part of the name of a socket.
const maxName = 40

// Found is where a spec is.
type Found struct {
	Name string
	// Path is the file; for a built-in spec the name of it among the built-in ones.
	Path string
	// Builtin says that it came with the program.
	Builtin bool
}

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

// IsName reports whether s can name a spec: small letters, digits and -, at most 40.
func IsName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// IsPath reports whether what `--spec` names is a path: it holds a slash, or ends in .yaml or .yml.
func IsPath(s string) bool {
	return strings.ContainsRune(s, filepath.Separator) || strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml")
}

// Find finds what `--spec` names: a path, or a name, looked up as .sessevents/NAME.yaml here and in each parent
// folder, in the user's configuration, and among the built-in specs. That there is a file at a path is not looked at.
func (p Places) Find(name string) (Found, bool) {
	if IsPath(name) {
		return Found{Name: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".yml"), ".yaml"), Path: name}, true
	}
	if !IsName(name) {
		return Found{}, false
	}
	for _, dir := range p.folders() {
		path := filepath.Join(dir, name+".yaml")
		if isFile(path) {
			return Found{Name: name, Path: path}, true
		}
	}
	if p.Builtin != nil {
		if _, err := fs.Stat(p.Builtin, name+".yaml"); err == nil {
			return Found{Name: name, Path: name + ".yaml", Builtin: true}, true
		}
	}
	return Found{}, false
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
			if _, nearer := byName[name]; !nearer && IsName(name) && isFile(path) {
				byName[name] = Found{Name: name, Path: path}
			}
		}
	}
	if p.Builtin != nil {
		paths, _ := fs.Glob(p.Builtin, "*.yaml")
		for _, path := range paths {
			name := strings.TrimSuffix(path, ".yaml")
			if _, nearer := byName[name]; !nearer {
				byName[name] = Found{Name: name, Path: path, Builtin: true}
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
