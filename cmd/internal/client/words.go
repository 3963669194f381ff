package client

import (
	"slices"
	"strings"
)

// Serving says which daemon a command talks to.
type Serving struct {
	ID string `name:"id" placeholder:"NAME" help:"The file sink of that name, instead of the Claude Code session around."`
}

// CommandAt is where the command stands among args: behind the program's own flags.
func CommandAt(args []string) int {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		if args[at] == "--spec" || args[at] == "--id" {
			at++ // its value is no command
		}
		at++
	}
	return at
}

// hoisted are the program's own flags with a value, of commands that take the words of a source.
var hoisted = map[string][]string{
	"watch":   {"--id", "--spec"},
	"unwatch": {"--id", "--spec"},
	"try":     {"--spec", "--polls", "--interval", "--record"},
}

// Hoist moves the program's own flags in front of the words of a target. Behind the first word of a target every flag
// belongs to the source; but users write --id and --spec last.
func Hoist(args []string) []string {
	at := CommandAt(args)
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
