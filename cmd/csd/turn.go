package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sessevents/sessevents/cmd/internal/reader"
	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/transcript"
)

// seconds is a time on the command line.
type seconds time.Duration

// UnmarshalText reads a number of seconds.
func (s *seconds) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(n >= 0) || n > math.MaxInt32 {
		return fmt.Errorf("%q is no number of seconds", text)
	}
	*s = seconds(n * float64(time.Second))
	return nil
}

// prompt is the text of a prompt: that on the command line or, for -, standard input.
func (c *call) prompt(text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	data, err := io.ReadAll(io.LimitReader(c.in, csd.MaxPrompt+1)) // one more: the worker says what is too long
	return string(data), err
}

type sendCmd struct {
	Prompt string `arg:"" help:"The text; - reads standard input."`
}

// Run sends a prompt.
func (s *sendCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	text, err := c.prompt(s.Prompt)
	if err != nil {
		return err
	}
	sent, err := w.Send(c.ctx, text)
	if err == nil && sent.Queued {
		fmt.Fprintln(c.err, "note: a turn is running; the prompt is queued")
	}
	return err
}

type converseCmd struct {
	WithTurn bool    `help:"Print the whole turn as Markdown."`
	Prompt   string  `arg:"" help:"The text; - reads standard input."`
	Timeout  seconds `arg:"" optional:"" default:"120" help:"Seconds in which the turn has to end."`
}

// Run sends a prompt and prints the answer.
func (s *converseCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	text, err := c.prompt(s.Prompt)
	if err != nil {
		return err
	}
	answer, err := w.Converse(c.ctx, text, csd.ConverseOptions{Timeout: time.Duration(s.Timeout), WithTurn: s.WithTurn})
	if err != nil {
		return err
	}
	if s.WithTurn {
		return transcript.Render(c.out, answer.Turn, false)
	}
	_, err = fmt.Fprintln(c.out, strings.TrimRight(answer.Text, "\n"))
	return err
}

type waitForTurnCmd struct {
	Timeout   seconds `arg:"" optional:"" default:"60" help:"Seconds to wait."`
	AfterLine *int64  `placeholder:"N" help:"Count what is behind the first N events, instead of what comes from now on."`
}

// Run waits for the end of a turn.
func (s *waitForTurnCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	after := int64(-1)
	if s.AfterLine != nil {
		if after = *s.AfterLine; after < 0 {
			return &csd.Error{Kind: csd.Usage, Text: "--after-line counts from 0", Hint: "without it, what comes from now on counts"}
		}
	}
	ended, err := w.WaitForTurn(c.ctx, csd.WaitOptions{Timeout: time.Duration(s.Timeout), AfterLine: after})
	if ended.Line != nil {
		if _, err := fmt.Fprintf(c.out, "%s\n", ended.Line); err != nil {
			return err
		}
	}
	return err
}

type readEventsCmd struct {
	Last   *int   `placeholder:"N" help:"Only the last N."`
	Type   string `placeholder:"T" help:"Only events of this name."`
	Follow bool   `help:"Go on with those that come, until interrupted."`
}

// Run prints events.
func (s *readEventsCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	o := csd.EventsOptions{Type: s.Type, Last: -1, Follow: s.Follow}
	if s.Last != nil {
		if o.Last = *s.Last; o.Last < 0 {
			return &csd.Error{Kind: csd.Usage, Text: "--last counts from 0", Hint: "without it, all of them are printed"}
		}
	}
	ctx := c.ctx
	if s.Follow {
		var stop func()
		ctx, stop = reader.Watch(c.ctx, c.out)
		defer stop()
	}
	err = w.ReadEvents(ctx, c.out, o)
	if s.Follow && ctx.Err() != nil { // an interruption is how it ends
		return exitCode(exitOK)
	}
	return err
}

type readTurnCmd struct {
	Full bool `help:"Do not cut results of tools to five lines."`
}

// Run prints the last turn.
func (s *readTurnCmd) Run(c *call) error {
	w, err := c.worker()
	if err != nil {
		return err
	}
	return w.ReadTurn(c.out, s.Full)
}
