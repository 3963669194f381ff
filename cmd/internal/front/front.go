// Package front is the program that the user calls. What asks a daemon it does itself; for everything else it becomes
// the second program, sessevents-core, which has the whole command line.
package front

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sessevents/sessevents/cmd/internal/build"
	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/examples"
	"github.com/sessevents/sessevents/internal/specfile"
)

// Core is the name of the second program.
const Core = "sessevents-core"

// Main is the whole program; it returns only where it did not become the second one.
func Main() (exit int) {
	world := client.Real()
	if _, again := os.LookupEnv(client.CalledBy); again { // or it would become itself for ever
		fmt.Fprintf(world.Err, "error: what is installed as %s is sessevents\nhint: both programs: %s\n", Core, client.Install)
		return client.ExitFailed
	}
	command, spec, ok := client.Read(os.Args[1:])
	source := ""
	if _, isList := command.(*client.List); ok && !isList { // list is of all sources
		source = sourceName(world.Dir, spec)
		ok = source != ""
	}
	if !ok {
		return become(world)
	}
	c := &client.Call{
		World: world, Ctx: client.Interruptible(), Program: client.Name(os.Args), Spec: spec,
		Source: func() (string, error) { return source, nil },
	}
	return c.Fail(command.Run(c))
}

// sourceName is the name of the source that --spec names; empty where it takes more than a look at the head of a spec.
func sourceName(dir, spec string) string {
	if spec == "" {
		return ""
	}
	places := specfile.Places{Dir: dir, Config: specfile.ConfigDir(), Builtin: examples.Files}
	found, ok := places.Find(spec)
	if !ok {
		return ""
	}
	return places.Head(found)
}

// processors is the variable that tells a Go program how many threads may run at once. With one it starts faster.
const processors = "GOMAXPROCS"

// lintsOneFile reports whether the words ask for a lint of a single file, as an editor or a hook does after each change:
// there is nothing to do side by side, and no other program is started that would inherit the variable.
func lintsOneFile(words []string) bool {
	if len(words) != 2 || words[0] != "lint" {
		return false
	}
	info, err := os.Stat(words[1])
	return err == nil && info.Mode().IsRegular()
}

// become makes this process the second program, with the same words. It keeps its pid, so that whoever started it waits
// for the right one.
func become(w client.World) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(w.Err, "error: find %s: %v\n", Core, err)
		return client.ExitFailed
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	places := build.Companions(self, Core)
	env := append(os.Environ(), client.CalledBy+"="+build.Version())
	if _, set := os.LookupEnv(processors); !set && lintsOneFile(os.Args[1:]) {
		env = append(env, processors+"=1")
	}
	for _, path := range places {
		err := syscall.Exec(path, os.Args, env)
		if !errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(w.Err, "error: run %s: %v\n", path, err)
			return client.ExitFailed
		}
	}
	fmt.Fprintf(w.Err, "error: %s is not installed: there is no %s\n", Core, strings.Join(places, " and no "))
	fmt.Fprintf(w.Err, "hint: both programs: %s\n", client.Install)
	return client.ExitFailed
}
