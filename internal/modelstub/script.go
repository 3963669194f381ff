package modelstub

import (
	"net/http"
	"sync"
	"time"
)

// Reply is what the model says to one request. The zero value says "ok".
type Reply struct {
	// Thinking comes before Text, where the protocol knows it.
	Thinking string
	// Text is what the model says.
	Text string
	// Tools are the tools that the model calls after Text.
	Tools []Tool

	// Until holds the reply back until it is closed.
	Until <-chan struct{}
	// Delay holds the reply back for a time, after Until.
	Delay time.Duration
	// Chunks cuts Text into so many pieces, Pause apart, when the client asked for a stream.
	Chunks int
	Pause  time.Duration

	// Status, where it is not zero, makes the reply an HTTP error such as 429 or 529; Message is what it says.
	Status  int
	Message string
	// Header is added to the answer: Retry-After.
	Header http.Header
	// Cut breaks the connection in the middle of Text.
	Cut bool
}

// Tool is one tool call. Input is encoded as JSON; a client with free-form tools gets a string as it is.
type Tool struct {
	Name  string
	Input any
}

// Script says what the model answers to the requests of the main conversation, one after the other. It is safe for
// concurrent use.
type Script struct {
	mu    sync.Mutex
	queue []Reply
	other func(Request) Reply
}

// Add puts replies at the end of the script.
func (s *Script) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// Otherwise sets what is answered when the script is at its end. It may be called for several requests at once.
func (s *Script) Otherwise(answer func(Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other = answer
}

// next takes the reply to r off the script.
func (s *Script) next(r Request) Reply {
	if r.Side {
		return Reply{Text: `{"title":"stub title"}`}
	}
	s.mu.Lock()
	if len(s.queue) > 0 {
		reply := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return reply.filled()
	}
	other := s.other
	s.mu.Unlock()
	if other == nil {
		return Reply{}.filled()
	}
	return other(r).filled()
}

// filled gives a reply without content the text "ok".
func (r Reply) filled() Reply {
	if r.Status == 0 && r.Text == "" && len(r.Tools) == 0 {
		r.Text = "ok"
	}
	return r
}

// pieces cuts Text as Chunks says.
func (r Reply) pieces() []string {
	n := min(max(r.Chunks, 1), max(len(r.Text), 1))
	size := (len(r.Text) + n - 1) / n
	var out []string
	for rest := r.Text; rest != ""; {
		k := min(size, len(rest))
		for k < len(rest) && rest[k]&0xC0 == 0x80 { // not inside a character
			k++
		}
		out = append(out, rest[:k])
		rest = rest[k:]
	}
	return out
}
