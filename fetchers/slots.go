package fetchers

import (
	"context"
	"sync"
	"time"
)

// perHost is how many questions one host is asked at the same time.
const perHost = 32

// slots bounds the questions to each host.
type slots struct {
	mu    sync.Mutex
	hosts map[string]*hostSlots
}

type hostSlots struct {
	name  string
	taken chan struct{}
	users int
}

// take waits for a slot of host, at most so long; the caller gives it back once.
func (s *slots) take(ctx context.Context, host string, most time.Duration) (*hostSlots, error) {
	s.mu.Lock()
	if s.hosts == nil {
		s.hosts = map[string]*hostSlots{}
	}
	h := s.hosts[host]
	if h == nil {
		h = &hostSlots{name: host, taken: make(chan struct{}, perHost)}
		s.hosts[host] = h
	}
	h.users++
	s.mu.Unlock()
	select { // mostly there is one, and no clock is needed
	case h.taken <- struct{}{}:
		return h, nil
	default:
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case h.taken <- struct{}{}:
		return h, nil
	case <-ctx.Done():
		s.leave(h)
		return nil, context.Cause(ctx)
	case <-late.C:
		s.leave(h)
		return nil, failf("timeout", "%d questions to its host are still open", perHost)
	}
}

func (s *slots) give(h *hostSlots) {
	<-h.taken
	s.leave(h)
}

func (s *slots) leave(h *hostSlots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(s.hosts, h.name)
	}
}
