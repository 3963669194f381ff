package harness

import (
	"context"
	"errors"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/transcript"
)

// errLater marks what is not written yet.
var errLater = errors.New("not written yet")

// codex is Codex.
type codex struct{}

func (codex) Kind() transcript.Kind                          { return transcript.Codex }
func (codex) Queues() Queue                                  { return QueueNext }
func (codex) Prepare(context.Context, Worker) (Start, error) { return Start{}, errLater }

func (codex) Resume(context.Context, Worker, string) (Start, error)   { return Start{}, errLater }
func (codex) Ready(context.Context, Worker, Screen) error             { return errLater }
func (codex) Text(prompt string) (string, error)                      { return prompt, nil }
func (codex) InComposer(screen, prompt string) bool                   { return false }
func (codex) Live(context.Context, int, store.Meta) (l Live, ok bool) { return l, false }
func (codex) Quit(context.Context, Screen) error                      { return errLater }
func (codex) Keep(context.Context, Worker, store.Meta) error          { return errLater }
func (codex) Return(context.Context, Worker) error                    { return errLater }
