package fetchers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
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
	for _, c := range []struct {
		name, parse  string
		status       int
		kind, text   string
		want         any
		word, reason string
	}{
		{"latin 1", "auto", 200, "application/json; charset=iso-8859-1", "{\"a\":\"\xe9\"}", map[string]any{"a": "é"}, "", ""},
		{"UTF-16", "json", 200, "application/json; charset=utf-16le", "{\x00}\x00", map[string]any{}, "", ""},
		{"a charset that nobody knows", "json", 200, "application/json; charset=klingon", "{}", nil, "parse", "klingon"},
		{"login page", "json", 200, "text/html", page, nil, "parse", fmt.Sprintf("status 200, text/html, %d bytes", len(page))},
		{"login page, auto", "auto", 200, "text/html", page, page, "", ""},
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

func TestC18_TruncatedBody(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{}")
	})
	newAsker(t, "http").fails("reset", map[string]any{"url": s.URL})
}

func TestHTTPSizeCaps(t *testing.T) {
	packed := func(n int) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(bytes.Repeat([]byte("a"), n))
		z.Close()
		return b.Bytes()
	}
	var answer func(w http.ResponseWriter)
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL, "maxBytes": int64(10_000), "parse": "text"}

	answer = func(w http.ResponseWriter) { _, _ = w.Write(bytes.Repeat([]byte("a"), 10_000)) }
	if doc := a.doc(opts); len(doc["body"].(string)) != 10_000 {
		t.Error("exactly the bound")
	}
	answer = func(w http.ResponseWriter) { _, _ = w.Write(bytes.Repeat([]byte("a"), 10_001)) }
	a.fails("too-large", opts)
	answer = func(w http.ResponseWriter) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed(9_999))
	}
	if doc := a.doc(opts); len(doc["body"].(string)) != 9_999 {
		t.Error("packed")
	}
	answer = func(w http.ResponseWriter) { // a bomb
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed(50_000_000))
	}
	a.fails("too-large", opts)
	answer = func(w http.ResponseWriter) { // endless, and packed to nothing
		w.Header().Set("Content-Encoding", "gzip")
		for {
			if _, err := w.Write(packed(0)); err != nil {
				return
			}
		}
	}
	a.fails("too-large", opts)
	answer = func(w http.ResponseWriter) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "not gzip at all")
	}
	a.fails("parse", opts)
	answer = func(w http.ResponseWriter) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed(9_999)[:20])
	}
	a.fails("reset", opts)
	answer = func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", "br") }
	a.fails("parse", opts)
}

func TestC16_ConditionalRequests(t *testing.T) {
	version := 1
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf(`"v%d"`, version)
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(304)
			return
		}
		sends(200, "application/json", fmt.Sprintf(`{"version":%d}`, version))(w, r)
	})
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL}
	poll := func(commit bool) (conditional bool) {
		t.Helper()
		answer, err := a.ask(opts)
		must(t, err)
		doc := answer.Doc.(map[string]any)
		if !reflect.DeepEqual(doc["body"], map[string]any{"version": version}) || doc["status"] != 200 {
			t.Fatalf("version %d: %v", version, doc)
		}
		if commit {
			answer.Committed()
		}
		seen := s.requests()
		return seen[len(seen)-1].Header.Get("If-None-Match") != ""
	}
	for n := range 10 {
		if got := poll(true); got != (n > 0) {
			t.Fatalf("poll %d: conditional is %v", n, got)
		}
	}
	version = 2
	if !poll(false) { // the poll fails after the answer was read: nothing of it counts
		t.Error("not conditional")
	}
	if poll(true) {
		t.Error("a failed poll left a validator")
	}
	if !poll(true) {
		t.Error("not conditional after a commit")
	}
	a.request.Target = "another target"
	if poll(true) {
		t.Error("the validator of another target")
	}
	opts["headers"] = map[string]string{"X-New": "spec"}
	if poll(true) {
		t.Error("the validator of another question")
	}
	opts = map[string]any{"url": s.URL, "body": "{}", "method": "POST"}
	if poll(true) {
		t.Error("a POST has no validator")
	}
}

