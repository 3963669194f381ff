package csd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/tmux"
)

// MaxPrompt is how many bytes a prompt may have.
const MaxPrompt = 1 << 20

// Sent is a prompt that a worker has taken.
type Sent struct {
	Events     int64  // the end of the worker's events before it
	Transcript int64  // the end of its transcript before it
	Digest     string // of the prompt, as the events have it
	TurnID     string // of the turn that answers it; empty while it is queued
	// Queued says that a turn ran when it was sent. It is the next turn, or goes into the running one: which of the two,
	// the transcript tells.
	Queued bool
}

// Send gives the worker a prompt and returns when it has taken it: when the worker's own event tells of this very text.
// A worker that is busy queues it. Sends to one worker wait for each other, so that two callers never mix their texts.
func (w *Worker) Send(ctx context.Context, prompt string) (Sent, error) {
	prompt = clean(prompt)
	switch {
	case strings.TrimSpace(prompt) == "":
		return Sent{}, usagef("give a text, or - for standard input", "the prompt is empty")
	case len(prompt) > MaxPrompt:
		return Sent{}, failf("write it to a file, and send a prompt that names the file", "the prompt has %d bytes; %d are the most", len(prompt), MaxPrompt)
	}
	unlock, err := w.fleet.root.Lock(ctx, w.name)
	if err != nil {
		return Sent{}, err
	}
	defer unlock()
	pane, err := w.pane(ctx)
	if errors.Is(err, errGone) {
		return Sent{}, w.gone()
	}
	if err != nil {
		return Sent{}, err
	}
	return w.send(ctx, pane, prompt)
}

// pasteMarks are what a terminal sets around a paste. In a prompt they would end it early, and what follows would be
// keys.
var pasteMarks = strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "")

// clean takes out of a prompt what is no text: marks of pastes, also those that appear when one is taken out, and
// other control characters.
func clean(prompt string) string {
	for strings.Contains(prompt, "\x1b[20") {
		shorter := pasteMarks.Replace(prompt)
		if shorter == prompt {
			break
		}
		prompt = shorter
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(prompt, "\ufffd"))
}

// sending is one prompt on its way.
type sending struct {
	*Worker
	target  tmux.Target
	pid     int
	prompt  string
	pasted  string // what stands in the input box
	busy    bool
	retried int
	other   bool // a prompt came in the meantime that is not this one, as far as its digest tells
	sent    Sent
	read    int64 // how far the events were read
}

func (w *Worker) send(ctx context.Context, pane tmux.Pane, prompt string) (Sent, error) {
	s := &sending{Worker: w, target: pane.Target(), pid: pane.PID, prompt: prompt}
	var err error
	if s.pasted, err = w.harness.Text(prompt); err != nil {
		return Sent{}, failf("write it in other words, or to a file that the prompt names", "%v", err)
	}
	s.sent.Digest = event.Digest(prompt)
	if err := s.look(ctx); err != nil {
		return Sent{}, err
	}
	if !s.busy {
		thrown, err := harness.Clear(ctx, w.harness, w.screenOf(pane))
		if err != nil {
			return Sent{}, err
		}
		if thrown != "" {
			w.fleet.note("note: what stood in the input box of worker %s is thrown away", w.name)
		}
	}
	if err := s.paste(ctx); err != nil {
		return Sent{}, err
	}
	if !w.registered {
		if err := s.register(ctx); err != nil {
			return Sent{}, err
		}
	}
	return s.confirm(ctx)
}

// look notes where the worker's files end, and whether it can take a prompt at all.
func (s *sending) look(ctx context.Context) (err error) {
	live, ok := s.live(ctx, s.pid)
	if ok {
		switch live.State {
		case harness.Waiting:
			return s.needsPerson(ctx, live)
		case harness.Retrying:
			return failf("wait-for-turn ends when the turn does", "worker %s sleeps before it asks the model's API again, and would lose the prompt", s.name)
		case harness.Busy:
			s.busy = true
		}
	}
	if !s.registered {
		return nil
	}
	if _, err := s.reconcile(ctx, true, live); err != nil {
		return err
	}
	state, err := s.state()
	if err != nil {
		return err
	}
	if !ok && state.State == event.Working {
		s.busy = true
	}
	if s.sent.Events, err = s.eventsEnd(); err != nil {
		return err
	}
	s.read = s.sent.Events
	if path := s.transcript(); path != "" {
		if info, err := os.Stat(path); err == nil {
			s.sent.Transcript = info.Size()
		}
	}
	return nil
}

func (w *Worker) needsPerson(ctx context.Context, live harness.Live) error {
	what := live.WaitingFor
	if what == "" {
		what = "dialog"
	}
	return &Error{
		Kind: NeedsPerson, Text: fmt.Sprintf("worker %s waits for a person: %s", w.name, what),
		Hint: "see it, and answer: " + w.attachWords(ctx),
	}
}

func (s *sending) paste(ctx context.Context) error {
	err := s.server().Paste(ctx, s.target, []byte(s.pasted))
	if err == nil {
		err = s.enter(ctx)
	}
	if errors.Is(err, tmux.ErrDead) || errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoPane) {
		return s.gone()
	}
	return err
}

func (s *sending) enter(ctx context.Context) error { return s.server().Keys(ctx, s.target, "Enter") }

