package hook

import (
	"context"
	"encoding/json"
	"os"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/transcript"
)

// record is one call of a hook that has something to say.
type record struct {
	root    *store.Root
	session store.Session
}

// write appends e, if the root knows the worker.
func (r record) write(ctx context.Context, e event.Event) {
	e.Worker, e.Harness, e.At = r.session.Worker, r.session.Harness, r.session.At
	// A client tells of a new session with its start; where that was missed, with the next prompt. What else comes from
	// a session that is not the worker's, as of a subagent, does not make it the worker's.
	r.session.Begins = e.Name == event.SessionStart || e.Name == event.UserPromptSubmit
	if r.session.Harness == "codex" || e.Name == event.UserPromptSubmit { // the others need no second look
		m, known := r.root.Lookup(r.session.Worker, r.session.ID)
		known = known && m.TmuxName == r.session.Worker
		switch {
		case known && r.session.Harness == "codex" && m.SessionID != r.session.ID && nested():
			return
		case known && e.Name == event.UserPromptSubmit:
			e.Queued = e.Queued || r.running(m, e.TurnID)
		case known && e.Name == event.Stop:
			e.BackgroundTasks = r.terminals(ctx, e.TranscriptPath)
		}
	}
	_ = r.root.Record(ctx, r.session, e) // nobody is there to hear of it
}

// running reports whether the turn with the id runs already: a prompt that is given to a busy client is told at once,
// under the id of the turn that it waits for or is folded into.
func (r record) running(m store.Meta, turn string) bool {
	s, err := event.Of(r.root.EventsFile(m))
	return err == nil && turn != "" && s.State == event.Working && s.Last.TurnID == turn
}

// maxUnread is how much of a rollout a hook goes through at most, which takes it some milliseconds. Only where csd's
// notes were lost can there be more.
const maxUnread = 32 << 20

// terminals are the background terminals that run at the end of a turn of codex, which tells them to its rollout only.
func (r record) terminals(ctx context.Context, rollout string) []event.Task {
	info, err := os.Stat(rollout)
	if err != nil {
		return nil
	}
	var running []transcript.Terminal
	_ = r.root.UpdateState(ctx, r.session.Worker, func(s *store.State) error {
		offset := s.TerminalsOffset
		if s.Transcript != rollout || offset > info.Size() || json.Unmarshal(s.Terminals, &running) != nil {
			running, offset = nil, 0
		}
		if info.Size()-offset > maxUnread {
			running = nil
			return errSkipped
		}
		var err error
		if running, offset, err = transcript.Terminals(rollout, offset, running); err != nil {
			return err
		}
		if s.Terminals, err = json.Marshal(running); err != nil {
			return err
		}
		if s.Transcript != rollout {
			s.Transcript, s.Offset = rollout, 0
		}
		s.TerminalsOffset = offset
		return nil
	})
	var all []event.Task
	for _, t := range running {
		all = append(all, event.Task{ID: t.CallID, Type: "shell", Status: "running", Command: t.Command})
	}
	return all
}
