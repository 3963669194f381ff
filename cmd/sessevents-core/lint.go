package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

type lintCmd struct {
	Paths      []string `arg:"" optional:"" name:"file|folder" help:"Specs, or folders of them; default: --spec, else .sessevents, else this folder."`
	Format     string   `enum:"${formats}" default:"text" help:"How findings are written: ${enum}."`
	NoWarnings bool     `help:"Leave out doubts; show only what keeps a spec from running."`
}

// plainLint reads the words of a lint that names files and folders and nothing else; nil where there is more to it. An
// agent calls it after every edit of a spec, and to set up the grammar for it costs a fifth of the whole.
func plainLint(words []string) *lintCmd {
	if len(words) < 2 || words[0] != "lint" {
		return nil
	}
	for _, word := range words[1:] {
		if word == "" || word[0] == '-' || !utf8.ValidString(word) {
			return nil
		}
	}
	return &lintCmd{Paths: slices.Clone(words[1:]), Format: "text"}
}

// Run shows all faults and doubts of all specs at once: exit code 1 where there are any.
func (l *lintCmd) Run(c *call) error {
	deepen()
	found, files, err := c.lint(l.Paths)
	if err != nil {
		return err
	}
	if l.NoWarnings {
		found = slices.DeleteFunc(found, func(d specs.Diagnostic) bool { return d.Severity == specs.Warning })
	}
	out := c.Out
	if err := found.Write(out, l.Format, colored(out, c.Getenv)); err != nil {
		return err
	}
	if len(found) > 0 {
		if l.Format == "text" {
			fmt.Fprintf(c.Err, "%s in %s\n", client.Count(found.Count(), "finding"), client.Count(named(found, files), "file"))
		}
		return client.ExitCode(client.ExitFailed)
	}
	return nil
}

// named is how many files were looked at, and paths that could not be.
func named(found specs.Diagnostics, files []string) int {
	all := map[string]bool{}
	for _, path := range files {
		all[path] = true
	}
	for _, d := range found {
		all[d.File] = true
	}
	return len(all)
}

// deepen makes the stack as large as a lint needs it while there is little on it. It would grow step by step, and each
// time the runtime reads up every function on it, from pages that nothing else needs: a twentieth of a lint of one file.
//
//go:noinline
func deepen() byte {
	var room [32 << 10]byte
	return room[os.Getpid()%len(room)]
}

// lint checks what the words name; without words the spec of --spec, or the specs around.
func (c *call) lint(paths []string) (specs.Diagnostics, []string, error) {
	options := specs.Options{Fetchers: fetchers.All, Getenv: c.Getenv}
	if len(paths) == 0 && c.Spec != "" {
		found, err := c.find()
		if err != nil {
			return nil, nil, err
		}
		_, _, faults := found.Check(options)
		return faults, []string{found.Path}, nil
	}
	faults, files := specs.Lint(c.specPaths(paths), options)
	if len(files) == 0 && len(faults) == 0 {
		return nil, nil, client.Usagef("name a file, or a folder with *.yaml files", "no specs found")
	}
	return faults, files, nil
}

// specPaths are the files and folders that a command looks at where the user names none.
func (c *call) specPaths(paths []string) []string {
	if len(paths) > 0 {
		return paths
	}
	for dir := c.Dir; ; dir = filepath.Dir(dir) {
		own := filepath.Join(dir, ".sessevents")
		if info, err := os.Stat(own); err == nil && info.IsDir() {
			if rel, err := filepath.Rel(c.Dir, own); err == nil {
				own = rel
			}
			return []string{own}
		}
		if dir == filepath.Dir(dir) {
			return []string{"."}
		}
	}
}
