// Package server is the daemon's end of the conversation that package control describes: who may bind the socket, and
// who is heard.
package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/internal/proc"
)

// Handler answers requests. Its methods are called from several goroutines.
type Handler interface {
	// Handle answers one request. ctx ends when the asker is gone or the server stops.
	Handle(ctx context.Context, r control.Request) control.Response
	// Report takes what a session's inbox says about a message.
	Report(r inbox.Report)
}

const (
	// requestTimeout is how long a connection may take to say what it wants, and to read the answer.
	requestTimeout = 10 * time.Second
	// acceptPause is the wait after an accept that failed.
	acceptPause = time.Second
)

// Serve answers on l until ctx ends; then it closes l, which removes the socket, and returns when the last
// conversation is over.
func Serve(ctx context.Context, l *net.UnixListener, h Handler) {
	serve(ctx, l, h, newPlaces(requestTimeout))
}

func serve(ctx context.Context, l *net.UnixListener, h Handler, places *places) {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		places.talk <- struct{}{}
		conn, err := l.AcceptUnix()
		if ctx.Err() != nil {
			return
		}
		if err != nil { // no descriptor left, or a caller that was gone already
			<-places.talk
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		wg.Go(func() {
			defer conn.Close()
			if converse(ctx, conn, h, places) {
				<-places.talk
			}
		})
	}
}

// converse serves one connection: requests one after the other, until it ends or says something that is none. placed
// says whether it still has its place to talk.
func converse(ctx context.Context, conn *net.UnixConn, h Handler, places *places) (placed bool) {
	peer, err := proc.PeerOf(conn)
	if err != nil || peer.UID != os.Geteuid() {
		return true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()

	in := bufio.NewReaderSize(conn, maxRequest)
	out := json.NewEncoder(conn)
	out.SetEscapeHTML(false)
	say := func(r control.Response) error {
		_ = conn.SetWriteDeadline(time.Now().Add(places.patience)) // who asks and does not read holds a place
		defer func() { _ = conn.SetWriteDeadline(time.Time{}) }()
		return out.Encode(r)
	}
	for {
		_ = conn.SetReadDeadline(time.Now().Add(requestTimeout))
		if ctx.Err() != nil {
			return true
		}
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) > 0 {
			err = nil // a last line without its line break, from a writer that half-closed
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			_ = say(control.Response{Error: "the request is too long", Usage: true})
			return true
		}
		if err != nil {
			return true
		}
		if report, ok := inbox.ParseReport(line); ok {
			h.Report(report)
			continue
		}
		request, fault := parse(line)
		if fault != "" {
			_ = say(control.Response{Error: fault, Usage: true})
			return true
		}
		back := places.long(ctx, request.Op)
		if back == nil {
			_ = say(control.Response{Error: fmt.Sprintf("%d requests of this kind wait for an answer already", maxLong)})
			return true
		}
		err = say(answer(ctx, conn, h, request))
		if !back() {
			return false
		}
		if err != nil {
			return true
		}
	}
}

// heartbeat is how often a Wait writes an empty line, to learn whether anybody still waits. A client that has
// half-closed its side, as nc does, cannot be told from one that is gone in any other way.
const heartbeat = 15 * time.Second

// answer lets h answer, and ends a Wait whose asker is gone.
func answer(ctx context.Context, conn io.Writer, h Handler, r control.Request) control.Response {
	if r.Op != control.Wait {
		return h.Handle(ctx, r)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if _, err := conn.Write([]byte("\n")); err != nil {
					cancel()
				}
			}
		}
	})
	response := h.Handle(ctx, r)
	cancel()
	wg.Wait()
	return response
}

// maxRequest bounds a request: the words of a target are far shorter.
const maxRequest = 64 << 10

// parse reads a request, or says what is wrong with it.
func parse(line []byte) (control.Request, string) {
	var r control.Request
	if err := json.Unmarshal(line, &r); err != nil {
		return r, "not a request: " + err.Error()
	}
	switch r.Op {
	case control.Status, control.Watch, control.Unwatch, control.Poll, control.Wait, control.Stop:
		return r, ""
	case "":
		return r, `a request needs an "op"`
	default:
		return r, "unknown op"
	}
}