func TestC16_AFailedAskDropsTheValidator(t *testing.T) {
	down := false
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		switch {
		case down:
			w.WriteHeader(500)
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(304)
		default:
			sends(200, "application/json", "{}")(w, r)
		}
	})
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL}
	answer, err := a.ask(opts)
	must(t, err)
	answer.Committed()
	down = true
	a.fails("status", opts)
	down = false
	a.doc(opts)
	if seen := s.requests(); seen[1].Header.Get("If-None-Match") == "" || seen[2].Header.Get("If-None-Match") != "" {
		t.Error("the request after a failure has a condition")
	}
}

func TestAValidatorIsShownOnlyWhereItCameFrom(t *testing.T) {
	to := "/one"
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Etag", `"same everywhere"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(304)
			return
		}
		sends(200, "text/plain", r.URL.Path)(w, r)
	})
	a := newAsker(t, "http")
	for _, want := range []string{"/one", "/one", "/two"} {
		to = want
		answer, err := a.ask(map[string]any{"url": s.URL})
		must(t, err)
		answer.Committed()
		if doc := answer.Doc.(map[string]any); doc["body"] != want {
			t.Errorf("got %v, want %s", doc["body"], want)
		}
	}
	for i, want := range []bool{false, false, false, true, false, false} {
		if got := s.requests()[i].Header.Get("If-None-Match") != ""; got != want {
			t.Errorf("request %d: conditional is %v", i, got)
		}
	}
}

func TestLastModifiedOfTheSameSecondIsNoValidator(t *testing.T) {
	age := time.Duration(0)
	now := time.Now().UTC().Truncate(time.Second)
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now.Format(http.TimeFormat))
		w.Header().Set("Last-Modified", now.Add(-age).Format(http.TimeFormat))
		if r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(304)
			return
		}
		sends(200, "text/plain", "text")(w, r)
	})
	a := newAsker(t, "http")
	for _, want := range []bool{false, false, false, true} {
		answer, err := a.ask(map[string]any{"url": s.URL})
		must(t, err)
		answer.Committed()
		if answer.Doc.(map[string]any)["body"] != "text" {
			t.Error(answer.Doc)
		}
		seen := s.requests()
		if got := seen[len(seen)-1].Header.Get("If-Modified-Since") != ""; got != want {
			t.Errorf("request %d: conditional is %v", len(seen), got)
		}
		if len(seen) == 2 {
			age = time.Minute
		}
	}
}

func TestPages(t *testing.T) {
	pages, cut := 3, ""
	var s *site
	s = newSite(t, func(w http.ResponseWriter, r *http.Request) {
		n := 1
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &n)
		if cut != "" && n == 2 {
			http.Error(w, cut, http.StatusBadGateway)
			return
		}
		tag := fmt.Sprintf(`"%d"`, n)
		w.Header().Set("Etag", tag)
		if n < pages {
			w.Header().Set("Link", fmt.Sprintf(`<%s/?page=1>; rel="first", </?page=%d>; title="a, <b>; rel=\"prev\""; rel="last Next"`, s.URL, n+1))
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(304)
			return
		}
		sends(200, "application/json", fmt.Sprintf(`{"data":{"items":[%d,%d]}}`, 2*n, 2*n+1))(w, r)
	})
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL, "pages": &PageOption{By: "link", List: ".data.items", Max: 3}}
	for range 2 {
		answer, err := a.ask(opts)
		must(t, err)
		if body := answer.Doc.(map[string]any)["body"]; !reflect.DeepEqual(body, []any{2, 3, 4, 5, 6, 7}) {
			t.Fatalf("%v", body)
		}
		answer.Committed()
	}
	if seen := s.requests(); len(seen) != 6 || seen[3].Header.Get("If-None-Match") != `"1"` || seen[5].Header.Get("If-None-Match") != `"3"` {
		t.Errorf("%d requests", len(seen))
	}
	cut = "gateway"
	a.fails("status", opts)
	cut, pages = "", 4
	a.fails("pages", opts)
	opts["pages"] = &PageOption{By: "link", List: ".data.none", Max: 3}
	a.fails("parse", opts)
	opts["pages"] = &PageOption{By: "link", Max: 3}
	a.fails("parse", opts)
}

func TestPagesThatGoInACircle(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `</?page=2>; rel=next`)
		sends(200, "application/json", "[1]")(w, r)
	})
	newAsker(t, "http").fails("pages", map[string]any{"url": s.URL, "pages": &PageOption{By: "link", Max: 10}})
}

