package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// grammar is every command and flag. A command's Run is in the file of its name; one that belongs to a worker has the
// tag worker.
type grammar struct {
	Worker  string           `placeholder:"NAME" help:"The worker, by its name or session id; a shim says it for you."`
	Version kong.VersionFlag `help:"Print the version."`

	Launch       launchCmd       `cmd:"" help:"Start a worker: a coding agent in tmux, in a folder. Prints the path of its shim."`
	Adopt        adoptCmd        `cmd:"" help:"Take up an existing session again as a worker."`
	List         listCmd         `cmd:"" help:"List the workers."`
	Prune        pruneCmd        `cmd:"" help:"Remove what workers that are gone left behind."`
	GrantConsent grantConsentCmd `cmd:"" help:"Agree, once, to workers that run without permission checks."`
	Help         helpCmd         `cmd:"" help:"Show every command."`
	Completion   completionCmd   `cmd:"" help:"Print what a shell has to read to complete the words of this program."`
	Exec         execCmd         `cmd:"" hidden:""`

	Converse    converseCmd    `cmd:"" worker:"1" help:"Send a prompt, wait for its turn to end, print the answer."`
	Send        sendCmd        `cmd:"" worker:"1" help:"Send a prompt, and return once the worker has taken it."`
	WaitForTurn waitForTurnCmd `cmd:"" worker:"1" help:"Wait until a turn ends; print the event that says so."`
	Status      statusCmd      `cmd:"" worker:"1" help:"Print idle, working, terminated, gone or unknown."`
	ReadEvents  readEventsCmd  `cmd:"" worker:"1" help:"Print the worker's events, a JSON line each."`
	ReadTurn    readTurnCmd    `cmd:"" worker:"1" help:"Print the last turn as Markdown."`
	Stop        stopCmd        `cmd:"" worker:"1" help:"End the worker and remove what it left."`
	Handoff     handoffCmd     `cmd:"" worker:"1" help:"Say how a person takes over in tmux."`
	SessionID   sessionIDCmd   `cmd:"" name:"session-id" worker:"1" help:"Print the session id."`
	EventsFile  eventsFileCmd  `cmd:"" worker:"1" help:"Print the path of the events file."`
}

// texts are the commands whose words are a prompt, and the flags that they have.
var texts = map[string][]string{
	"send":     {"--help", "-h"},
	"converse": {"--with-turn", "--help", "-h"},
}

// order makes the words fit for the grammar. What stands behind -- in launch and adopt belongs to the harness. A prompt
// may begin with a dash, as a list in Markdown does: only the command's own flags are flags.
func order(words []string) (own, extra []string) {
	at := commandAt(words)
	if at >= len(words) {
		return words, nil
	}
	switch command := words[at]; {
	case command == "launch" || command == "adopt":
		if i := slices.Index(words, "--"); i > at {
			return words[:i], append([]string{}, words[i+1:]...)
		}
	case texts[command] != nil:
		own = slices.Clone(words[:at+1])
		var text []string
		for i, w := range words[at+1:] {
			if w == "--" {
				text = append(text, words[at+2+i:]...)
				break
			}
			if slices.Contains(texts[command], w) {
				own = append(own, w)
			} else {
				text = append(text, w)
			}
		}
		if len(text) > 0 {
			own = append(append(own, "--"), text...)
		}
		return own, nil
	}
	return words, nil
}

// trimmed is the grammar of the one command that words name: to build all of them for one is what a command costs most.
// Where words name none, it is the whole grammar. Its Worker is the second result.
func trimmed(words []string) (any, *string) {
	whole := reflect.TypeFor[grammar]()
	at := commandAt(words)
	for i := range whole.NumField() {
		f := whole.Field(i)
		if _, isCommand := f.Tag.Lookup("cmd"); !isCommand || at >= len(words) || commandName(f) != words[at] {
			continue
		}
		worker, _ := whole.FieldByName("Worker")
		version, _ := whole.FieldByName("Version")
		g := reflect.New(reflect.StructOf([]reflect.StructField{worker, version, f}))
		return g.Interface(), g.Elem().Field(0).Addr().Interface().(*string)
	}
	g := &grammar{}
	return g, &g.Worker
}

// commandName is a command's name on the command line, as kong makes it of the field's.
func commandName(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	for i, r := range f.Name {
		if i > 0 && 'A' <= r && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// commandAt is where the command stands among words: behind the program's own flags.
func commandAt(words []string) int {
	at := 0
	for at < len(words) && strings.HasPrefix(words[at], "-") {
		if words[at] == "--worker" {
			at++ // its value is no command
		}
		at++
	}
	return at
}
