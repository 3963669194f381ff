// Package harness knows the coding agents that csd drives: how each is started so that it asks nothing, when it takes
// prompts, how a text reaches it as text, what it says of its own state, and how it ends.
//
// What a client writes into files is believed before what it paints. A screen is read where nothing else tells, and a
// key is pressed only when the screen shows that it will do what is meant.
package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/csd/transcript"
)

// Worker is one worker as a harness needs to know it.
type Worker struct {
	Name      string // of the worker and of its tmux session
	CWD       string // an absolute path without symbolic links
	SessionID string // given by csd to a client that takes one; empty where the client makes its own
	Home      string // the private folder of a client that gets one; made by Prepare
	HookExe   string // the absolute path of the program that its hooks call; only for Prepare and Resume
	Root      *store.Root
	Args      []string                 // what the user adds to the client's arguments
	Getenv    func(name string) string // the caller's environment
	Environ   []string                 // the same, whole
}

// Start says how to start a client, and what is known of its session before it runs.
type Start struct {
	Launch         store.Launch
	SessionID      string // empty if the client makes it
	ConfigDir      string // the client's own folder: [Harness.Live] reads there
	TranscriptPath string // empty if only the client knows
}

// Harness is one kind of client. Its methods keep nothing between calls and may be called from several goroutines.
type Harness interface {
	// Kind is the form of its transcripts.
	Kind() transcript.Kind

	// Prepare makes what a new session needs: the private folder, its configuration, hooks, copies of the logins. It
	// starts nothing.
	Prepare(ctx context.Context, w Worker) (Start, error)

	// Resume is Prepare for a session that was there before. It fails where nothing is left of that session.
	Resume(ctx context.Context, w Worker, id string) (Start, error)

	// Ready returns when the client takes prompts. It answers the dialogs it knows. Errors: *[DialogError] for one
	// that only a person can answer, *[DiedError] as soon as the client has ended, *[NotReadyError] when ctx ends.
	Ready(ctx context.Context, w Worker, s Screen) error

	// Text is what has to be pasted so that the prompt arrives as the text it is, and not as a command of the client.
	// An error says why this prompt cannot be sent.
	Text(prompt string) (pasted string, err error)

	// InComposer reports whether the prompt, or what Text made of it, still stands in the input box of this screen: that
	// another Enter is needed. It is false while a dialog is open, so that no Enter answers one.
	InComposer(screen, prompt string) bool

	// Queues says what becomes of a prompt that is given while a turn runs.
	Queues() Queue

	// Live is what the client itself says of its state; ok is false where it says nothing. pid is its process.
	Live(ctx context.Context, pid int, m store.Meta) (live Live, ok bool)

	// Quit asks the client to end and returns nil when it has ended. Whatever stands in its input box is thrown away,
	// and a turn that runs is broken off. When ctx ends first, the client may still be about to end.
	Quit(ctx context.Context, s Screen) error

	// Keep puts aside what Resume needs after the worker's private folder is gone. The client must have ended.
	Keep(ctx context.Context, w Worker, m store.Meta) error

	// Return copies a login that the client renewed back to where it was copied from. An older one is never copied,
	// and none over a login that changed there meanwhile.
	Return(ctx context.Context, w Worker) error
}

// Screen is the terminal of one worker, and the one thing that its events tell about a start.
type Screen interface {
	// Pane is the client's pane. Errors as [tmux.Server.Pane].
	Pane(ctx context.Context) (tmux.Pane, error)
	// Capture is the visible text.
	Capture(ctx context.Context) (string, error)
	// Keys presses keys by tmux's names; Literal types text.
	Keys(ctx context.Context, keys ...string) error
	Literal(ctx context.Context, text string) error
	// Started reports whether a session_start event was written since this start of the client, not in an earlier
	// life of the worker.
	Started(ctx context.Context) (bool, error)
}

// History is what a Screen may be able to do besides: a pane whose process has ended shows that in its last line, and
// what it said first scrolls out of sight for it.
type History interface {
	// History is the visible text and so many lines that have scrolled out above it.
	History(ctx context.Context, lines int) (string, error)
}

// Queue is what becomes of a prompt that is given while a turn runs.
type Queue string

// The ways of clients.
const (
	// QueueFolds: its user_prompt_submit comes at once; the running turn takes it in where it can, else it is the next.
	QueueFolds Queue = "folds"
	// QueueNext: its user_prompt_submit comes only when it is taken in: by the running turn, whose id it has then, when
	// that asks the model the next time, or as the next turn.
	QueueNext Queue = "next"
)

// Live is what a client says of its own state.
type Live struct {
	State      State
	WaitingFor string // of a waiting client: permission, dialog, question, trust, login
	SessionID  string // empty if it does not say
	Since      time.Time
}

// State is a client's own word for what it does.
type State string

// The states.
const (
	Idle    State = "idle"
	Busy    State = "busy"    // a turn runs
	Shell   State = "shell"   // no turn runs, but commands in the background do
	Waiting State = "waiting" // for a person
	// Retrying: the client sleeps before it asks the model again. A prompt that comes now is lost.
	Retrying State = "retrying"
)

// names are the clients in the order in which a person is told of them.
var names = []string{"claude", "codex", "pi"}

// Names are the names that [For] knows.
func Names() []string { return append([]string(nil), names...) }

// For is the harness of a name.
func For(name string) (Harness, error) {
	switch name {
	case "claude":
		return claude{}, nil
	case "codex":
		return codex{}, nil
	case "pi":
		return pi{}, nil
	}
	return nil, fmt.Errorf("no harness is called %q: known are %s", name, strings.Join(names, ", "))
}
