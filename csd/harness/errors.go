package harness

import (
	"fmt"
	"strings"
)

// DialogError says that the client waits for an answer that only a person can give.
type DialogError struct {
	What string // in a word or two: "login", "dialog"
	Pane string // what stands on its screen
	Hint string // what to do; may be empty
}

func (e *DialogError) Error() string {
	return "the client waits for a person (" + e.What + ")" + quoted(e.Pane)
}

// DiedError says that the client ended while it was to start.
type DiedError struct {
	Status int    // its exit status
	Signal string // the number of the signal that ended it, if one did
	Gone   bool   // its whole session is gone, so that nothing more is known
	Pane   string // its last words
	Hint   string // what to do; may be empty
}

func (e *DiedError) Error() string {
	how := fmt.Sprintf("ended with status %d", e.Status)
	switch {
	case e.Gone:
		how = "ended, and its tmux session with it"
	case e.Signal != "":
		how = "was ended by signal " + e.Signal
	}
	return "the client " + how + quoted(e.Pane)
}

// NotReadyError says that the time for a start ran out.
type NotReadyError struct {
	Pane string // what stands on its screen
	Hint string // what to do; may be empty
	Err  error  // the end of the context
}

func (e *NotReadyError) Error() string {
	return "the client did not come to take prompts in time" + quoted(e.Pane)
}

func (e *NotReadyError) Unwrap() error { return e.Err }

// ArgError says that an argument would take the client out of csd's hands.
type ArgError struct{ Arg, Why string }

func (e *ArgError) Error() string { return fmt.Sprintf("argument %s: %s", e.Arg, e.Why) }

// shownLines is how much of a screen an error shows.
const shownLines = 20

// quoted puts the last lines of a screen under an error.
func quoted(screen string) string {
	lines := visible(screen)
	if len(lines) == 0 {
		return ""
	}
	if len(lines) > shownLines {
		lines = lines[len(lines)-shownLines:]
	}
	return "; its screen:\n  " + strings.Join(lines, "\n  ")
}

// visible are the lines of a screen that hold anything, without the space behind them.
func visible(screen string) []string {
	var out []string
	for line := range strings.Lines(screen) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}