func TestPagesKeepTheSizeCapTogether(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			w.Header().Set("Link", `</?page=2>; rel=next`)
		}
		sends(200, "application/json", "[\""+strings.Repeat("x", 600)+"\"]")(w, r)
	})
	newAsker(t, "http").fails("too-large", map[string]any{"url": s.URL, "pages": &PageOption{By: "link", Max: 10}, "maxBytes": int64(1000)})
}

func TestListPath(t *testing.T) {
	for path, want := range map[string][]string{
		"": nil, ".": nil, ".a": {"a"}, ".a.b-c": {"a", "b-c"}, `."odd. name".x`: {"odd. name", "x"},
	} {
		if got, err := listPath(path); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q %v", path, got, err)
		}
	}
	for _, path := range []string{"a", ".a[]", ".a | .b", ".a..b", `."open`, ".a.", `."a"b`} {
		if got, err := listPath(path); err == nil {
			t.Errorf("%q: %q", path, got)
		}
	}
}

func TestHeadersAndSecretsNeverReachAnotherHost(t *testing.T) {
	other := newSite(t, sends(200, "application/json", "[2]"))
	var to string
	var status int
	home := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/start":
			w.Header().Set("Location", to)
			w.WriteHeader(status)
		case r.URL.Path == "/paged":
			w.Header().Set("Link", "<"+to+">; rel=next")
			sends(200, "application/json", "[1]")(w, r)
		default:
			sends(200, "application/json", "[3]")(w, r)
		}
	})
	a := newAsker(t, "http")
	a.request.Secrets = []string{"hunter2"}
	opts := map[string]any{"url": home.URL + "/start", "headers": map[string]string{"Authorization": "Bearer hunter2", "X-Custom": "mine"}}

	to, status = "/same", 302
	a.doc(opts)
	if r := home.requests()[1]; r.Header.Get("Authorization") != "Bearer hunter2" || r.Header.Get("X-Custom") != "mine" {
		t.Error("the header is lost on its own host")
	}
	to = other.URL + "/x"
	doc := a.doc(opts)
	if r := other.requests()[0]; r.Header.Get("Authorization") != "" || r.Header.Get("X-Custom") != "" || doc["url"] != other.URL+"/x" {
		t.Errorf("%v", r.Header)
	}
	to = strings.Replace(other.URL, "http://", "http://user:password@", 1)
	a.doc(opts)
	if r := other.requests()[1]; r.Header.Get("Authorization") != "" {
		t.Errorf("%v", r.Header)
	}
	to = other.URL + "/?leak=hunter2"
	if err := a.fails("redirect", opts); strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	to, status = other.URL, 307
	opts["body"] = "hunter2"
	opts["method"] = "POST"
	a.fails("redirect", opts)
	status = 303 // becomes a GET without the body
	a.doc(opts)
	if r := other.requests()[2]; r.Method != "GET" || r.ContentLength != 0 || r.Header.Get("Authorization") != "" {
		t.Errorf("%v", r)
	}
	delete(opts, "body")
	delete(opts, "method")
	opts["url"], opts["pages"], to = home.URL+"/paged", &PageOption{By: "link", Max: 3}, other.URL+"/page2"
	if doc := a.doc(opts); !reflect.DeepEqual(doc["body"], []any{1, 2}) {
		t.Errorf("%v", doc["body"])
	}
	if seen := other.requests(); len(seen) != 4 || seen[3].Header.Get("Authorization") != "" || seen[3].Header.Get("X-Custom") != "" {
		t.Errorf("%d requests", len(seen))
	}
}

func TestAHostThatSendsUsBackGetsNoHeaders(t *testing.T) {
	var home *site
	other := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, home.URL+"/admin/delete", http.StatusFound)
	})
	home = newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	})
	newAsker(t, "http").doc(map[string]any{"url": home.URL, "headers": map[string]string{"Authorization": "Bearer x"}})
	if seen := home.requests(); len(seen) != 2 || seen[1].Header.Get("Authorization") != "" {
		t.Errorf("%d requests, %v", len(seen), seen[1].Header)
	}
}

func TestRedirects(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/file":
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(302)
		case "/moved":
			http.Redirect(w, r, "/here", http.StatusMovedPermanently)
		}
	})
	a := newAsker(t, "http")
	a.fails("redirect", map[string]any{"url": s.URL + "/loop"})
	if n := len(s.requests()); n != 6 {
		t.Errorf("%d requests", n)
	}
	a.fails("redirect", map[string]any{"url": s.URL + "/file"})
	a.fails("redirect", map[string]any{"url": s.URL + "/moved", "redirects": int64(0)})
	if doc := a.doc(map[string]any{"url": s.URL + "/moved"}); doc["url"] != s.URL+"/here" { // C34
		t.Errorf("%v", doc)
	}
	if doc := a.doc(map[string]any{"url": s.URL + "/moved", "accept": []int64{301}}); doc["status"] != 301 {
		t.Errorf("%v", doc)
	}
}