// register waits for the first prompt of a worker to give it an id.
func (s *sending) register(ctx context.Context) error {
	changes := watchFiles(filepath.Join(s.fleet.root.Path(), "names", s.name))
	defer changes.close()
	end := time.NewTimer(s.fleet.settings.Register)
	defer end.Stop()
	again := s.ticker()
	defer again.Stop()
	for {
		if err := s.again(); err != nil {
			return err
		}
		if s.registered {
			return nil
		}
		select {
		case <-changes.C:
		case <-again.C:
			if _, err := s.nudge(ctx); err != nil {
				if s.again() == nil && s.registered { // it took the prompt, and then ended
					return nil
				}
				return err
			}
		case <-end.C:
			return s.failed(ctx, "CSD_REGISTER_TIMEOUT gives it longer", fmt.Sprintf("worker %s told no session id within %s of its first prompt", s.name, s.fleet.settings.Register))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ticker is for the moments at which Enter may be needed again.
func (s *sending) ticker() *time.Ticker {
	return time.NewTicker(max(s.fleet.settings.SubmitRetry, 50*time.Millisecond))
}

// nudge presses Enter once more if the text still stands in the input box. It reports whether it does.
func (s *sending) nudge(ctx context.Context) (stands bool, err error) {
	if _, err := s.Worker.pane(ctx); errors.Is(err, errGone) {
		return false, s.gone()
	} else if err != nil {
		return false, err
	}
	text, err := s.server().Capture(ctx, s.target, 0)
	if err != nil {
		return false, err
	}
	if s.harness.InComposer(text, s.pasted) {
		return true, s.enter(ctx)
	}
	// An empty box of a client that is idle and has told of no prompt, twice: the text itself was lost.
	if !s.busy && !s.other && s.idle(ctx, text) {
		if s.retried++; s.retried == 2 {
			return true, s.paste(ctx)
		}
	}
	return false, nil
}

// idle reports whether the client does nothing: by its own word or, of one that says none, by its screen.
func (s *sending) idle(ctx context.Context, screen string) bool {
	if live, ok := s.live(ctx, s.pid); ok {
		return live.State == harness.Idle
	}
	return harness.AtRest(s.harness, screen)
}

// patience is how much longer than its own time a prompt may take that has left the input box: it was taken, and only
// the event is late. That was seen to last 16 seconds on a busy machine.
const patience = 30 * time.Second

// confirm waits for the event of this prompt.
func (s *sending) confirm(ctx context.Context) (Sent, error) {
	changes := watchFiles(s.events())
	defer changes.close()
	end := time.NewTimer(s.fleet.settings.SubmitTimeout)
	defer end.Stop()
	again := s.ticker()
	defer again.Stop()
	stands, extended := true, false
	for {
		if done, err := s.confirmed(); done || err != nil {
			return s.sent, err
		}
		var err error
		select {
		case <-changes.C:
		case <-again.C:
			if stands, err = s.nudge(ctx); err != nil {
				if done, _ := s.confirmed(); done { // it took the prompt, and then ended
					return s.sent, nil
				}
				return s.sent, err
			}
			if !stands && s.busy && s.harness.Queues() == harness.QueueNext {
				s.sent.Queued = true // its event comes when the running turn has ended
				return s.sent, nil
			}
		case <-end.C:
			if extended || stands && !s.nudged(ctx) || s.fleet.root.Full() {
				return s.sent, s.notTaken(ctx)
			}
			extended = true
			end.Reset(patience)
		case <-ctx.Done():
			return s.sent, ctx.Err()
		}
	}
}

// nudged looks once more, at the end of the time, whether the text has left the input box.
func (s *sending) nudged(ctx context.Context) bool {
	text, err := s.server().Capture(ctx, s.target, 0)
	return err == nil && !s.harness.InComposer(text, s.pasted)
}

func (s *sending) notTaken(ctx context.Context) error {
	if s.fleet.root.Full() {
		return s.failed(ctx, "make room there, and look with read-turn whether the prompt was taken",
			fmt.Sprintf("worker %s told of no prompt: its hooks have no room left at %s", s.name, s.fleet.root.Path()))
	}
	return s.failed(ctx, "CSD_SUBMIT_TIMEOUT gives it longer; handoff says how to look at it", fmt.Sprintf("worker %s did not take the prompt", s.name))
}

// failed is an error with the screen of the client.
func (s *sending) failed(ctx context.Context, hint, text string) error {
	pane, _ := s.server().Capture(context.WithoutCancel(ctx), s.target, 0) // without it there is less to see
	return failf(hint, "%s", withScreen(text, pane))
}

// confirmed reads the new events for this prompt's.
func (s *sending) confirmed() (bool, error) {
	for line, err := range event.Forward(s.events(), s.read) {
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		s.read = line.End
		e, err := event.Parse(line.Raw)
		if err != nil || e.Name != event.UserPromptSubmit {
			continue
		}
		if e.PromptSHA256 != s.sent.Digest {
			s.other = s.other || e.Notification == nil
			continue // a prompt that quotes a notification is the sender's all the same
		}
		s.sent.Queued = e.Queued || s.busy && s.harness.Queues() == harness.QueueFolds
		if !s.sent.Queued {
			s.sent.TurnID = e.TurnID
		}
		return true, nil
	}
	return false, nil
}
