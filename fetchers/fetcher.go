// Package fetchers asks the world one question and gives one JSON document: stat, http, exec, jsonl-tail.
//
// "The world said no" (no such file, a status that the spec accepts) is data. "We could not ask" is an error, and
// an error fails the poll of its target.
package fetchers

import (
	"context"
	"encoding/json"
	"time"
)

// Fetcher is one way to ask: its options as a table, which the parser of specs, the JSON Schema and the reference
// are made from, and the question itself.
type Fetcher struct {
	Name    string
	Help    string
	Options []Option
	// Doc are all the members of its document; a name with a dot is a member of a member, and a member with such names
	// has no others. The reference shows them, and lint knows by them what a document never holds.
	Doc []Member
	// Content is the member that holds what the other side said, as jq looks into it.
	Content string
	// Listed is the option with which the document is a list of such objects.
	Listed string
	// Small is the member whose own members are called by small letters alone.
	Small string
	// Stream says that the document is what is new since the position, not the state of something.
	Stream bool
	// Check finds faults that no single option shows: one of two must be set. It gets the options as they stand in
	// the spec, defaults filled in, with templates not yet resolved; it is called once, when a spec is compiled.
	Check func(options map[string]any) error
	// Fetch asks once. It returns when ctx ends, whatever the other side does, and then with the plain error of ctx:
	// a poll that was called off says nothing about the world, so that error is never an [Error]. The option
	// `timeout` is kept by Fetch itself. A Fetch of [All] remembers nothing between calls; one of a [Set] does.
	Fetch func(ctx context.Context, r Request) (Answer, error)
	// Watch, where set, names what on this disk may be worth a poll when it changes, for options as they are in
	// [Request.Options]: absolute paths of files, which need not exist, and of folders, whose entries count. It is
	// cheap, and to be asked again before each wait, since a glob finds new folders.
	Watch func(options map[string]any) []string
}

// Option is one row of a fetcher's table.
type Option struct {
	Name string
	Help string
	Type Type
	// Words are the allowed values of a Word.
	Words []string
	// Default is the value where the spec names none; nil where there is none. It has the Go type that Type names.
	Default any
	// Template says what `${}` means in this option's strings.
	Template Template
	// Env says that `${env.NAME}` is legal here.
	Env bool
	// Min and Max bound an Int, a Duration (in nanoseconds) or a Size (in bytes); both zero: no bounds.
	Min, Max int64
}

// Member is one member of a document.
type Member struct {
	Name string
	Help string
}

// Type is what an option holds. The comment names the Go type in [Request.Options].
type Type int

const (
	String   Type = iota // string
	Word                 // string, one of Words
	Int                  // int64
	Bool                 // bool
	Duration             // time.Duration; in a spec a number with a unit: 5s, 2m, 1h
	Size                 // int64, bytes; in a spec a number, or one with a unit: 512KB, 10MB, 1GB (powers of 1000)
	Ints                 // []int64
	Strings              // []string
	Map                  // map[string]string; a value that is one `${}` and comes out nil is left out
	JSON                 // any JSON value; `${}` in its strings
	Pages                // *PageOption: the word `link`, or {by: link, list: .path, max: 10}
)

// PageOption is the value of an option of type Pages.
type PageOption struct {
	By   string // link
	List string // a jq path to the list in each page's body; empty: the body is the list
	Max  int64  // pages at most
}

// Template says how `${expr}` is put into an option's strings.
type Template int

const (
	// NoTemplate: `${` is refused.
	NoTemplate Template = iota
	// Plain: the value as text, whole: one list element stays one element.
	Plain
	// InURL: the value is percent-encoded for where it stands; a `/` in a path stays, a `..` segment is refused. As
	// the very start of the string the value is taken as it is: the user typed a whole URL.
	InURL
	// InGlob: the value as text in which no character is a pattern ([GlobLiteral]).
	InGlob
)

// Request is one question.
type Request struct {
	// Options holds every option of the table that has a value, typed as [Type] says, with templates resolved.
	Options map[string]any
	// Position is what the last committed [Answer] left, nil at first. Its content belongs to the fetcher.
	Position json.RawMessage
	Now      time.Time
	// Log takes a line for the daemon log, such as what a command wrote to stderr. It may be nil.
	Log func(line string)
	// Secrets are values that came from the environment: they are redacted from errors and log lines.
	Secrets []string
	// Target is the text of the target. What a [Set] remembers for one target is never used for another.
	Target string
	// Env are the values that `exec: {shell: …}` gets as environment variables, since there is no `${}` in a shell
	// text: TARGET_PATH for target.path, the name in capitals and every other character an underscore. A value that
	// is nil is left out. Other fetchers ignore it.
	Env map[string]string
	// Narrow says which parts of the document, and which lines of a stream, its reader can need; nil: everything. It
	// is never changed, and what a [Set] keeps of an answer for one is not used for another.
	Narrow *Narrow
}

// Answer is what the world said.
type Answer struct {
	// Doc is the document, decoded behind the border of [value.Decode].
	Doc any
	// Position is the next [Request.Position]; it counts only once the poll has been committed.
	Position json.RawMessage
	// More says that there was more to read than one poll may.
	More bool
	// Committed, where set, is called after the poll was committed.
	Committed func()
	// Read counts the whole lines of a stream that this fetch went past, those left out by [Narrow] too: a stream
	// was quiet only where it is zero.
	Read int
}

// Error is a failure with a word from a closed list, so that a spec can treat "could not ask" as data.
type Error struct {
	Word string // one of FailureWords
	Err  error
	// Wait is how long asking again is of no use, where the other side said so: with it goes the word rate-limited.
	Wait time.Duration
}

// FailureWords are the values of [Error.Word].
var FailureWords = []string{
	"timeout",      // no whole answer in time
	"refused",      // nobody listens there
	"unreachable",  // no route to the host
	"dns",          // the name cannot be resolved
	"tls",          // no trust: name, date, issuer or handshake
	"reset",        // the connection broke before the answer was whole
	"rate-limited", // the host asked for patience, and it is not over
	"status",       // an HTTP status that the spec does not accept
	"redirect",     // a redirect that may not be followed
	"pages",        // a list that could not be read to its end
	"too-large",    // more than maxBytes
	"parse",        // not the form that was asked for
	"exit",         // an exit code that the spec does not accept
	"signal",       // the command was ended by a signal
	"not-found",    // no such command
	"permission",   // not allowed to read or to run it
	"not-regular",  // not a file that can be read line by line
	"io",           // the disk or the file server did not answer properly
	"invalid",      // the question itself cannot be asked: a bad URL, header or path
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// RetryAfter is Wait, for those who know no fetchers: `errors.As` with an interface finds it in a poll's error.
func (e *Error) RetryAfter() time.Duration { return e.Wait }
