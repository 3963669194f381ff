package server

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/inbox"
)

// slow answers a status and a stop at once, at length where it has words, and all else when it is let.
type slow struct {
	began chan control.Op
	let   chan struct{}
}

func (s slow) Handle(ctx context.Context, r control.Request) control.Response {
	if r.Op == control.Status || r.Op == control.Stop {
		return control.Response{PID: 1, Hint: strings.Repeat("x", 300_000*len(r.Words))}
	}
	s.began <- r.Op
	select {
	case <-s.let:
	case <-ctx.Done():
	}
	return control.Response{Last: 7}
}

func (slow) Report(inbox.Report) {}

// startSlow serves until the test ends; an answer must be read within patience.
func startSlow(t *testing.T, patience time.Duration) (path string, h slow) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.sock")
	l, _, err := Listen(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	h = slow{make(chan control.Op), make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { serve(ctx, l, h, newPlaces(patience)) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return path, h
}

// dial asks on a connection of its own, which the test closes at its end.
func dial(t *testing.T, path, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.Write([]byte(request + "\n")); err != nil {
		t.Fatal(err)
	}
	return conn
}

func answerOf(t *testing.T, conn net.Conn) control.Response {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var r control.Response
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestC24_WhoWaitsTakesNoPlaceOfAShortQuestion(t *testing.T) {
	for _, op := range []control.Op{control.Wait, control.Watch, control.Poll, control.Unwatch} {
		t.Run(string(op), func(t *testing.T) {
			path, h := startSlow(t, requestTimeout)
			request := `{"op":"` + string(op) + `"}`
			var waiting []net.Conn
			for range maxLong {
				waiting = append(waiting, dial(t, path, request))
				<-h.began
			}
			for _, short := range []control.Op{control.Status, control.Stop} {
				if r, err := control.Ask(t.Context(), path, control.Request{Op: short}); err != nil || r.PID != 1 {
					t.Errorf("%s, while %d wait: %v, %q", short, maxLong, err, r.Error)
				}
			}
			if r := answerOf(t, dial(t, path, request)); !strings.Contains(r.Error, "wait for an answer already") {
				t.Errorf("one more: %+v", r)
			}
			close(h.let)
			for _, conn := range waiting {
				if r := answerOf(t, conn); r.Last != 7 {
					t.Errorf("%+v", r)
				}
			}
			for _, conn := range waiting[1:] {
				conn.Close()
			}
			// The conversation goes on, and the places are free again.
			if _, err := waiting[0].Write([]byte(`{"op":"status"}` + "\n")); err != nil {
				t.Fatal(err)
			}
			if r := answerOf(t, waiting[0]); r.PID != 1 {
				t.Errorf("%+v", r)
			}
			conn := dial(t, path, request)
			<-h.began
			if r := answerOf(t, conn); r.Last != 7 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestWhoDoesNotReadItsAnswerIsLetGo(t *testing.T) {
	path, _ := startSlow(t, 200*time.Millisecond)
	for range maxConns {
		dial(t, path, `{"op":"status","words":["much"]}`) // an answer larger than the socket holds
	}
	if r, err := control.Ask(t.Context(), path, control.Request{Op: control.Status}); err != nil || r.PID != 1 {
		t.Errorf("%v, %q", err, r.Error)
	}
}
