package server

import (
	"context"
	"time"

	"github.com/sessevents/sessevents/engine/control"
)

const (
	// maxConns bounds how many are listened to, or answered from memory, at once; more wait to be accepted.
	maxConns = 64
	// maxLong bounds, of the requests that may take long, those of a kind that are under way; more are refused.
	maxLong = 128
)

// places are what a connection needs one of. Who waits for an event or for a poll gives its first place back meanwhile:
// a status and a stop are answered however many wait.
type places struct {
	talk  chan struct{}
	wait  chan struct{} // for an event
	polls chan struct{}
	// patience is how long an answer may take to be read.
	patience time.Duration
}

func newPlaces(patience time.Duration) *places {
	return &places{make(chan struct{}, maxConns), make(chan struct{}, maxLong), make(chan struct{}, maxLong), patience}
}

// long moves a connection with a request that may take long to a place of its own; back returns it and is false where
// ctx ended first, and the connection then has no place. A nil back is a refusal.
func (p *places) long(ctx context.Context, op control.Op) (back func() bool) {
	var own chan struct{}
	switch op {
	case control.Status, control.Stop:
		return func() bool { return true }
	case control.Wait:
		own = p.wait
	default:
		own = p.polls
	}
	select {
	case own <- struct{}{}:
	default:
		return nil
	}
	<-p.talk
	return func() bool {
		defer func() { <-own }()
		select {
		case p.talk <- struct{}{}:
			return true
		case <-ctx.Done():
			return false
		}
	}
}
