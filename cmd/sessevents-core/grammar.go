package main

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/client"
)

// grammar is every command and flag. A command's Run is in the file of its name.
type grammar struct {
	Spec    string           `placeholder:"FILE|NAME" help:"The source: a spec file, or the name of a known spec."`
	Version kong.VersionFlag `help:"Print the version."`

	Daemon  daemonCmd      `cmd:"" help:"Serve a session: poll what it watches, log events, deliver alerts. Run it as a background task."`
	Watch   client.Watch   `cmd:"" help:"Watch a target, and poll it once before returning."`
	Unwatch client.Unwatch `cmd:"" help:"Forget a target, or all of them."`
	Wait    client.Wait    `cmd:"" help:"Block until there are events after an id; print them and the next id."`
	Follow  client.Follow  `cmd:"" help:"Print each event as it comes."`
	Poll    client.Poll    `cmd:"" help:"Poll every target now."`
	Status  client.Status  `cmd:"" help:"Show the daemon: files, targets, events, messages, the next poll."`
	Stop    client.Stop    `cmd:"" help:"End the daemon."`
	List    client.List    `cmd:"" help:"Show every daemon of this user."`

	Lint lintCmd `cmd:"" help:"Check specs: every fault of every file, at its place."`
	Test testCmd `cmd:"" help:"Run the tests that specs bring."`
	Try  tryCmd  `cmd:"" help:"Poll a target without a daemon, and show what happens inside."`
	Init initCmd `cmd:"" help:"Write a new spec to begin with."`

	Specs  specsCmd  `cmd:"" help:"List the specs that --spec finds by name, and what each may reach."`
	Schema schemaCmd `cmd:"" help:"Print the JSON Schema of a spec, or of an event."`

	Completion completionCmd `cmd:"" help:"Print what a shell has to read to complete the words of this program."`
}

// trimmed is the grammar of the one command that args name: to build all of them for one is a fifth of what a command
// like status costs. Where args name none, it is the whole grammar. Its Spec is the second result.
func trimmed(args []string) (any, *string) {
	whole := reflect.TypeFor[grammar]()
	at := client.CommandAt(args)
	for i := range whole.NumField() {
		f := whole.Field(i)
		if _, isCommand := f.Tag.Lookup("cmd"); !isCommand || at >= len(args) || strings.ToLower(f.Name) != args[at] {
			continue
		}
		spec, _ := whole.FieldByName("Spec")
		version, _ := whole.FieldByName("Version")
		g := reflect.New(reflect.StructOf([]reflect.StructField{spec, version, f}))
		return g.Interface(), g.Elem().Field(0).Addr().Interface().(*string)
	}
	g := &grammar{}
	return g, &g.Spec
}
