package fetchers

import (
	"context"
	"sync"
)

// perHost is how many questions one host is asked at the same time.
const perHost = 32

// slots bounds the questions to each host.
type slots struct {
	mu    sync.Mutex
	hosts map[string]*hostSlots
}

type hostSlots struct {
	free  chan struct{}
	users int
}

// take waits for a slot of host; the caller gives it back by calling free once.
func (s *slots) take(ctx context.Context, host string) (free func(), err error) {
	s.mu.Lock()
	if s.hosts == nil {
		s.hosts = map[string]*hostSlots{}
	}
	h := s.hosts[host]
	if h == nil {
		h = &hostSlots{free: make(chan struct{}, perHost)}
		s.hosts[host] = h
	}
	h.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(s.hosts, host)
		}
	}
	select {
	case h.free <- struct{}{}:
		return func() { <-h.free; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
