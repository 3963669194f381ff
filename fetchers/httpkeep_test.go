package fetchers

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// tagged answers a question about what its validator stands for with 304.
func tagged(kind string, text func(r *http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		if page, ok := strings.CutPrefix(r.URL.Path, "/page/"); ok && page < "3" {
			w.Header().Set("Link", fmt.Sprintf("</page/%c>; rel=next", page[0]+1))
		}
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text(r))
	}
}

func TestC16_ADocumentThatStillStandsIsWhatItWas(t *testing.T) {
	small := `{"a":[1,2.5,9007199254740993,"x",null],"b":{"c":true}}`
	large := "[" + strings.Repeat(small+",", 2000) + small + "]"
	for name, c := range map[string]struct {
		kind, text, path string
		opts             map[string]any
	}{
		"small":   {"application/json", small, "/", nil},
		"large":   {"application/json", large, "/", nil},
		"null":    {"application/json", "null", "/", nil},
		"text":    {"text/plain", "some\ntext\n", "/", map[string]any{"parse": "text"}},
		"lines":   {"text/plain", "some\ntext\n", "/", map[string]any{"parse": "lines"}},
		"charset": {"text/plain; charset=iso-8859-1", "caf\xe9", "/", nil},
		"empty":   {"text/plain", "", "/", nil},
		"pages":   {"application/json", "[1,2,3,4,5]", "/page/1", map[string]any{"pages": &PageOption{By: "link", Max: 5}}},
		"long":    {"application/json", large, "/page/1", map[string]any{"pages": &PageOption{By: "link", Max: 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tagged(c.kind, func(*http.Request) string { return c.text }))
			a := newAsker(t, "http")
			opts := map[string]any{"url": s.URL + c.path}
			for k, v := range c.opts {
				opts[k] = v
			}
			fresh := newAsker(t, "http").doc(opts)["body"]
			asked := len(s.requests())
			var docs []any
			for range 4 {
				answer, err := a.ask(opts)
				must(t, err)
				docs = append(docs, answer.Doc.(map[string]any)["body"])
				answer.Committed()
			}
			for i, doc := range docs { // after all of them, for none may have changed an earlier one
				if !reflect.DeepEqual(doc, fresh) {
					t.Errorf("poll %d gives another document", i)
				}
			}
			for i, r := range s.requests()[asked:] {
				if got := r.Header.Get("If-None-Match") != ""; got != (i >= asked) {
					t.Errorf("request %d: conditional is %v", i, got)
				}
			}
		})
	}
}

func TestQuestionsAtOnceDoNotMixTheirAnswers(t *testing.T) {
	text := func(path string) string {
		return `[` + strings.Repeat(`"`+path+`",`, 200) + `{"` + path + `":"` + strings.Repeat(path, 20) + `"}]`
	}
	s := newSite(t, tagged("application/json", func(r *http.Request) string { return text(r.URL.Path) }))
	a := newAsker(t, "http")
	var wg sync.WaitGroup
	docs := make([]any, 400)
	for worker := range 8 {
		wg.Go(func() {
			for i := worker; i < len(docs); i += 8 {
				answer, err := a.ask(map[string]any{"url": fmt.Sprintf("%s/%d", s.URL, i%100)})
				if err != nil {
					t.Error(err)
					return
				}
				docs[i] = answer.Doc.(map[string]any)["body"]
				answer.Committed()
			}
		})
	}
	wg.Wait()
	for i, doc := range docs {
		var d jsonDecoder
		want, err := d.document([]byte(text(fmt.Sprintf("/%d", i%100))), nil)
		must(t, err)
		if !reflect.DeepEqual(doc, want) {
			t.Fatalf("question %d got the answer to another one", i)
		}
	}
}

// listener is a server of plain TCP: to each connection it answers the first request, if it answers at all, and hangs up
// when a second one comes, as a server does that closes what was idle.
type listener struct {
	net.Listener
	conns, requests atomic.Int32
	mute            atomic.Bool // it hangs up on the first request too
}

func newListener(t *testing.T) *listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &listener{Listener: l}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			wg.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return s
}

func (s *listener) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := 0; ; n++ {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		s.requests.Add(1)
		if n > 0 || s.mute.Load() {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
	}
}

func TestC20_AGetOnAStaleConnectionIsSentOnceMore(t *testing.T) {
	s := newListener(t)
	a := newAsker(t, "http")
	get := map[string]any{"url": "http://" + s.Addr().String()}
	asked := func(what string, conns, requests int32) {
		t.Helper()
		if c, r := s.conns.Swap(0), s.requests.Swap(0); c != conns || r != requests {
			t.Errorf("%s: %d requests on %d new connections, want %d on %d", what, r, c, requests, conns)
		}
	}
	a.doc(get)
	asked("the first", 1, 1)
	a.doc(get) // to the connection that the server gives up, and to a new one
	asked("on a stale connection", 1, 2)

	s.mute.Store(true)
	a.fails("reset", get)
	asked("a server that hangs up again", 1, 2)
	a.fails("reset", get)
	asked("a server that hangs up on a new connection", 1, 1)

	// What is not idempotent is sent once: nobody knows whether it was done.
	s.mute.Store(false)
	a.doc(get)
	asked("a server that is there again", 1, 1)
	a.fails("reset", map[string]any{"url": get["url"], "body": "do it"})
	asked("a POST on a stale connection", 0, 1)
}
