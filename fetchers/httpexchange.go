package fetchers

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// exchange is one question on its way, over redirects and pages.
type exchange struct {
	*question
	set    *Set
	client http.RoundTripper
	known  []*reply // answers to the same question that were committed
	fresh  []*reply // answers of this exchange that may be asked for again by their validators
	want   *Want    // of the body
	// headers says that somebody looks at the header once the answer is there.
	headers bool
	left    int64 // bytes that bodies may still hold
	// decoder and buffers are borrowed until the exchange is over: what was read lies in the buffers.
	decoder *jsonDecoder
	buffers []*bytes.Buffer
}

// lent are what an exchange needs for a moment, so that each need not make its own.
type lent struct {
	decoders sync.Pool // of *jsonDecoder, which know the names and the words of earlier answers
	buffers  sync.Pool // of *bytes.Buffer
}

// maxLent bounds the buffers that are kept to be lent again.
const maxLent = 256 * kilobyte

func (l *lent) decoder() *jsonDecoder {
	if d, ok := l.decoders.Get().(*jsonDecoder); ok {
		return d
	}
	return &jsonDecoder{}
}

func (l *lent) buffer() *bytes.Buffer {
	if b, ok := l.buffers.Get().(*bytes.Buffer); ok {
		return b
	}
	return &bytes.Buffer{}
}

func (s *Set) exchange(q *question, c *client, narrow *Narrow) *exchange {
	want := narrow.document()
	return &exchange{
		set: s, client: c, question: q, known: s.answers.take(q.key, narrow), want: want.Member("body"),
		headers: want.has("headers") || q.paged != nil, left: q.maxBytes, decoder: s.lent.decoder(),
	}
}

// end gives back what was borrowed. No answer may hold a part of it.
func (x *exchange) end() {
	x.decoder.data = nil
	x.set.lent.decoders.Put(x.decoder)
	for _, b := range x.buffers {
		if b.Cap() <= maxLent {
			b.Reset()
			x.set.lent.buffers.Put(b)
		}
	}
}

// reply is one answer, read to its end.
type reply struct {
	body
	asked  string        // the address that was asked
	header http.Header   // nil where nobody looks at it any more
	url    *url.URL      // where it came from in the end
	from   string        // the same as text
	size   int64         // of the body as it was read
	left   bool          // whether that is another host than the one asked, or was on the way
	wait   time.Duration // how long the host asks not to be asked; 0: it does not
	tls    *tls.ConnectionState
	// etag and modified are its validators; both empty: there are none.
	etag, modified string
	// read says that doc is what parse makes of the body, as far as it is wanted; the body then need not be there any
	// more.
	read bool
	doc  any
	// kept says that it holds nothing borrowed, weight about how many bytes doc takes.
	kept   bool
	weight int
}

// get asks one address. carry says that the spec's header and body may go there.
func (x *exchange) get(ctx context.Context, u *url.URL, carry bool) (*reply, error) {
	asked := x.spell(u)
	old := x.kept(asked)
	a, err := x.follow(ctx, u, carry, old)
	if err == nil && a.status == http.StatusNotModified && old.cameFrom(a.from) && !a.names(old) {
		old = nil
		a, err = x.follow(ctx, u, carry, nil)
	}
	if err != nil {
		return nil, err
	}
	if a.status == http.StatusNotModified && old.cameFrom(a.from) {
		a = old.renewed(a)
	}
	if a.wait > 0 && !slices.Contains(x.accept, int64(a.status)) {
		return nil, &Error{Word: "rate-limited", Wait: a.wait, Err: fmt.Errorf("status %d: %s asks for patience, %s", a.status, x.hostWord(a.url), a.wait)}
	}
	if !slices.Contains(x.accept, int64(a.status)) {
		return nil, failf("status", "status %d is not accepted (%s, %d bytes)", a.status, a.media(), a.size)
	}
	if !x.headers {
		a.header = nil
	}
	if x.left -= a.size; x.left < 0 {
		return nil, failf("too-large", "more than %d bytes", x.maxBytes)
	}
	if x.method == http.MethodGet && x.body == nil && a.status == http.StatusOK && (a.etag != "" || a.modified != "") {
		a.asked = asked
		x.fresh = append(x.fresh, a)
	}
	return a, nil
}

