package fetchers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

var httpTable = Fetcher{
	Name: "http",
	Help: "what a web server answers",
	Options: []Option{
		{Name: "url", Type: String, Template: InURL, Help: "the address, http or https"},
		{Name: "method", Type: Word, Words: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, Help: "GET, or POST where there is a body"},
		{Name: "headers", Type: Map, Template: Plain, Env: true, Help: "header fields; they never go to another host"},
		{Name: "query", Type: Map, Template: Plain, Help: "parameters added to the address"},
		{Name: "body", Type: String, Template: Plain, Env: true, Help: "the body as text"},
		{Name: "json", Type: JSON, Template: Plain, Env: true, Help: "the body as JSON"},
		{Name: "accept", Type: Ints, Default: []int64{200}, Help: "the statuses that are data; any other fails the poll"},
		{Name: "parse", Type: Word, Words: []string{"auto", "json", "text", "lines"}, Default: "auto", Help: "how the body is read; auto: JSON where the content type says so, or where plain text is an object or a list, else text, but a page of HTML fails the poll: it may be a login page"},
		{Name: "pages", Type: Pages, Help: "read a list over all its pages, joined; a list that is cut short fails the poll"},
		{Name: "maxBytes", Type: Size, Default: int64(10 * megabyte), Min: 1, Max: gigabyte, Help: "the most that the body may hold, all pages together, packed or not"},
		{Name: "redirects", Type: Int, Default: int64(5), Min: 0, Max: 20, Help: "how many redirects are followed; never from https to http"},
		{Name: "ca", Type: String, Template: Plain, Help: "a PEM file, at most 1 MB, with certificates to trust beside those of the system; a change of it counts from the next poll on"},
		timeoutOption,
	},
	Content: "body",
	Small:   "headers",
	Doc: []Member{
		{"status", "the status, one of accept"},
		{"headers", "the header fields by name in small letters; several of one name are joined by commas; no cookies"},
		{"body", "the body in the form of parse; with pages the joined list; null where there is none (HEAD, 204), and where a status outside 2xx comes with a page of HTML (parse: auto) or with JSON that cannot be read (auto, json)"},
		{"url", "where the answer came from, after redirects"},
		{"tls", "null over http; what the server showed at most a minute ago, since no connection is used for longer"},
		{"tls.expires", "the end of the server's certificate, RFC 3339"},
		{"tls.issuer", "who signed it"},
		{"tls.serial", "its number, hexadecimal"},
		{"tls.version", "such as TLS 1.3"},
		{"tls.protocol", "h2 for HTTP/2, else empty or http/1.1"},
		{"duration", "seconds until the whole answer was there"},
	},
	Check: checkHTTP,
}

// ownHeaders are the fields that the fetcher itself sets: a spec that set them would break its promises.
var ownHeaders = []string{
	"Connection", "Content-Length", "Transfer-Encoding", "Accept-Encoding", "If-None-Match", "If-Modified-Since",
	"If-Match", "If-Unmodified-Since", "If-Range", "Range", "Trailer", "Te", "Upgrade", "Expect",
}

func checkHTTP(o map[string]any) error {
	opts := options(o)
	if !opts.has("url") {
		return failf("invalid", "url must be set")
	}
	if opts.has("body") && opts.has("json") {
		return failf("invalid", "body and json exclude each other")
	}
	for name := range opts.dict("headers") {
		if slices.Contains(ownHeaders, textproto.CanonicalMIMEHeaderKey(name)) {
			return failf("invalid", "headers: %s is set by the fetcher itself", name)
		}
	}
	for _, n := range opts.numbers("accept") {
		if n < 200 || n > 599 {
			return failf("invalid", "accept: a status is 200 to 599, not %d", n)
		}
	}
	pages := get[*PageOption](opts, "pages")
	if pages == nil {
		return nil
	}
	if pages.By != "link" {
		return failf("invalid", "pages: by must be link")
	}
	if _, err := listPath(pages.List); err != nil {
		return err
	}
	if pages.Max < 0 {
		return failf("invalid", "pages: max is at least 1")
	}
	if form := opts.text("parse"); form == "text" || form == "lines" {
		return failf("invalid", "pages need JSON, not parse: %s", form)
	}
	return nil
}

// defaultPages is how many pages are read where the spec says nothing.
const defaultPages = 10

func (s *Set) http(parent context.Context, r Request) (Answer, error) {
	q, err := newQuestion(options(r.Options), r)
	if err != nil {
		return Answer{}, failure(parent, err, r.Secrets)
	}
	slot, err := s.slots.take(parent, q.url.Host, options(r.Options).timeout())
	if err != nil {
		return Answer{}, failure(parent, err, r.Secrets)
	}
	defer s.slots.give(slot)
	ctx, cancel := context.WithTimeout(parent, options(r.Options).timeout())
	defer cancel()
	began := time.Now()
	client, err := s.client(ctx, r.Target, options(r.Options).text("ca"), began)
	if err != nil {
		return Answer{}, failure(parent, err, r.Secrets)
	}
	want := r.Narrow.document()
	x := s.exchange(q, client, r.Narrow)
	defer x.end()
	first, list, err := x.pages(ctx)
	if err != nil {
		return Answer{}, failure(parent, fmt.Errorf("%s %s: %w", q.method, named(q.url), withoutURL(err)), r.Secrets)
	}
	doc := map[string]any{"status": first.status, "body": list, "duration": time.Since(began).Seconds()}
	if want.has("headers") {
		doc["headers"] = headerDoc(first.header)
	}
	if want.has("url") {
		doc["url"] = x.spell(unnamed(first.url))
	}
	if want.has("tls") {
		doc["tls"] = tlsDoc(first.tls)
	}
	return Answer{Doc: doc, Committed: s.answers.keeping(q.key, r.Narrow, x.fresh)}, nil
}

