package csd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/transcript"
)

// hookGrace is how long a turn's end may stand in the transcript before csd reports it in the place of a hook. Hooks
// that do fire write within a second or so, before or after the client writes its own record.
const hookGrace = 3 * time.Second

// deathGrace is how long after the end of a client, or of its tmux session, the last word of its hook may come.
const deathGrace = time.Second

// reconcile adds the events that no hook tells: turns that a person broke off, errors of the model's API for which the
// client has no hook, and the end of a client that was killed. It reads only what the transcript gained since the last
// time, whoever looked then. later says that something is too fresh to be told and is worth another look.
func (w *Worker) reconcile(ctx context.Context, alive bool, live harness.Live) (later bool, err error) {
	if !w.registered {
		return false, nil
	}
	if _, err := os.Stat(w.events()); errors.Is(err, os.ErrNotExist) {
		return false, nil // nothing was ever told of it
	}
	path := w.transcript()
	err = w.updateState(ctx, func(s *store.State) error {
		if path != s.Transcript {
			s.Transcript, s.Offset, s.TerminalsOffset, s.Terminals = path, 0, 0, nil
		}
		if path != "" {
			if later, err = w.reconcileTurns(s); err != nil {
				return err
			}
			if w.kind() == transcript.Codex {
				if err := readTerminals(s); err != nil {
					return err
				}
			}
		}
		if !alive {
			wait, err := w.reportDeath(s)
			later = later || wait
			return err
		}
		s.Dead = time.Time{}
		return w.reportBrokenOff(live)
	})
	if store.NoRoom(err) { // for the event: it is told when there is, and what is told already can be read
		return alive, nil
	}
	return later, err
}

// reportBrokenOff says that a turn ended of which neither a hook nor the transcript tells: a person broke it off before
// the model had said a word, and the client put the prompt back into its input box. Only the client's own state shows
// that.
func (w *Worker) reportBrokenOff(live harness.Live) error {
	if live.State != harness.Idle && live.State != harness.Shell {
		return nil
	}
	s, err := w.state()
	if err != nil || !w.overdue(s, live) {
		return err
	}
	return event.AppendExisting(w.events(), event.Event{
		Name: event.Stop, At: live.Since, Worker: w.name, Harness: w.meta.Harness, SessionID: w.meta.SessionID, TurnID: s.Last.TurnID,
		TranscriptPath: w.meta.TranscriptPath, Source: event.SourceClient, Interrupted: true,
	})
}

// overdue reports whether the client has been idle for longer than a hook may be late, while the events say that a turn
// runs.
func (w *Worker) overdue(s event.State, live harness.Live) bool {
	return s.State == event.Working && !live.Since.IsZero() && !live.Since.Before(s.Last.At) && w.fleet.Now().Sub(live.Since) > hookGrace
}

// reconcileTurns appends the missing ends of turns.
func (w *Worker) reconcileTurns(s *store.State) (later bool, err error) {
	ends, next, err := transcript.Ends(w.kind(), s.Transcript, s.Offset)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now := w.fleet.Now()
	for _, end := range ends {
		if !end.Interrupted && end.Error == nil {
			continue // there is a hook for every turn that ends well
		}
		told, err := w.told(end)
		if err != nil {
			return false, err
		}
		if told {
			continue
		}
		if now.Sub(end.At) < hookGrace && w.hookTells(end) {
			s.Offset = end.Offset
			return true, nil
		}
		e := event.Event{
			Name: event.Stop, At: end.At, Worker: w.name, Harness: w.meta.Harness, SessionID: w.meta.SessionID, TurnID: end.TurnID,
			TranscriptPath: s.Transcript, Source: event.SourceTranscript, Interrupted: end.Interrupted, LastAssistantMessage: event.Cut(end.LastMessage),
		}
		if end.Error != nil {
			e.Error = &event.Failure{Type: event.FailureType(end.Error.Type), Message: end.Error.Message}
		}
		if err := event.AppendExisting(w.events(), e); err != nil {
			return false, err
		}
	}
	s.Offset = next
	return false, nil
}

// hookTells reports whether the client has a hook for such an end, so that its event may be on its way.
func (w *Worker) hookTells(end transcript.End) bool {
	switch w.kind() {
	case transcript.Claude:
		return end.Error != nil
	case transcript.Codex:
		return end.Interrupted
	}
	return true
}

// toldWithin is how many bytes of events are searched for the end of a turn.
const toldWithin = 4 << 20

// told reports whether the events have the end of a turn already, or are past it.
func (w *Worker) told(end transcript.End) (bool, error) {
	read := 0
	for line, err := range event.Backward(w.events()) {
		if err != nil {
			return false, err
		}
		if read += len(line.Raw); read > toldWithin {
			return true, nil
		}
		e, err := event.Parse(line.Raw)
		if err != nil {
			continue
		}
		switch {
		case e.Name == event.Stop && e.TurnID == end.TurnID:
			return true, nil
		case e.Name == event.UserPromptSubmit && e.TurnID == end.TurnID:
			return false, nil
		case e.Name == event.SessionEnd && e.SessionID == w.meta.SessionID:
			return true, nil // its turns ended with it
		case e.Name == event.SessionStart && e.Source != event.SourceCompact && e.At.After(end.At):
			return true, nil // an end of an earlier life of the session
		}
	}
	return true, nil // a turn that no event knows, as of before an adoption
}

// readTerminals follows the commands that Codex runs in the background.
func readTerminals(s *store.State) error {
	var running []transcript.Terminal
	if len(s.Terminals) > 0 && json.Unmarshal(s.Terminals, &running) != nil {
		running, s.TerminalsOffset = nil, 0
	}
	running, next, err := transcript.Terminals(s.Transcript, s.TerminalsOffset, running)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.Terminals, err = json.Marshal(running); err != nil {
		return err
	}
	s.TerminalsOffset = next
	return nil
}

// reasonDied is the reason of a session_end that csd writes for a client that could not say it itself.
const reasonDied = "died"

// reportDeath says once that the client is gone, unless its own hook does, which gets a while to.
func (w *Worker) reportDeath(seen *store.State) (later bool, err error) {
	s, err := w.state()
	if err != nil || s.State == event.Terminated || s.State == event.StateUnknown {
		return false, err
	}
	now := w.fleet.Now()
	if seen.Dead.IsZero() {
		seen.Dead = now
	}
	if now.Sub(seen.Dead) < deathGrace {
		return true, nil
	}
	return false, event.AppendExisting(w.events(), event.Event{
		Name: event.SessionEnd, At: seen.Dead, Worker: w.name, Harness: w.meta.Harness, SessionID: w.meta.SessionID, Reason: reasonDied,
	})
}

// live is what the client itself says of its state.
func (w *Worker) live(ctx context.Context, pid int) (harness.Live, bool) {
	return w.harness.Live(ctx, pid, w.meta)
}
