// Package modelstub is a fake model server on loopback, for tests that drive real coding agents: it answers by a
// script and keeps a record of what it was asked. Each protocol has a file of its own; the script and the record are
// the same for all.
package modelstub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxBody bounds one request: no conversation of a test comes near it.
const maxBody = 64 << 20

// protocol is one way to talk to a model.
type protocol interface {
	// read fills Side, Model, Stream, Messages and Tools from the body of a request.
	read(body []byte, r *Request) error
	// write answers with reply; n makes its ids unlike those of every other answer.
	write(w *answer, r Request, reply Reply, n int) error
	// fail is the body of an HTTP error.
	fail(status int, message string) any
}

// protocols says which path speaks what.
var protocols = map[string]protocol{
	"/v1/messages":         anthropic{},
	"/v1/responses":        responses{},
	"/v1/chat/completions": completions{},
}

// Server is a model that runs. It speaks every protocol at once.
type Server struct {
	Script

	url     string
	http    *http.Server
	stop    context.CancelFunc
	served  chan struct{}
	mu      sync.Mutex
	seen    []Request
	strange []string
	news    chan struct{} // closed and made anew with each request
}

// Start serves on l until Close. It refuses a listener that others can reach.
func Start(l net.Listener) (*Server, error) {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("model server on %s: not a loopback address", l.Addr())
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{url: "http://" + l.Addr().String(), stop: stop, served: make(chan struct{}), news: make(chan struct{})}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // it ends by Close, with an error that says so
	}()
	return s, nil
}

// URL is the address without a path.
func (s *Server) URL() string { return s.url }

// Close ends the server and every answer that is under way.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close() // the listener is closed either way
	<-s.served
}

// Requests is what the server was asked so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// Strange are the requests that no protocol knows, as "METHOD path".
func (s *Server) Strange() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.strange...)
}

// Wait returns the first request, of those that came and those that come, for which match holds. It calls match once
// for each request. When ctx ends first, the error tells what came instead.
func (s *Server) Wait(ctx context.Context, match func(Request) bool) (Request, error) {
	for i := 0; ; {
		s.mu.Lock()
		seen, news := s.seen, s.news
		s.mu.Unlock()
		for ; i < len(seen); i++ {
			if match(seen[i]) {
				return seen[i], nil
			}
		}
		select {
		case <-news:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("no request matched: %w; there were %s", ctx.Err(), s.told())
		}
	}
}

// told lists the requests, for a person who looks for the missing one.
func (s *Server) told() string {
	var b strings.Builder
	all := s.Requests()
	fmt.Fprintf(&b, "%d requests", len(all))
	for _, r := range all {
		if r.Side {
			continue
		}
		fmt.Fprintf(&b, "\n  %d:", r.N)
		for _, m := range r.News() {
			text := m.Text
			for _, res := range m.Results {
				text += " [result] " + res.Text
			}
			fmt.Fprintf(&b, " %s %.200q", m.Role, text)
		}
	}
	return b.String()
}

// serve answers one request over HTTP.
func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		return // the client is gone, or it sends without end
	}
	if req.Method == http.MethodPost && req.URL.Path == "/v1/messages/count_tokens" {
		writeJSON(w, http.StatusOK, map[string]any{"input_tokens": max(1, len(body)/4)})
		return
	}
	p, ok := protocols[req.URL.Path]
	if !ok || req.Method != http.MethodPost {
		s.noteStrange(req)
		s.serveOther(w, req)
		return
	}
	r := Request{Path: req.URL.Path, Body: body}
	if err := p.read(body, &r); err != nil {
		writeJSON(w, http.StatusBadRequest, p.fail(http.StatusBadRequest, err.Error()))
		return
	}
	r = s.record(r)
	reply := s.next(r)
	if !hold(req.Context(), reply) {
		return
	}
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	if reply.Status != 0 {
		writeJSON(w, reply.Status, p.fail(reply.Status, reply.Message))
		return
	}
	err = p.write(&answer{w: w, ctx: req.Context()}, r, reply, r.N)
	if errors.Is(err, errCut) {
		panic(http.ErrAbortHandler) // the server's way to break a connection
	}
	// Any other error: the client is gone, and there is nobody to tell.
}

// serveOther answers what is no request to a model: a look whether the server is there, a list of models.
func (s *Server) serveOther(w http.ResponseWriter, req *http.Request) {
	switch {
	case req.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	case strings.HasSuffix(req.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
	default:
		writeJSON(w, http.StatusNotFound, anthropic{}.fail(http.StatusNotFound, "no such thing here"))
	}
}

func (s *Server) noteStrange(req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strange = append(s.strange, req.Method+" "+req.URL.Path)
}

// record numbers r and wakes who waits.
func (s *Server) record(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.seen) + 1
	s.seen = append(s.seen, r)
	close(s.news)
	s.news = make(chan struct{})
	return r
}

// hold waits as reply says, and reports whether there is still somebody to answer.
func hold(ctx context.Context, reply Reply) bool {
	if reply.Until != nil {
		select {
		case <-reply.Until:
		case <-ctx.Done():
			return false
		}
	}
	return pause(ctx, reply.Delay)
}

func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