// pages reads the answer, and where the spec asks for it the pages after it.
func (x *exchange) pages(ctx context.Context) (first *reply, doc any, err error) {
	first, err = x.get(ctx, x.url, true)
	if err != nil {
		return nil, nil, err
	}
	if x.paged == nil || first.status/100 != 2 {
		doc, err = x.parse(first, x.form, x.want)
		return first, doc, err
	}
	path, err := listPath(x.paged.List)
	if err != nil {
		return nil, nil, err
	}
	want := x.want.at(path)
	if doc, err = x.parse(first, x.form, want); err != nil {
		return nil, nil, err
	}
	list, err := listAt(doc, path)
	if err != nil {
		return nil, nil, err
	}
	most := int(x.paged.Max)
	if most <= 0 {
		most = defaultPages
	}
	list = slices.Clip(list) // the document that is kept with a validator must not grow
	visited := map[string]bool{x.text: true}
	page, carry := first, !first.left
	for n := 2; ; n++ {
		next, err := x.nextPage(page)
		if err != nil || next == nil {
			return first, list, err
		}
		if n > most {
			return nil, nil, failf("pages", "the list goes on after %d pages", most)
		}
		if visited[next.String()] {
			return nil, nil, failf("pages", "page %d is one that was read before", n)
		}
		visited[next.String()] = true
		carry = carry && sameOrigin(x.url, next)
		if page, err = x.get(ctx, next, carry); err != nil {
			return nil, nil, fmt.Errorf("page %d: %w", n, err)
		}
		carry = carry && !page.left
		if page.status/100 != 2 {
			return nil, nil, failf("pages", "page %d: status %d", n, page.status)
		}
		doc, err := x.parse(page, "json", want)
		if err == nil {
			var more []any
			more, err = listAt(doc, path)
			list = append(list, more...)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("page %d: %w", n, err)
		}
	}
}

// listPath takes a path such as .data.items or ."odd name" apart.
func listPath(path string) ([]string, error) {
	wrong := failf("invalid", "pages: list %q is not a path such as .items", path)
	var names []string
	for rest := strings.TrimSuffix(path, "."); rest != ""; {
		after, ok := strings.CutPrefix(rest, ".")
		if !ok || strings.HasSuffix(path, ".") && path != "." {
			return nil, wrong
		}
		var name string
		if quoted, err := strconv.QuotedPrefix(after); err == nil {
			name, err = strconv.Unquote(quoted)
			if err != nil {
				return nil, wrong
			}
			rest = after[len(quoted):]
		} else {
			end := strings.IndexByte(after, '.')
			if end < 0 {
				end = len(after)
			}
			name, rest = after[:end], after[end:]
			if strings.ContainsAny(name, "[]|()\"") {
				return nil, wrong
			}
		}
		if name == "" {
			return nil, wrong
		}
		names = append(names, name)
	}
	return names, nil
}

func listAt(doc any, path []string) ([]any, error) {
	for _, name := range path {
		object, ok := doc.(map[string]any)
		if !ok {
			return nil, failf("parse", "no list at .%s", strings.Join(path, "."))
		}
		doc = object[name]
	}
	list, ok := doc.([]any)
	if !ok {
		return nil, failf("parse", "no list at .%s", strings.Join(path, "."))
	}
	return list, nil
}

// headerDoc is the header as a spec sees it: names in small letters, several fields of a name joined. Cookies are
// secrets of a session and left out.
func headerDoc(h http.Header) map[string]any {
	doc := make(map[string]any, len(h))
	for name, values := range h {
		if name != "Set-Cookie" {
			doc[inSmallLetters(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		}
	}
	return doc
}

// withoutURL takes the address off an error of the client: it may hold what nobody wants to see in a log.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// smallLetters are the names of the fields that most answers have, so that they need not be spelled anew each time.
var smallLetters = func() map[string]string {
	names := map[string]string{}
	for _, name := range strings.Fields("age cache-control connection content-encoding content-length content-type date etag " +
		"expires keep-alive last-modified link location retry-after server strict-transport-security transfer-encoding vary via " +
		"x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset x-request-id") {
		names[textproto.CanonicalMIMEHeaderKey(name)] = name
	}
	return names
}()

func inSmallLetters(name string) string {
	if small, ok := smallLetters[name]; ok {
		return small
	}
	return strings.ToLower(name)
}
