package fetchers

import (
	"context"
	"sync"

	"github.com/sessevents/sessevents/internal/tail"
)

// All is the registry. Its fetchers remember nothing between calls: right for reading their tables and for asking
// once. What polls again and again takes the fetchers of a [Set].
var All = registry(func(ask setFetch) fetch {
	return func(ctx context.Context, r Request) (Answer, error) {
		s := NewSet()
		defer s.Close()
		return ask(s, ctx, r)
	}
}, func(o map[string]any) []string { return NewSet().watchLocal(o) })

type (
	fetch    = func(context.Context, Request) (Answer, error)
	setFetch = func(*Set, context.Context, Request) (Answer, error)
)

// registry joins the tables with the functions that ask, in the memory that bind gives them.
func registry(bind func(setFetch) fetch, watch func(map[string]any) []string) map[string]Fetcher {
	all := map[string]Fetcher{}
	for _, row := range []struct {
		table Fetcher
		ask   setFetch
		local bool
	}{
		{statTable, (*Set).stat, true},
		{httpTable, (*Set).http, false},
		{execTable, (*Set).exec, false},
		{jsonlTable, (*Set).jsonlTail, true},
	} {
		f := row.table
		f.Fetch = bind(row.ask)
		if row.local {
			f.Watch = watch
		}
		all[f.Name] = f
	}
	return all
}

// Set is the memory that the fetchers of one source share between polls: kept connections, the validators of HTTP
// answers, hosts that asked for patience, the bound on how many questions one host is asked at a time. Its methods
// may be called at any time from any goroutine.
type Set struct {
	gate     gate
	answers  answers
	patience *patience
	slots    slots
	lent     lent
	readers  sync.Pool // of *tail.Reader
	handles  tail.Handles

	mu      sync.Mutex
	clients map[string]*client // by the file of the option ca
}

// NewSet returns an empty memory.
func NewSet() *Set {
	s := &Set{patience: &patience{}}
	s.readers.New = func() any { return &tail.Reader{Handles: &s.handles} }
	return s
}

// Succeed makes s, which nobody has asked anything yet, the memory of a source that takes the place of old's: hosts that
// asked for patience are waited for as before. What was remembered of answers stays behind.
func (s *Set) Succeed(old *Set) { s.patience = old.patience }

// Fetchers returns the registry with the fetchers that use s.
func (s *Set) Fetchers() map[string]Fetcher {
	return registry(func(ask setFetch) fetch {
		return func(ctx context.Context, r Request) (Answer, error) { return ask(s, ctx, r) }
	}, s.watchLocal)
}

// Limits lists the hosts that asked for patience and are not asked now, for `status`.
func (s *Set) Limits() []Limit { return s.patience.limits() }

// Close lets go of kept connections and open files. The set stays usable.
func (s *Set) Close() {
	s.handles.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.clients {
		t.CloseIdleConnections()
	}
}
