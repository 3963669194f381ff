package fetchers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/sessevents/sessevents/internal/value"
)

// site is a real server on loopback that remembers what it was asked.

type site struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func newSite(t *testing.T, answer http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(s.record(answer))
	t.Cleanup(s.Close)
	return s
}

func (s *site) record(answer http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Clone(context.Background()))
		s.mu.Unlock()
		answer(w, r)
	})
}

func (s *site) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*http.Request(nil), s.seen...)
}

func sends(status int, kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

func TestHTTPRequest(t *testing.T) {
	var sent string
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		sent = string(data)
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.Header().Set("Set-Cookie", "session=1")
		sends(200, "application/json", `{"id":9007199254740993}`)(w, r)
	})
	a := newAsker(t, "http")
	doc := a.doc(map[string]any{
		"url": s.URL + "/a/b?x=1#fragment", "query": map[string]string{"q": "a&b c"}, "headers": map[string]string{"X-One": "1", "host": "other.example"},
		"json": map[string]any{"n": 9007199254740993},
	})
	if !reflect.DeepEqual(doc["body"], map[string]any{"id": 9007199254740993}) || doc["status"] != 200 || doc["tls"] != nil {
		t.Errorf("%v", doc)
	}
	head := doc["headers"].(map[string]any)
	if head["x-two"] != "a, b" || head["set-cookie"] != nil || doc["url"] != s.URL+"/a/b?x=1&q=a%26b+c" {
		t.Errorf("%v", doc)
	}
	r := s.requests()[0]
	if r.Method != "POST" || r.URL.RawQuery != "x=1&q=a%26b+c" || r.Header.Get("X-One") != "1" || r.Host != "other.example" ||
		r.Header.Get("Content-Type") != "application/json" || sent != `{"n":9007199254740993}` {
		t.Errorf("%s %v %q", r.Method, r, sent)
	}
	if d := doc["duration"].(float64); d <= 0 || d > 10 {
		t.Error(d)
	}
}

func TestC18_CharsetAndContent(t *testing.T) {
	page := "<html><b>please log in, dear user</b></html>"
	deep := strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1)
	for _, c := range []struct {
		name, parse  string
		status       int
		kind, text   string
		want         any
		word, reason string
	}{
		{"latin 1", "auto", 200, "application/json; charset=iso-8859-1", "{\"a\":\"\xe9\"}", map[string]any{"a": "é"}, "", ""},
		{"UTF-16", "json", 200, "application/json; charset=utf-16le", "{\x00}\x00", map[string]any{}, "", ""},
		{"a charset that nobody knows", "json", 200, "application/json; charset=klingon", "{}", nil, "parse", "the charset is not understood"},
		{"login page", "json", 200, "text/html", page, nil, "parse", fmt.Sprintf("status 200, text/html, %d bytes", len(page))},
		{"login page, auto", "auto", 200, "text/html", page, nil, "parse", fmt.Sprintf("status 200, text/html, %d bytes: a page of HTML", len(page))},
		{"login page, asked for", "text", 200, "text/html", page, page, "", ""},
		{"login page, asked for by lines", "lines", 200, "text/html", page, []any{page}, "", ""},
		{"XHTML", "auto", 200, "application/xhtml+xml; charset=utf-8", page, nil, "parse", "application/xhtml+xml"},
		{"a page of another charset", "auto", 200, "text/html; charset=klingon", page, nil, "parse", "text/html"},
		{"a page that says it is text", "auto", 200, "text/plain", page, nil, "parse", "status 200, text/plain"},
		{"a page without a type", "auto", 200, "", "\xef\xbb\xbf\n<?xml version=\"1.0\"?>\n<!-- a --><!-- b -->\n<!DOCTYPE HTML>dear user", nil, "parse", "no content type"},
		{"an empty page", "auto", 200, "text/html", "", nil, "parse", "text/html, 0 bytes"},
		{"a text with a tag", "auto", 200, "text/plain", "<p align=center>", "<p align=center>", "", ""},
		{"no page", "auto", 200, "text/xml", "<htmlx/>", "<htmlx/>", "", ""},
		{"a comment that does not end", "auto", 200, "", "<!-- <html>", "<!-- <html>", "", ""},
		{"404 that is accepted, auto", "auto", 404, "text/html", page, nil, "", ""},
		{"404 with text, auto", "auto", 404, "text/plain", "no", "no", "", ""},
		{"404 with broken JSON, auto", "auto", 404, "application/json", "{", nil, "", ""},
		{"404 with text", "json", 404, "text/plain", "no", nil, "", ""},
		{"a page that says it is JSON", "auto", 200, "application/json", page, nil, "parse", "status 200, application/json"},
		{"empty", "json", 200, "application/json", "", nil, "parse", "status 200, application/json, 0 bytes"},
		{"empty, auto", "auto", 200, "application/json", "", nil, "parse", "status 200"},
		{"empty text", "auto", 200, "", "", "", "", ""},
		{"204", "json", 204, "application/json", "", nil, "", ""},
		{"null", "json", 200, "application/json", "null", nil, "", ""},
		{"problem+json", "auto", 200, "application/problem+json", `{"a":1}`, map[string]any{"a": 1}, "", ""},
		{"JSON without a type", "auto", 200, "", `[1]`, []any{1}, "", ""},
		{"a number without a type", "auto", 200, "text/plain", "12", "12", "", ""},
		{"half", "json", 200, "application/json", `{"a":`, nil, "parse", ""},
		{"two values", "json", 200, "application/json", `{} {}`, nil, "parse", ""},
		{"not UTF-8", "json", 200, "application/json", "{\"a\":\"\xff\"}", nil, "parse", ""},
		{"BOM", "json", 200, "application/json", "\xef\xbb\xbf{}", map[string]any{}, "", ""},
		{"404 that is accepted", "json", 404, "text/html", page, nil, "", ""},
		{"404 with JSON", "json", 404, "application/json", `{"a":1}`, map[string]any{"a": 1}, "", ""},
		{"500", "json", 500, "text/html", page, nil, "status", "status 500 is not accepted (text/html, 44 bytes)"},
		{"deep", "json", 200, "application/json", deep, nil, "parse", "status 200, application/json, 2002 bytes: nested deeper than 1000 levels"},
		{"deep, not wanted as JSON", "auto", 200, "text/plain", deep, nil, "parse", "nested deeper than 1000 levels"},
		{"deep, asked for as text", "text", 200, "application/json", deep, deep, "", ""},
		{"lines", "lines", 200, "text/plain", "a\r\nb\n", []any{"a", "b"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, sends(c.status, c.kind, c.text))
			a := newAsker(t, "http")
			answer, err := a.ask(map[string]any{"url": s.URL, "parse": c.parse, "accept": []int64{200, 204, 404}})
			if c.word == "" {
				if err != nil || !reflect.DeepEqual(answer.Doc.(map[string]any)["body"], c.want) {
					t.Fatalf("%v %#v", err, answer.Doc)
				}
				return
			}
			wantWord(t, c.word, answer, err)
			if !strings.Contains(err.Error(), c.reason) || strings.Contains(err.Error(), "dear user") {
				t.Error(err)
			}
		})
	}
}

