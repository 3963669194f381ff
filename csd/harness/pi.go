package harness

import (
	"context"
	"errors"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/transcript"
)

// errLater marks what is not written yet.
var errLater = errors.New("not written yet")

// pi is Pi.
type pi struct{}

func (pi) Kind() transcript.Kind                                   { return transcript.Pi }
func (pi) Queues() Queue                                           { return QueueFolds }
func (pi) Prepare(context.Context, Worker) (Start, error)          { return Start{}, errLater }
func (pi) Resume(context.Context, Worker, string) (Start, error)   { return Start{}, errLater }
func (pi) Ready(context.Context, Worker, Screen) error             { return errLater }
func (pi) Text(prompt string) (string, error)                      { return prompt, nil }
func (pi) InComposer(screen, prompt string) bool                   { return false }
func (pi) Live(context.Context, int, store.Meta) (l Live, ok bool) { return l, false }
func (pi) Quit(context.Context, Screen) error                      { return errLater }
func (pi) Keep(context.Context, Worker, store.Meta) error          { return errLater }
func (pi) Return(context.Context, Worker) error                    { return errLater }
