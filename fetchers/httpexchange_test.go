package fetchers

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

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
	to = other.URL + "/page2?leak=hunter%32"
	if err := a.fails("pages", opts); strings.Contains(err.Error(), "hunter") {
		t.Error(err)
	}
	to = other.URL + "/page2?leak=hunter2"
	a.fails("pages", opts)
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
	if err := a.fails("dns", map[string]any{"url": "http://no-such-host.invalid/"}); !strings.Contains(err.Error(), "no such host") {
		t.Error(err)
	}
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

func TestC20_ACertificateForAnotherName(t *testing.T) {
	by := newAuthority(t)
	s := newTLSSite(t, false, sends(200, "text/plain", "x"))
	s.cert.Store(by.numbered(1)) // for 127.0.0.1
	s.StartTLS()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, by.pem)
	a := newAsker(t, "http")
	a.doc(map[string]any{"url": s.URL, "ca": ca})
	if err := a.fails("tls", map[string]any{"url": strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "ca": ca}); !strings.Contains(err.Error(), "for another host") {
		t.Error(err)
	}
}

func TestC20_ConnectionsThatTheServerClosesBetweenPolls(t *testing.T) {
	s := newSite(t, sends(200, "text/plain", "text"))
	a := newAsker(t, "http")
	for range 5 {
		a.doc(map[string]any{"url": s.URL})
		s.CloseClientConnections()
	}
}

func TestC20_GoAwayBetweenPolls(t *testing.T) {
	s := &site{}
	s.Server = httptest.NewUnstartedServer(s.record(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // over HTTP/2 the server says GOAWAY
		sends(200, "text/plain", r.Proto)(w, r)
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	a := newAsker(t, "http")
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	for range 10 {
		if doc := a.doc(map[string]any{"url": s.URL, "ca": ca}); doc["body"] != "HTTP/2.0" {
			t.Fatal(doc["body"])
		}
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
