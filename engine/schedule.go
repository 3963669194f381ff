package engine

import "time"

// schedule says when the next poll of all targets is. Its value is pure; times are passed in.
type schedule struct {
	busy, idle time.Duration // the shortest and the longest wait
	wait       time.Duration // the wait that led to next
	next       time.Time     // zero: nothing is planned
}

// polled plans the poll after one of all targets that ended now.
func (s *schedule) polled(now time.Time, busy bool) {
	if busy || s.wait == 0 {
		s.wait = s.busy
	}
	if !busy {
		s.wait = min(s.wait*2, s.idle)
	}
	s.next = now.Add(s.wait)
}

// stirred plans after something that was not a poll of all targets: if something goes on, the next poll of all is no
// later than a busy one would be.
func (s *schedule) stirred(now time.Time, busy bool) {
	if !busy && !s.next.IsZero() {
		return
	}
	s.wait = s.busy
	if at := now.Add(s.busy); s.next.IsZero() || at.Before(s.next) {
		s.next = at
	}
}

// due reports whether the poll of all targets is due. The wall clock counts too: the monotonic one stands still
// while the machine sleeps.
func (s *schedule) due(now time.Time) bool {
	return !s.next.IsZero() && (!now.Before(s.next) || !now.Round(0).Before(s.next.Round(0)))
}
