package fetchers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestC35_OneHostIsAskedBoundedlyAndDelaysNoOther(t *testing.T) {
	release := make(chan struct{})
	var now, most, arrived atomic.Int64
	full := make(chan struct{})
	slow := newSite(t, func(_ http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		if arrived.Add(1) == perHost {
			close(full)
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	fast := newSite(t, sends(200, "text/plain", "text"))
	a := newAsker(t, "http")
	opts := a.with(map[string]any{"url": slow.URL})
	ask := a.set.Fetchers()["http"].Fetch
	var wg sync.WaitGroup
	for i := range 4 * perHost {
		wg.Go(func() {
			if _, err := ask(context.Background(), Request{Options: opts, Target: fmt.Sprint(i), Now: time.Now()}); err != nil {
				t.Error(err)
			}
		})
	}
	<-full
	a.doc(map[string]any{"url": fast.URL})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ask(ctx, Request{Options: opts, Now: time.Now()}); !errors.Is(err, context.Canceled) {
		t.Errorf("a question that waits for its turn: %v", err)
	}
	close(release)
	wg.Wait()
	if n := most.Load(); n != perHost {
		t.Errorf("%d at once, want %d", n, perHost)
	}
	if n := len(a.set.slots.hosts); n != 0 {
		t.Errorf("%d hosts are remembered", n)
	}
}

func TestC35_AQuestionThatWaitsForItsTurnHasItsTimeout(t *testing.T) {
	var s slots
	for range perHost {
		if _, err := s.take(t.Context(), "a.example", time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.take(t.Context(), "a.example", time.Millisecond)
	wantWord(t, "timeout", Answer{}, err)
	if _, err := s.take(t.Context(), "b.example", time.Millisecond); err != nil {
		t.Error(err)
	}
	if n := s.hosts["a.example"].users; n != perHost {
		t.Errorf("%d users, want %d", n, perHost)
	}
}