func TestHTTPS(t *testing.T) {
	plainSite := newSite(t, sends(200, "application/json", "[2]"))
	s := &site{}
	s.Server = httptest.NewUnstartedServer(s.record(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/down":
			http.Redirect(w, r, plainSite.URL, http.StatusFound)
		case "/paged":
			w.Header().Set("Link", "<"+plainSite.URL+">; rel=next")
			sends(200, "application/json", "[1]")(w, r)
		}
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	a := newAsker(t, "http")
	a.fails("tls", map[string]any{"url": s.URL})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	doc := a.doc(map[string]any{"url": s.URL, "ca": ca})
	got := doc["tls"].(map[string]any)
	if got["expires"] != s.Certificate().NotAfter.UTC().Format(time.RFC3339) || got["version"] != "TLS 1.3" || got["protocol"] != "h2" {
		t.Errorf("%v", got)
	}
	a.fails("redirect", map[string]any{"url": s.URL + "/down", "ca": ca})
	a.fails("pages", map[string]any{"url": s.URL + "/paged", "ca": ca, "pages": &PageOption{By: "link", Max: 2}})
	if n := len(plainSite.requests()); n != 0 {
		t.Errorf("%d requests over http", n)
	}
	byName := strings.Replace(s.URL, "127.0.0.1", "localhost", 1) // C20: the certificate is for another name
	a.fails("tls", map[string]any{"url": byName, "ca": ca})
	a.fails("tls", map[string]any{"url": strings.Replace(plainSite.URL, "http:", "https:", 1)})
	a.fails("tls", map[string]any{"url": s.URL, "ca": "/no/such/file"})
}

func TestC20_Connections(t *testing.T) {
	a := newAsker(t, "http")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	closed := "http://" + l.Addr().String()
	l.Close()
	a.fails("refused", map[string]any{"url": closed})
	a.fails("dns", map[string]any{"url": "http://no-such-host.invalid/"})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/drip": // headers at once, a body that never ends
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/reset":
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	})
	a.fails("timeout", map[string]any{"url": s.URL + "/slow", "timeout": 100 * time.Millisecond})
	a.fails("timeout", map[string]any{"url": s.URL + "/drip", "timeout": 100 * time.Millisecond})
	a.fails("reset", map[string]any{"url": s.URL + "/reset"})
}

func TestC20_StaleKeepAliveIsTriedOnceMore(t *testing.T) {
	s := newSite(t, sends(200, "text/plain", "text"))
	a := newAsker(t, "http")
	for range 5 {
		a.doc(map[string]any{"url": s.URL})
		s.CloseClientConnections()
	}
}

func TestHTTPErrorsHideSecretsAndAddresses(t *testing.T) {
	a := newAsker(t, "http")
	a.request.Secrets = []string{"hunter2"}
	for word, u := range map[string]string{
		"dns":     "http://user:opensesame@no-such-host.invalid/a?token=abc",
		"invalid": "http://%zz/hunter2",
	} {
		err := a.fails(word, map[string]any{"url": u})
		for _, secret := range []string{"hunter2", "opensesame"} {
			if strings.Contains(err.Error(), secret) {
				t.Error(err)
			}
		}
	}
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

func TestC17_PatienceIsSharedByHostAndCredential(t *testing.T) {
	status, after := 429, "120"
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		if status != 200 {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	})
	a := newAsker(t, "http")
	mine := map[string]any{"url": s.URL + "/a", "headers": map[string]string{"Authorization": "Bearer mine"}}
	var asked interface{ RetryAfter() time.Duration }
	if err := a.fails("rate-limited", mine); !errors.As(err, &asked) || asked.RetryAfter() != 2*time.Minute {
		t.Error(err)
	}
	status = 200
	a.fails("rate-limited", mine)
	mine["url"] = s.URL + "/another/target"
	a.fails("rate-limited", mine)
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	a.doc(map[string]any{"url": s.URL, "headers": map[string]string{"Authorization": "Bearer yours"}})
	limits := a.set.Limits()
	host := strings.TrimPrefix(s.URL, "http://")
	if len(limits) != 1 || limits[0].Host != host || limits[0].Left > 2*time.Minute || limits[0].Left < 110*time.Second {
		t.Errorf("%v", limits)
	}
}