// kept is the committed answer of an address; nil: there is none.
func (x *exchange) kept(asked string) *reply {
	for _, r := range x.known {
		if r.asked == asked {
			return r
		}
	}
	return nil
}

// parse is what is wanted of the document of an answer, in the form that the spec asks for.
func (x *exchange) parse(a *reply, form string, want *Want) (any, error) {
	if a.read {
		return a.doc, nil
	}
	if x.method == http.MethodHead { // what its header says of a body is said of that of a GET
		return nil, nil
	}
	x.decoder.made = 0
	doc, err := a.body.parse(x.decoder, form, want)
	if err != nil {
		return nil, err
	}
	a.read, a.doc, a.weight = true, doc, x.decoder.made
	switch doc := doc.(type) {
	case string:
		a.weight = int(a.size)
	case []any:
		if form == "lines" {
			a.weight = int(a.size) + 32*len(doc)
		}
	}
	return doc, nil
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
		return nil, failf(word, "it leads where nobody can go")
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
	credential := ""
	if carry {
		credential = x.credential
	}
	if err := x.set.patience.check(u.Host, credential, x.hostWord(u)); err != nil {
		return nil, err
	}
	from := x.spell(u)
	resp, err := x.client.RoundTrip(x.request(ctx, u, from, method, payload, carry, old))
	if err != nil {
		return nil, spoken(err)
	}
	defer resp.Body.Close()
	wait := x.set.patience.hear(u.Host, credential, resp, time.Now())
	a := &reply{wait: wait, header: resp.Header, url: u, from: from, tls: resp.TLS, body: body{status: resp.StatusCode, kind: resp.Header.Get("Content-Type")}}
	if a.data, err = x.read(resp, slices.Contains(x.accept, int64(resp.StatusCode))); err != nil {
		return nil, err
	}
	a.size = int64(len(a.data))
	a.etag, a.modified = validators(resp)
	return a, nil
}

// request is what is sent. The client only reads a header, so that of the question serves for all its requests.
func (x *exchange) request(ctx context.Context, u *url.URL, from, method string, payload []byte, carry bool, old *reply) *http.Request {
	r := (&http.Request{Method: method, URL: unnamed(u), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	own := false
	r.Header = plainHeader
	if carry {
		r.Header, r.Host = x.header, x.host
	}
	change := func(name, v string) {
		if !own {
			r.Header, own = maps.Clone(r.Header), true
		}
		if v == "" {
			delete(r.Header, name)
		} else {
			r.Header[name] = []string{v}
		}
	}
	switch {
	case payload != nil:
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(payload)), int64(len(payload))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	case x.body != nil: // a redirect took it away
		change("Content-Type", "")
	}
	if old.cameFrom(from) {
		if old.etag != "" {
			change("If-None-Match", old.etag)
		}
		if old.modified != "" {
			change("If-Modified-Since", old.modified)
		}
	}
	return r
}

// refusedBytes is how much of a body is read that will not be used: enough to keep the connection.
const refusedBytes = 64 * kilobyte

// read reads a body to its end, no more than the spec allows, neither packed nor unpacked.
func (x *exchange) read(resp *http.Response, wanted bool) ([]byte, error) {
	if !wanted {
		if resp.ContentLength == 0 || resp.StatusCode == http.StatusNotModified {
			return nil, nil
		}
		data, _ := io.ReadAll(io.LimitReader(resp.Body, refusedBytes))
		return data, nil
	}
	packed := &bounded{r: resp.Body, left: x.left, most: x.maxBytes}
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
		r = &bounded{r: unzip, left: x.left, most: x.maxBytes}
	default:
		return nil, failf("parse", "the content encoding is not understood")
	}
	data := x.set.lent.buffer()
	x.buffers = append(x.buffers, data)
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
	return fmt.Errorf("read the body: %w", spoken(err))
}

// bounded fails once there is more than left bytes; most is what the user said.
type bounded struct {
	r          io.Reader
	left, most int64
}

func (b *bounded) tooLarge() error { return failf("too-large", "more than %d bytes", b.most) }

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.tooLarge()
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, b.tooLarge()
	}
	return n, err
}
