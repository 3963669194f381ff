package csd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/csd/transcript"
)

// The states of a worker.
const (
	Idle       = event.Idle
	Working    = event.Working
	Terminated = event.Terminated   // its client said that it ended
	Gone       = "gone"             // its client does not run
	Unknown    = event.StateUnknown // it runs, and its events say nothing
)

// Status is what is known of a worker now.
type Status struct {
	Name         string       `json:"name"`
	Harness      string       `json:"harness"`
	SessionID    string       `json:"session_id,omitempty"`
	CWD          string       `json:"cwd,omitempty"`
	State        string       `json:"state"`
	Since        *time.Time   `json:"since"`                 // when it came into this state; null where nothing tells
	Turns        int          `json:"turns"`                 // that ended
	LastError    *LastError   `json:"last_error"`            // of the last turn, if that failed
	WaitingFor   string       `json:"waiting_for,omitempty"` // permission, dialog, question, trust, login: a person has to act
	LastActivity *time.Time   `json:"last_activity"`         // of its last event
	Background   []event.Task `json:"background"`            // what runs on after a turn
	Worktree     *Worktree    `json:"worktree"`              // of the folder it works in; null where that is in none
	Shim         string       `json:"shim,omitempty"`        // drives it
	Events       string       `json:"events_file,omitempty"` // what it did
	Transcript   string       `json:"transcript,omitempty"`  // what was said
	TmuxSocket   string       `json:"tmux_socket,omitempty"` // of the server that has its session
	Registered   bool         `json:"registered"`            // false: it has no session id before its first prompt
	Error        string       `json:"error,omitempty"`       // why not all of this is known; then turns, for one, may be more
	pane         tmux.Pane    `json:"-"`
	live         harness.Live `json:"-"`
}

// LastError is how the last turn failed.
type LastError struct {
	At      time.Time         `json:"at"`
	Type    event.FailureType `json:"type"`
	Message string            `json:"message"`
}

// Status looks at the worker. detail adds what needs more than its last events: turns, background work and the work tree.
func (w *Worker) Status(ctx context.Context, detail bool) (Status, error) {
	if err := w.needsID(); err != nil {
		return Status{}, err
	}
	pane, err := w.pane(ctx)
	if err != nil && !errors.Is(err, errGone) {
		return Status{}, err
	}
	s, err := w.status(ctx, pane, err == nil)
	if err != nil || !detail {
		return s, err
	}
	if err := w.detail(ctx, &s); err != nil {
		return s, err
	}
	s.Worktree = worktreeOf(ctx, w.meta.CWD, w.fleet.Environ)
	return s, nil
}

// status is the state of the worker whose pane is known. Where hooks are silent, the client's own word and its
// transcript decide.
func (w *Worker) status(ctx context.Context, pane tmux.Pane, alive bool) (Status, error) {
	s := Status{
		Name: w.name, Harness: w.meta.Harness, SessionID: w.meta.SessionID, CWD: w.meta.CWD, State: Unknown, Registered: w.registered,
		Shim: w.fleet.root.Shim(w.name), Transcript: w.meta.TranscriptPath, TmuxSocket: w.meta.TmuxSocket, pane: pane, Background: []event.Task{},
	}
	if !w.registered {
		if !alive && !w.fleet.root.Reserved(w.name) {
			s.State = Gone
		}
		return s, nil
	}
	s.Events = w.events()
	told, err := w.state()
	if err != nil {
		return s, err
	}
	if alive {
		s.live, _ = w.live(ctx, pane.PID)
	}
	if told.State == Working && (!alive || w.silentEnd(told, s.live)) {
		if _, err := w.reconcile(ctx, alive, s.live); err != nil {
			return s, err
		}
		if told, err = w.state(); err != nil {
			return s, err
		}
	}
	s.State = told.State
	switch {
	case !alive && told.State == Unknown && w.fleet.root.Reserved(w.name): // it is being launched: it has files before a client
	case !alive:
		s.State = Gone
	case s.live.State == harness.Waiting:
		s.WaitingFor = s.live.WaitingFor
	case told.State == Working && (s.live.State == harness.Idle || s.live.State == harness.Shell) && s.live.Since.After(told.Last.At.Add(hookGrace)):
		s.State, told.Since = Idle, s.live.Since // a turn that a person broke off before anything was written of it
	case told.State == Idle && s.live.State == harness.Busy && s.live.Since.After(told.Last.At.Add(hookGrace)):
		s.State, told.Since = Working, s.live.Since // a turn of which no hook tells, such as a compaction
	}
	if !told.Since.IsZero() {
		s.Since = &told.Since
	}
	if !told.Last.At.IsZero() {
		s.LastActivity = &told.Last.At
	}
	return s, nil
}

// silentEnd reports whether a turn that the events call running may have ended without a hook.
func (w *Worker) silentEnd(told event.State, live harness.Live) bool {
	switch w.kind() {
	case transcript.Claude:
		return live.State == harness.Idle || live.State == harness.Shell || live.State == ""
	case transcript.Codex:
		return true
	}
	return false
}

// detail counts the turns and finds what runs in the background.
func (w *Worker) detail(ctx context.Context, s *Status) error {
	if !w.registered {
		return nil
	}
	if _, err := os.Stat(w.events()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := w.reconcile(ctx, s.State != Gone, s.live); err != nil {
		return err
	}
	kept, err := w.tally(ctx)
	if err != nil {
		return err
	}
	s.Turns = kept.Tally.Turns
	if kept.Tally.Error != nil {
		s.LastError = &LastError{At: kept.Tally.ErrorAt, Type: kept.Tally.Error.Type, Message: kept.Tally.Error.Message}
	}
	if s.State == Gone || s.State == Terminated {
		return nil
	}
	if w.kind() == transcript.Codex {
		var running []transcript.Terminal
		_ = json.Unmarshal(kept.Terminals, &running) // a state that cannot be read is read anew the next time
		for _, t := range running {
			s.Background = append(s.Background, event.Task{ID: t.CallID, Type: "shell", Status: "running", Command: t.Command})
		}
		return nil
	}
	s.Background, err = w.background()
	return err
}

// background is what the last stop told of, less what has ended since.
func (w *Worker) background() ([]event.Task, error) {
	ended := map[string]bool{}
	read := 0
	for line, err := range event.Backward(w.events()) {
		if err != nil {
			return nil, err
		}
		if read += len(line.Raw); read > toldWithin {
			break
		}
		e, err := event.Parse(line.Raw)
		if err != nil {
			continue
		}
		if e.Name == event.UserPromptSubmit && e.Notification != nil && e.Notification.Status != "" {
			ended[e.Notification.TaskID] = true
		}
		if e.Name == event.SessionStart && e.Source != event.SourceCompact {
			break // nothing of it lives on from before
		}
		if e.Name == event.Stop && e.Source == "" {
			running := []event.Task{}
			for _, t := range e.BackgroundTasks {
				if !ended[t.ID] {
					running = append(running, t)
				}
			}
			return running, nil
		}
	}
	return []event.Task{}, nil
}
