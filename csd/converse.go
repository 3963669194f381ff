package csd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/transcript"
)

// Answer is what a worker made of a prompt.
type Answer struct {
	Text string          // the last message of the turn
	Turn transcript.Turn // the whole turn; only where it was asked for
}

// ConverseOptions say how to converse.
type ConverseOptions struct {
	Timeout  time.Duration // for the turn, from the moment at which the worker has taken the prompt
	WithTurn bool          // give the whole turn
}

// Converse sends a prompt, waits until its own turn ends, and returns the answer. Errors are those of Send and of
// WaitForTurn; one that says that the time ran out leaves the worker at work.
func (w *Worker) Converse(ctx context.Context, prompt string, o ConverseOptions) (Answer, error) {
	sent, err := w.Send(ctx, prompt)
	if err != nil {
		return Answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	own := &ownTurn{Worker: w, sent: sent}
	ended, err := w.waitEnd(limited, sent.Events, own.ends)
	if errors.Is(err, context.DeadlineExceeded) {
		err = w.timedOut(sent.Events, fmt.Sprintf("worker %s did not finish within %s", w.name, o.Timeout))
		return Answer{}, w.diagnosed(ctx, err, "the turn did not end in time")
	}
	if err != nil {
		return Answer{}, err
	}
	if ended.Event.Interrupted {
		if w.endsNow(ctx, sent.Events) {
			return Answer{}, w.endedFirst()
		}
		return Answer{}, failf("read-turn shows what was said until then", "the turn of worker %s was interrupted", w.name)
	}
	return own.answer(ctx, ended, o.WithTurn)
}

// ownTurn is the turn that answers one prompt.
type ownTurn struct {
	*Worker
	sent Sent
}

// ends says whose end a stop is. The id tells, but for a prompt that was sent while another turn ran, or seemed to: its
// turn is the one that holds its text in the transcript, which may be written behind the event. A client may also give a
// prompt that it took into a running turn another id in its stop than there.
func (o *ownTurn) ends(e event.Event) (whose, error) {
	if !o.sent.Queued {
		if e.TurnID == o.sent.TurnID || e.TurnID == "" {
			return own, nil
		}
		return another, nil
	}
	if err := o.again(); err != nil {
		return undecided, err
	}
	turn, err := o.find()
	switch {
	case errors.Is(err, transcript.ErrNoTurn):
		return undecided, nil
	case err != nil:
		return undecided, err
	case e.TurnID == turn.ID:
		return own, nil
	case e.At.Before(turn.At.Truncate(time.Second)): // events have whole seconds
		return another, nil
	case turn.Complete() && (e.At.After(turn.At) || o.fleet.Now().Sub(turn.CompletedAt()) > hookGrace):
		return likely, nil
	}
	return undecided, nil // of the second in which the turn began, for one
}

func (o *ownTurn) find() (transcript.Turn, error) {
	path := o.transcript()
	if path == "" {
		return transcript.Turn{}, transcript.ErrNoTurn
	}
	return transcript.FindPrompt(o.kind(), path, o.sent.Transcript, event.Digest, o.sent.Digest)
}

// The transcript may be a moment behind the event of the turn's end.
const (
	answerTries = 20
	answerPause = 100 * time.Millisecond
)

// answer reads what the turn came to.
func (o *ownTurn) answer(ctx context.Context, ended Ended, whole bool) (Answer, error) {
	said := ended.Event.LastAssistantMessage
	if !whole && said != "" && len([]rune(said)) < event.MaxText {
		return Answer{Text: said}, nil
	}
	if err := o.again(); err != nil { // the session may have got its transcript meanwhile
		return Answer{}, err
	}
	ran := ended.Event.Name != event.SessionEnd // to its end, as its own event says; else the transcript has to say so
	for try := 1; ; try++ {
		turn, err := o.find()
		switch {
		case err != nil && !errors.Is(err, transcript.ErrNoTurn):
			return Answer{}, err
		case err == nil && !ran && turn.End != nil && (turn.End.Interrupted || turn.End.Error != nil):
			return Answer{}, o.noAnswer(ended)
		case err == nil && turn.Complete() && (turn.FinalText() != "" || whole):
			return Answer{Text: turn.FinalText(), Turn: turn}, nil
		case try >= answerTries && err == nil && ran && (whole || turn.FinalText() != ""):
			return Answer{Text: turn.FinalText(), Turn: turn}, nil
		case try >= answerTries:
			return Answer{}, o.diagnosed(ctx, o.noAnswer(ended), "the turn ended without text")
		}
		select {
		case <-time.After(answerPause):
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
}

func (o *ownTurn) noAnswer(ended Ended) error {
	if ended.Event.Name == event.SessionEnd {
		return o.endedFirst()
	}
	return failf("read-turn shows what it did", "the turn of worker %s ended without a text", o.name)
}

// endsNow reports whether the client ends: a turn that its end breaks off is told as interrupted, and that a moment
// before. from is where the events of the turn begin.
func (w *Worker) endsNow(ctx context.Context, from int64) bool {
	waiting, cancel := context.WithTimeout(ctx, hookGrace)
	defer cancel()
	_, err := w.waitEnd(waiting, from, func(event.Event) (whose, error) { return another, nil }) // but for a session_end
	var ours *Error
	return err == nil || errors.As(err, &ours) && ours.Kind == Failed
}

func (w *Worker) endedFirst() error {
	return failf("take it up again: "+w.adoptWords(), "worker %s ended its session before it answered", w.name)
}
