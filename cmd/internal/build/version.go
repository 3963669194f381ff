// Package build says what the running program was built from, and where its companions are.
package build

import (
	"path/filepath"
	"runtime/debug"
)

// Version is the module's version where the program was installed by one, else the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}

// Companions are the places where the program name is installed that belongs to the program at path: beside it, as
// `go install` does, or in libexec, as a package does.
func Companions(path, name string) []string {
	dir := filepath.Dir(path)
	return []string{filepath.Join(dir, name), filepath.Join(dir, "..", "libexec", name)}
}