func TestC17_AnAcceptedStatusStillPutsOff(t *testing.T) {
	s := newSite(t, sends(429, "", ""))
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL, "accept": []int64{200, 429}}
	if doc := a.doc(opts); doc["status"] != 429 {
		t.Error(doc)
	}
	a.fails("rate-limited", opts)
}

func TestC17_HowLong(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		header string
		want   time.Duration // 0: not put off
	}{
		{429, "Retry-After: 120", 2 * time.Minute},
		{429, "Retry-After: Mon, 30 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{429, "Retry-After: Mon, 30 Nov 2026 11:00:00 GMT", time.Second},
		{429, "Retry-After: 315360000", time.Hour},
		{429, "Retry-After: 99999999999999999999", defaultPatience},
		{429, "Retry-After: soon", defaultPatience},
		{429, "Retry-After: -5", defaultPatience},
		{429, "Retry-After: 0", time.Second},
		{429, "X-Ratelimit-Reset: 5", defaultPatience},
		{429, "", defaultPatience},
		{403, "", 0},
		{403, "Retry-After: 60", time.Minute},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: 1796040090", 90 * time.Second},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: garbage", defaultPatience},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: NaN", defaultPatience},
		{403, "X-Ratelimit-Remaining: 12|X-Ratelimit-Reset: 1796040090", 0},
		{403, "Ratelimit-Remaining: 0|Ratelimit-Reset: 30", 30 * time.Second},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: 1e300", time.Hour},
		{503, "Retry-After: 10", 10 * time.Second},
		{503, "", 0},
		{200, "Retry-After: 10", 0},
		{429, "Date: Mon, 30 Nov 2026 13:00:00 GMT|Retry-After: Mon, 30 Nov 2026 13:00:10 GMT", 10 * time.Second},
	} {
		resp := &http.Response{StatusCode: c.status, Header: http.Header{}}
		for field := range strings.SplitSeq(c.header, "|") {
			name, v, _ := strings.Cut(field, ": ")
			resp.Header.Set(name, v)
		}
		if got, ok := asksToWait(resp, now); ok && got != c.want || ok != (c.want > 0) {
			t.Errorf("%d %s: got %s %v, want %s", c.status, c.header, got, ok, c.want)
		}
	}
}

func TestProxyFromTheEnvironment(t *testing.T) {
	// The environment is read once for a process, so the wish is looked at, not a request.
	c, err := NewSet().client("")
	must(t, err)
	if c.(*trust).Proxy == nil {
		t.Error("no proxy")
	}
}

func TestNextLink(t *testing.T) {
	for field, want := range map[string]string{
		`<a>; rel="next"`:                           "a",
		`<a>;rel=next`:                              "a",
		`<a>; rel="prev", <b>; REL="first NEXT"`:    "b",
		`<a,b;c>; rel="x"; title="<z>; rel=\"next"`: "",
		`<a>; rel=prev; rel=next, <c>; rel=next`:    "c",
		`<a`:                                        "",
		`garbage, ; ,, "`:                           "",
		`<>; rel=next`:                              "",
		`<a>; title="unclosed, <b>; rel=next`:       "",
		`<a>; rel="next`:                            "a",
	} {
		if got, _ := nextLink(field); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}

func FuzzNextLink(f *testing.F) {
	f.Add(`<a>; rel="prev", <b>; rel=next`)
	f.Fuzz(func(t *testing.T, field string) {
		if target, ok := nextLink(field); ok && !strings.Contains(field, "<"+target+">") {
			t.Errorf("%q is not in %q", target, field)
		}
	})
}

func TestSameOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"http://x/", "http://x:80/y", true},
		{"http://x/", "https://x/", true},
		{"https://x/", "http://x/", false},
		{"http://x:8080/", "https://x:8443/", false},
		{"http://x:1/", "http://x:2/", false},
		{"https://x/", "https://x.evil/", false},
		{"https://x/", "https://y/", false},
	} {
		a, _ := url.Parse(c.a)
		b, _ := url.Parse(c.b)
		if got := sameOrigin(a, b); got != c.want {
			t.Errorf("%s to %s: %v", c.a, c.b, got)
		}
	}
}
