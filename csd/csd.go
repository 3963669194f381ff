// Package csd drives coding agents (Claude Code, Codex, Pi) in tmux as workers: it launches them, sends prompts, waits
// for turns, reads what they did, adopts and stops them.
//
// Nothing here trusts a screen where an event or a file says it. What a worker does is in its events file, written by
// the hooks of its client (csd/hook); what it said is in the client's transcript (csd/transcript); whether it lives is
// its pane's process, since the client is that process. The files of all workers are in one private folder (csd/store).
package csd

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
)

// Options say what a Fleet sees of its surroundings.
type Options struct {
	Getenv  func(string) string
	Environ []string         // the environment that workers get, cleaned of what a surrounding session left
	Exe     string           // the absolute path of csd itself: shims and panes call it
	HookExe func() string    // the absolute path of the program that hooks call, asked for once a launch; nil: Exe
	Notes   io.Writer        // what a person should know while something goes on; never a result
	Now     func() time.Time // nil means time.Now
}

// Fleet is all workers of one root folder. Its methods may be called from several goroutines and several processes at
// the same time.
type Fleet struct {
	Options
	root     *store.Root
	settings Settings
}

// Open opens the root folder that the environment names; where there is none, the first worker makes it. A folder that
// is another user's, or behind a symbolic link, is refused.
func Open(o Options) (*Fleet, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.HookExe == nil {
		o.HookExe = func() string { return o.Exe }
	}
	if o.Notes == nil {
		o.Notes = io.Discard
	}
	root, err := store.Open(o.Getenv)
	if err != nil {
		return nil, err
	}
	return &Fleet{Options: o, root: root, settings: SettingsOf(o.Getenv)}, nil
}

func (f *Fleet) note(format string, args ...any) { fmt.Fprintf(f.Notes, format+"\n", args...) }

// server is the tmux server at a socket; of the empty socket the one that tmux itself would talk to.
func (f *Fleet) server(socket string) *tmux.Server {
	return &tmux.Server{Socket: socket, Env: f.tmuxEnv()}
}

// Kind says in which way a call failed. Callers act on it: it is an exit code of the command.
type Kind int

// The kinds.
const (
	Failed      Kind = iota // it could not be done
	Usage                   // the words were wrong; nothing was done
	APIError                // the turn ended, and the model's API had failed
	NeedsPerson             // the worker waits for a person: a dialog, a login
	TimedOut                // the time ran out; the worker goes on
)

// Error is a failure as a user should read it.
type Error struct {
	Kind Kind
	Text string // what is wrong; may be empty where the cause says it
	Hint string // what to do; may be empty
	Err  error  // the cause; may be nil
}

// Error is the text, with the cause behind it.
func (e *Error) Error() string {
	if e.Text == "" && e.Err != nil {
		return e.Err.Error()
	}
	if e.Err != nil {
		return e.Text + ": " + e.Err.Error()
	}
	return e.Text
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of any error: one that is not ours is a failure.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Failed
}

// HintOf is what a user can do about any error of this package; empty where there is nothing to say.
func HintOf(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Hint != "" {
		return e.Hint
	}
	if unreachable := (*tmux.UnreachableError)(nil); errors.As(err, &unreachable) {
		if errors.Is(err, exec.ErrNotFound) {
			return "install tmux, or put it on the PATH"
		}
		return "see what `" + tmuxAt(unreachable.Socket) + " ls` says"
	}
	return ""
}

func failf(hint, format string, args ...any) error {
	return &Error{Kind: Failed, Text: fmt.Sprintf(format, args...), Hint: hint}
}

func usagef(hint, format string, args ...any) error {
	return &Error{Kind: Usage, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// tmuxEnv is the environment of tmux commands, and so of a server that one of them starts: everything that lives in
// that server would inherit what marks the processes of one worker.
func (f *Fleet) tmuxEnv() []string {
	return slices.DeleteFunc(slices.Clone(f.Environ), func(e string) bool {
		return strings.HasPrefix(e, "CSD_TMUX_NAME=") || strings.HasPrefix(e, "CSD_EXE=")
	})
}
