// Package complete lets bash, zsh and fish complete the words of a kong program: its commands, flags and enums from
// the grammar, and everything else from the program itself.
//
// The shell's script calls the program with the hidden command [Command] and the words typed so far; the program
// prints one candidate a line, with its help behind a tab, and perhaps a line `:files` that asks the shell for file
// names. Nothing is ever printed on stderr: a fault would land in the middle of somebody's prompt.
package complete

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Command is the hidden command that the scripts call, with the name of the shell and the words.
const Command = "__complete"

// Candidate is what a word may become.
type Candidate struct{ Word, Help string }

// Values are the candidates for one word.
type Values struct {
	List []Candidate
	// Files lets the shell offer file names too.
	Files bool
}

// Place is where the word that is being typed stands.
type Place struct {
	// Command is the command's name; empty before it.
	Command string
	// Flag is the flag whose value is typed, without dashes; empty for a positional.
	Flag string
	// Words are the positionals of the command before this one.
	Words []string
	// Flags are the flags given so far.
	Flags map[string]string
}

// Completer completes the words of one program.
type Completer struct {
	Model *kong.Application
	// Values are the candidates that the grammar does not know. It may be nil.
	Values func(Place) Values
}

// Run answers a script: args are the shell and the words, the last of them the one being typed; of bash, they are the
// line up to the cursor and the characters that break words. A shell that it does not know gets nothing.
func (c Completer) Run(out io.Writer, args []string) {
	if len(args) < 2 {
		return
	}
	words, typed := args[1:], typed{}
	switch args[0] {
	case "bash":
		breaks := ""
		if len(args) > 2 {
			breaks = args[2]
		}
		words, typed = split(args[1], breaks)
	case "zsh", "fish":
		typed.plain = true
	default:
		return
	}
	found := c.Complete(words)
	for _, v := range found.List {
		fmt.Fprintf(out, "%s\t%s\n", typed.quote(v.Word), oneLine(v.Help))
	}
	if found.Files {
		fmt.Fprintln(out, ":files")
	}
}

// oneLine keeps a text from being taken for more candidates.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Complete returns what the last of words may become; before it stand the words after the program's name.
func (c Completer) Complete(words []string) Values {
	if len(words) == 0 {
		return Values{}
	}
	typing := words[len(words)-1]
	at := c.walk(words[:len(words)-1])
	var v Values
	name, value, joined := strings.Cut(typing, "=")
	switch {
	case at.pending != nil:
		v = c.values(at, at.pending.Value, at.pending.Name)
	case !at.literal && joined && strings.HasPrefix(name, "--"):
		f := at.flag(strings.TrimPrefix(name, "--"))
		if f == nil || f.IsBool() {
			return Values{}
		}
		v, typing = c.values(at, f.Value, f.Name), value
		v.List = matching(v.List, typing)
		for i := range v.List {
			v.List[i].Word = name + "=" + v.List[i].Word
		}
		return v
	case !at.literal && strings.HasPrefix(typing, "-"):
		v.List = at.flags()
	case len(at.node.Children) > 0:
		for _, n := range at.node.Children {
			if !n.Hidden {
				v.List = append(v.List, Candidate{n.Name, n.Help})
			}
		}
	default:
		v = c.values(at, at.positional(), "")
	}
	v.List = matching(v.List, typing)
	return v
}

// matching are the candidates that begin as it was typed.
func matching(list []Candidate, typed string) []Candidate {
	return slices.DeleteFunc(slices.Clone(list), func(c Candidate) bool { return !strings.HasPrefix(c.Word, typed) })
}

// position is how far the words before the one being typed have come in the grammar.
type position struct {
	node    *kong.Node
	place   Place
	pending *kong.Flag // waits for its value
	literal bool       // behind a --
}

func (c Completer) walk(words []string) position {
	at := position{node: c.Model.Node, place: Place{Flags: map[string]string{}}}
	for _, w := range words {
		name, value, joined := strings.Cut(strings.TrimPrefix(w, "--"), "=")
		switch {
		case at.pending != nil:
			at.place.Flags[at.pending.Name], at.pending = w, nil
		case !at.literal && w == "--":
			at.literal = true
		case !at.literal && strings.HasPrefix(w, "--"):
			f := at.flag(name)
			at.place.Flags[name] = value
			if f != nil && !f.IsBool() && !joined {
				at.pending = f
			}
		case !at.literal && strings.HasPrefix(w, "-") && w != "-":
		default:
			if next := child(at.node, w); next != nil {
				at.node, at.place.Command = next, strings.TrimSpace(at.place.Command+" "+next.Name)
			} else {
				at.place.Words = append(at.place.Words, w)
			}
		}
	}
	return at
}

func child(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

func (at position) flag(name string) *kong.Flag {
	for _, group := range at.node.AllFlags(false) {
		for _, f := range group {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}

// flags are the flags that may still be given here.
func (at position) flags() (list []Candidate) {
	for _, group := range at.node.AllFlags(true) {
		for _, f := range group {
			if _, given := at.place.Flags[f.Name]; !given || f.IsCumulative() {
				list = append(list, Candidate{"--" + f.Name, f.Help})
			}
		}
	}
	return list
}

// positional is the argument of the grammar that the word being typed is; nil: there is none any more.
func (at position) positional() *kong.Value {
	all := at.node.Positional
	n := len(at.place.Words)
	switch {
	case n < len(all):
		return all[n]
	case len(all) > 0 && all[len(all)-1].IsCumulative():
		return all[len(all)-1]
	}
	return nil
}

// values are the candidates for a value of the grammar.
func (c Completer) values(at position, v *kong.Value, flag string) Values {
	switch {
	case v == nil:
		return Values{}
	case v.Enum != "":
		var list []Candidate
		for _, word := range v.EnumSlice() {
			list = append(list, Candidate{Word: word})
		}
		return Values{List: list}
	case c.Values == nil:
		return Values{}
	}
	at.place.Flag = flag
	return c.Values(at.place)
}