func TestC18_AnAnswerToHeadHasNoBody(t *testing.T) {
	for _, kind := range []string{"text/html", "application/json", "text/plain"} {
		s := newSite(t, sends(200, kind, ""))
		a := newAsker(t, "http")
		for _, form := range []string{"auto", "json", "text", "lines"} {
			if doc := a.doc(map[string]any{"url": s.URL, "method": "HEAD", "parse": form}); doc["body"] != nil || doc["status"] != 200 {
				t.Errorf("%s, %s: %v", kind, form, doc)
			}
		}
	}
}

func TestC18_TruncatedBody(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{}")
	})
	newAsker(t, "http").fails("reset", map[string]any{"url": s.URL})
}

func TestHTTPRefusesBadQuestions(t *testing.T) {
	a := newAsker(t, "http")
	for _, u := range []string{"", "ftp://x/", "x.example/", "http://", "http://a b/", "http://x/\n", "file:///etc/passwd", "//x"} {
		_, err := a.set.http(context.Background(), Request{Options: a.with(map[string]any{"url": u})})
		wantWord(t, "invalid", Answer{}, err)
	}
	a.fails("invalid", map[string]any{"url": "http://127.0.0.1", "headers": map[string]string{"X": "a\r\nY: b"}})
	a.fails("invalid", map[string]any{"url": "http://127.0.0.1", "headers": map[string]string{"X Y": "a"}})
	for _, o := range []map[string]any{
		{},
		{"url": "http://x", "body": "a", "json": map[string]any{}},
		{"url": "http://x", "headers": map[string]string{"if-none-match": "x"}},
		{"url": "http://x", "accept": []int64{20}},
		{"url": "http://x", "pages": &PageOption{By: "cursor"}},
		{"url": "http://x", "pages": &PageOption{By: "link", List: ".a[]"}},
	} {
		if All["http"].Check(o) == nil {
			t.Errorf("%v is taken", o)
		}
	}
}

// proxyEnv makes the test binary ask once through the proxy of its environment, which is read once for a process.
