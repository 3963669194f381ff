package fetchers

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// exchange is one question on its way, over redirects and pages.
type exchange struct {
	*question
	set    *Set
	client http.RoundTripper
	known  map[string]*reply // answers to the same question that were committed, by their address
	fresh  map[string]*reply // answers of this exchange that may be asked for again by their validators
	left   int64             // bytes that bodies may still hold
}

// reply is one answer, read to its end.
type reply struct {
	body
	header http.Header
	url    *url.URL      // where it came from in the end
	left   bool          // whether that is another host than the one asked, or was on the way
	wait   time.Duration // how long the host asks not to be asked; 0: it does not
	tls    *tls.ConnectionState
	// etag and modified are its validators; both empty: there are none.
	etag, modified string
}

// get asks one address. carry says that the spec's header and body may go there.
func (x *exchange) get(ctx context.Context, u *url.URL, carry bool) (*reply, error) {
	asked := u.String()
	old := x.known[asked]
	a, err := x.follow(ctx, u, carry, old)
	if err != nil {
		return nil, err
	}
	if a.status == http.StatusNotModified && old.cameFrom(a.url) {
		a = old.renewed(a)
	}
	if a.wait > 0 && !slices.Contains(x.accept, int64(a.status)) {
		return nil, &Error{Word: "rate-limited", Wait: a.wait, Err: fmt.Errorf("status %d: %s asks for patience, %s", a.status, a.url.Host, a.wait)}
	}
	if !slices.Contains(x.accept, int64(a.status)) {
		return nil, failf("status", "status %d is not accepted (%s, %d bytes)", a.status, a.media(), len(a.data))
	}
	if x.left -= int64(len(a.data)); x.left < 0 {
		return nil, failf("too-large", "more than %d bytes", x.maxBytes)
	}
	if x.method == http.MethodGet && x.body == nil && a.status == http.StatusOK && (a.etag != "" || a.modified != "") {
		x.fresh[asked] = a
	}
	return a, nil
}

// follow sends the request and follows redirects.
func (x *exchange) follow(ctx context.Context, u *url.URL, carry bool, old *reply) (*reply, error) {
	method, payload, left := x.method, x.body, !carry
	for n := 0; ; n++ {
		a, err := x.send(ctx, u, method, payload, carry, old)
		if err != nil {
			return nil, err
		}
		a.left = left
		to := a.header.Get("Location")
		if !redirects(a.status) || to == "" || slices.Contains(x.accept, int64(a.status)) {
			return a, nil
		}
		if n >= x.redirects {
			return nil, failf("redirect", "more than %d redirects", x.redirects)
		}
		next, err := x.step("redirect", u, to)
		if err != nil {
			return nil, err
		}
		if a.status < 307 && method != http.MethodGet && method != http.MethodHead {
			method, payload = http.MethodGet, nil
		}
		if !sameOrigin(u, next) {
			if payload != nil {
				return nil, failf("redirect", "a redirect of a request with a body to another host")
			}
			carry, left = false, true // for good: that host could send us anywhere
		}
		u = next
	}
}

func redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// step reads where a redirect or a page link leads, and refuses what it may not: word says which of them it is.
func (x *exchange) step(word string, from *url.URL, to string) (*url.URL, error) {
	ref, err := url.Parse(to)
	if err != nil {
		return nil, failf(word, "it leads to what is no address")
	}
	next, err := address(from.ResolveReference(ref).String())
	if err != nil {
		return nil, failf(word, "it leads where nobody can go: %w", err)
	}
	next.User = nil
	if from.Scheme == "https" && next.Scheme != "https" {
		return nil, failf(word, "it leads from https to http")
	}
	if !sameOrigin(x.url, next) && x.reveals(next) {
		return nil, failf(word, "it would carry a secret to another host")
	}
	return next, nil
}

// reveals says whether an address holds a secret, however it is spelled there. Values too short to be secrets do not
// count: every address would hold them.
func (x *exchange) reveals(u *url.URL) bool {
	query, _ := url.QueryUnescape(u.RawQuery)
	text := strings.Join([]string{u.String(), u.Path, query}, "\n")
	for _, s := range x.secrets {
		if len(s) >= 4 && Redact(text, []string{s}) != text {
			return true
		}
	}
	return false
}

// send asks once.
func (x *exchange) send(ctx context.Context, u *url.URL, method string, payload []byte, carry bool, old *reply) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, shown(u), nil)
	if err != nil {
		return nil, failf("invalid", "%w", withoutURL(err))
	}
	credential := ""
	if carry {
		req.Header, req.Host, credential = x.header.Clone(), x.host, x.credential
	} else {
		req.Header.Set("User-Agent", "sessevents")
		req.Header.Set("Accept", "*/*")
	}
	if payload != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(payload)), int64(len(payload))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	} else {
		req.Header.Del("Content-Type")
	}
	req.Header.Set("Accept-Encoding", "gzip")
	if old.cameFrom(u) {
		if old.etag != "" {
			req.Header.Set("If-None-Match", old.etag)
		}
		if old.modified != "" {
			req.Header.Set("If-Modified-Since", old.modified)
		}
	}
	if err := x.set.patience.check(u.Host, credential); err != nil {
		return nil, err
	}
	resp, err := x.client.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	wait := x.set.patience.hear(u.Host, credential, resp, time.Now())
	a := &reply{wait: wait, header: resp.Header, url: u, tls: resp.TLS, body: body{status: resp.StatusCode, kind: resp.Header.Get("Content-Type")}}
	if a.data, err = x.read(resp, slices.Contains(x.accept, int64(resp.StatusCode))); err != nil {
		return nil, err
	}
	a.etag, a.modified = validators(resp)
	return a, nil
}

// refusedBytes is how much of a body is read that will not be used: enough to keep the connection.
const refusedBytes = 64 * kilobyte

// read reads a body to its end, no more than the spec allows, neither packed nor unpacked.
func (x *exchange) read(resp *http.Response, wanted bool) ([]byte, error) {
	if !wanted {
		data, _ := io.ReadAll(io.LimitReader(resp.Body, refusedBytes))
		return data, nil
	}
	packed := &bounded{r: resp.Body, left: x.left, err: failf("too-large", "more than %d bytes", x.maxBytes)}
	var r io.Reader = packed
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); {
	case encoding == "" || encoding == "identity" || resp.StatusCode == http.StatusNotModified:
	case encoding == "gzip" || encoding == "x-gzip":
		unzip, err := gzip.NewReader(packed)
		if errors.Is(err, io.EOF) { // no body at all: HEAD, 204
			return nil, nil
		}
		if err != nil {
			return nil, packingError(err)
		}
		r = &bounded{r: unzip, left: x.left, err: packed.err}
	default:
		return nil, failf("parse", "the content encoding %s is not understood", plain(encoding, 40))
	}
	var data bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= x.left {
		data.Grow(int(min(n, megabyte)) + bytes.MinRead)
	}
	if _, err := data.ReadFrom(r); err != nil {
		return nil, packingError(err)
	}
	return data.Bytes(), nil
}

func packingError(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return failf("parse", "the body is not gzip though it says so")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return failf("reset", "the body broke off")
	}
	return fmt.Errorf("read the body: %w", err)
}

// bounded fails with err once there is more than left bytes.
type bounded struct {
	r    io.Reader
	left int64
	err  error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, b.err
	}
	return n, err
}
