package fetchers

import (
	"context"
	"sync"

	"github.com/sessevents/sessevents/internal/tail"
)

// All is the registry. Its fetchers remember nothing between calls: right for reading their tables and for asking
// once. What polls again and again takes the fetchers of a [Set].
var All = map[string]Fetcher{
	statTable.Name:  with(statTable, once((*Set).stat)),
	httpTable.Name:  with(httpTable, once((*Set).http)),
	execTable.Name:  with(execTable, once((*Set).exec)),
	jsonlTable.Name: with(jsonlTable, once((*Set).jsonlTail)),
}

type fetch = func(context.Context, Request) (Answer, error)

func with(f Fetcher, ask fetch) Fetcher {
	f.Fetch = ask
	return f
}

// once asks with an empty memory.
func once(ask func(*Set, context.Context, Request) (Answer, error)) fetch {
	return func(ctx context.Context, r Request) (Answer, error) {
		s := NewSet()
		defer s.Close()
		return ask(s, ctx, r)
	}
}

// Set is the memory that the fetchers of one source share between polls: kept connections, the validators of HTTP
// answers, hosts that asked for patience, the bound on how many questions one host is asked at a time. Its methods
// may be called at any time from any goroutine.
type Set struct {
	gate     gate
	answers  answers
	patience patience
	slots    slots
	readers  sync.Pool // of *tail.Reader

	mu         sync.Mutex
	transports map[string]*trust // by the file of the option ca
}

// NewSet returns an empty memory.
func NewSet() *Set {
	return &Set{readers: sync.Pool{New: func() any { return &tail.Reader{} }}}
}

// Fetchers returns the registry with the fetchers that use s.
func (s *Set) Fetchers() map[string]Fetcher {
	return map[string]Fetcher{
		statTable.Name:  with(statTable, s.stat),
		httpTable.Name:  with(httpTable, s.http),
		execTable.Name:  with(execTable, s.exec),
		jsonlTable.Name: with(jsonlTable, s.jsonlTail),
	}
}

// Limits lists the hosts that asked for patience and are not asked now, for `status`.
func (s *Set) Limits() []Limit { return s.patience.limits() }

// Close lets go of kept connections. The set stays usable.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.transports {
		t.CloseIdleConnections()
	}
}
