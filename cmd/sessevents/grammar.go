package main

import (
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// grammar is every command and flag. A command's Run is in the file of its name.
type grammar struct {
	Spec    string           `placeholder:"FILE|NAME" help:"The source: a spec file, or the name of a known spec."`
	Version kong.VersionFlag `help:"Print the version."`

	Daemon  daemonCmd  `cmd:"" help:"Serve a session: poll what it watches, log events, deliver alerts. Run it as a background task."`
	Watch   watchCmd   `cmd:"" help:"Watch a target, and poll it once before returning."`
	Unwatch unwatchCmd `cmd:"" help:"Forget a target, or all of them."`
	Wait    waitCmd    `cmd:"" help:"Block until there are events after an id; print them and the next id."`
	Follow  followCmd  `cmd:"" help:"Print each event as it comes."`
	Poll    pollCmd    `cmd:"" help:"Poll every target now."`
	Status  statusCmd  `cmd:"" help:"Show the daemon: files, targets, events, messages, the next poll."`
	Stop    stopCmd    `cmd:"" help:"End the daemon."`
	List    listCmd    `cmd:"" help:"Show every daemon of this user."`

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
	at := commandAt(args)
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

// commandAt is where the command stands among args: behind the program's own flags.
func commandAt(args []string) int {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		if args[at] == "--spec" || args[at] == "--id" {
			at++ // its value is no command
		}
		at++
	}
	return at
}

// serving says which daemon a command talks to.
type serving struct {
	ID string `name:"id" placeholder:"NAME" help:"The file sink of that name, instead of the Claude Code session around."`
}

// hoisted are the program's own flags with a value, of commands that take the words of a source.
var hoisted = map[string][]string{
	"watch":   {"--id", "--spec"},
	"unwatch": {"--id", "--spec"},
	"try":     {"--spec", "--polls", "--interval", "--record"},
}

// hoist moves the program's own flags in front of the words of a target. Behind the first word of a target every flag
// belongs to the source; but users write --id and --spec last.
func hoist(args []string) []string {
	at := commandAt(args)
	if at >= len(args) || hoisted[args[at]] == nil {
		return args
	}
	flags := hoisted[args[at]]
	own, rest := slices.Clone(args[:at+1]), []string(nil)
	for words := args[at+1:]; len(words) > 0; words = words[1:] {
		word := words[0]
		name, _, joined := strings.Cut(word, "=")
		switch {
		case word == "--":
			return append(append(own, rest...), words...)
		case slices.Contains(flags, name):
			own = append(own, word)
			if !joined && len(words) > 1 {
				words = words[1:]
				own = append(own, words[0])
			}
		case word == "--help" || word == "-h" || word == "--all" && args[at] == "unwatch":
			own = append(own, word)
		default:
			rest = append(rest, word)
		}
	}
	return append(own, rest...)
}

// version is the module's version where the program was installed by one, else the commit it was built from.
func version() string {
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
