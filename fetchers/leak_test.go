package fetchers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestC20_TenThousandPollsWithFailuresOfEveryKind looks for what grows: descriptors, goroutines, memory.
func TestC20_TenThousandPollsWithFailuresOfEveryKind(t *testing.T) {
	polls := 10_000
	if testing.Short() {
		polls = 1_000
	}
	dir := t.TempDir()
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	log := filepath.Join(dir, "log")
	write(t, log, "1\n")
	s := newSite(t, everyFailure)
	s.Config.ErrorLog = quiet
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	refused.Close()

	set := NewSet()
	defer set.Close()
	fetchers := set.Fetchers()
	kinds := []struct {
		fetcher string
		every   int // only one of so many: starting a process takes long
		word    string
		opts    map[string]any
	}{
		{"stat", 1, "", map[string]any{"path": log}},
		{"stat", 1, "io", map[string]any{"path": filepath.Join(dir, "loop")}},
		{"stat", 1, "", map[string]any{"glob": dir + "/*.none"}},
		{"jsonl-tail", 1, "", map[string]any{"path": log, "from": "start"}},
		{"jsonl-tail", 1, "not-regular", map[string]any{"path": dir}},
		{"jsonl-tail", 1, "", map[string]any{"path": log + ".none"}},
		{"http", 1, "", map[string]any{"url": s.URL + "/ok"}},
		{"http", 1, "status", map[string]any{"url": s.URL + "/500"}},
		{"http", 1, "too-large", map[string]any{"url": s.URL + "/endless", "maxBytes": int64(1000)}},
		{"http", 1, "reset", map[string]any{"url": s.URL + "/reset"}},
		{"http", 1, "reset", map[string]any{"url": s.URL + "/cut"}},
		{"http", 1, "parse", map[string]any{"url": s.URL + "/ok", "parse": "json"}},
		{"http", 1, "redirect", map[string]any{"url": s.URL + "/loop"}},
		{"http", 1, "refused", map[string]any{"url": "http://" + refused.Addr().String()}},
		{"http", 4, "tls", map[string]any{"url": strings.Replace(s.URL, "http:", "https:", 1)}},
		{"http", 8, "timeout", map[string]any{"url": s.URL + "/slow", "timeout": 10 * time.Millisecond}},
		{"exec", 8, "", map[string]any{"command": []string{"true"}}},
		{"exec", 8, "exit", map[string]any{"command": []string{"false"}, "stdin": "unread"}},
		{"exec", 1, "not-found", map[string]any{"command": []string{"/no/such"}}},
		{"exec", 16, "too-large", map[string]any{"command": []string{"yes"}, "maxBytes": int64(1000)}},
		{"exec", 32, "timeout", map[string]any{"shell": "sleep 10 & sleep 10", "timeout": 10 * time.Millisecond}},
	}
	a := newAsker(t, "stat")
	for i := range kinds {
		a.name = kinds[i].fetcher
		kinds[i].opts = a.with(kinds[i].opts)
	}
	done := 0
	run := func(n int) {
		for round := 0; done < n; round++ {
			var wg sync.WaitGroup
			for i, k := range kinds {
				if round%k.every != 0 {
					continue
				}
				done++
				wg.Go(func() {
					answer, err := fetchers[k.fetcher].Fetch(context.Background(), Request{Options: k.opts, Target: fmt.Sprint(i), Now: time.Now()})
					var e *Error
					switch {
					case k.word == "" && err == nil:
						if answer.Committed != nil && round%2 == 0 {
							answer.Committed()
						}
					case !errors.As(err, &e) || e.Word != k.word:
						t.Errorf("%s %v: want %q, got %v", k.fetcher, k.opts, k.word, err)
					}
				})
			}
			wg.Wait()
			if t.Failed() {
				return
			}
		}
	}
	run(polls / 10)
	settled := goleak.IgnoreCurrent()
	before := usage(t, set, s)
	run(polls)
	after := usage(t, set, s)
	if after.files > before.files || after.heap > before.heap+2*megabyte {
		t.Errorf("after %d polls %+v, after %d %+v", polls/10, before, polls, after)
	}
	goleak.VerifyNone(t, settled)
}

func everyFailure(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ok":
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "ok")
	case "/500":
		w.WriteHeader(http.StatusInternalServerError)
	case "/endless":
		for {
			if _, err := w.Write(make([]byte, 10_000)); err != nil {
				return
			}
		}
	case "/reset":
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	case "/cut":
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "short")
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "/slow":
		<-r.Context().Done()
	}
}

type used struct {
	files int
	heap  uint64
}

// usage counts once idle connections are closed and garbage is gone.
func usage(t *testing.T, set *Set, s *site) used {
	t.Helper()
	set.Close()
	s.CloseClientConnections()
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	var u used
	deadline := time.Now().Add(5 * time.Second)
	for last := -1; ; { // the server's side of a connection closes a moment later
		entries, err := os.ReadDir("/dev/fd")
		must(t, err)
		if u.files = len(entries); u.files == last || time.Now().After(deadline) {
			break
		}
		last = u.files
		time.Sleep(50 * time.Millisecond)
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.heap = m.HeapAlloc
	return u
}
