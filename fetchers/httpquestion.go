package fetchers

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// question is a request that may be sent.
type question struct {
	url       *url.URL
	method    string
	header    http.Header
	host      string // a Host field of the spec's own
	body      []byte
	accept    []int64
	form      string
	paged     *PageOption
	redirects int
	maxBytes  int64
	secrets   []string
	// key names the question among all of the set, credential the one who asks.
	key, credential string
}

func newQuestion(o options, r Request) (*question, error) {
	q := &question{
		method: o.text("method"), header: http.Header{}, accept: o.numbers("accept"), form: o.text("parse"),
		paged: get[*PageOption](o, "pages"), redirects: int(o.number("redirects")), maxBytes: o.number("maxBytes"),
		secrets: r.Secrets,
	}
	var err error
	if q.url, err = address(o.text("url")); err != nil {
		return nil, err
	}
	if params := o.dict("query"); len(params) > 0 {
		values := url.Values{}
		for name, v := range params {
			values.Set(name, v)
		}
		q.url.RawQuery = strings.Trim(q.url.RawQuery+"&"+values.Encode(), "&")
	}
	if err := q.setBody(o); err != nil {
		return nil, err
	}
	if q.method == "" {
		q.method = http.MethodGet
		if q.body != nil {
			q.method = http.MethodPost
		}
	}
	if err := q.setHeaders(o.dict("headers")); err != nil {
		return nil, err
	}
	q.credential = q.credentials()
	q.key = digest(q.identity(r.Target, o.text("ca"))...)
	return q, nil
}

// identity is everything that the answer may depend on: the same for two polls of one target, and for nothing else.
func (q *question) identity(target, ca string) []string {
	id := []string{target, ca, q.method, q.url.String(), q.host, string(q.body), q.form, fmt.Sprint(q.accept)}
	if q.paged != nil {
		id = append(id, fmt.Sprint(*q.paged))
	}
	for _, name := range slices.Sorted(maps.Keys(q.header)) {
		id = append(id, name)
		id = append(id, q.header[name]...)
	}
	return id
}

// address reads a URL that a request may go to.
func address(text string) (*url.URL, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) || !utf8.ValidString(text) {
		return nil, failf("invalid", "the url holds a space or a control character")
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, failf("invalid", "the url cannot be read: %w", withoutURL(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, failf("invalid", "the url must begin with http:// or https://")
	}
	if u.Hostname() == "" {
		return nil, failf("invalid", "the url names no host")
	}
	u.Host = strings.ToLower(u.Host)
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func (q *question) setBody(o options) error {
	if text, ok := o["body"].(string); ok {
		q.body = []byte(text)
	}
	if v, ok := o["json"]; ok && v != nil {
		data, err := json.Marshal(v)
		if err != nil {
			return failf("invalid", "json: %w", err)
		}
		q.body = data
		q.header.Set("Content-Type", "application/json")
	}
	return nil
}

func (q *question) setHeaders(headers map[string]string) error {
	q.header.Set("User-Agent", "sessevents")
	q.header.Set("Accept", "*/*")
	if q.form == "json" || q.paged != nil {
		q.header.Set("Accept", "application/json, */*;q=0.5")
	}
	for name, v := range headers {
		if !headerName(name) || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return failf("invalid", "the header %s cannot be sent as it is", plain(name, 60))
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case name == "Host":
			q.host = v
		case slices.Contains(ownHeaders, name):
			return failf("invalid", "the header %s is set by the fetcher itself", name)
		default:
			q.header.Set(name, v)
		}
	}
	if user := q.url.User; user != nil && q.header.Get("Authorization") == "" {
		password, _ := user.Password()
		r := http.Request{Header: q.header}
		r.SetBasicAuth(user.Username(), password)
		q.secrets = append(slices.Clone(q.secrets), password, strings.TrimPrefix(q.header.Get("Authorization"), "Basic "))
	}
	return nil
}

// headerName says whether name is a token of RFC 9110.
func headerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// credentialHeaders are the fields by which a server usually knows who asks.
var credentialHeaders = []string{
	"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "Api-Key", "Apikey", "Private-Token", "X-Auth-Token",
	"X-Auth-Key", "X-Access-Token", "X-Token", "Circle-Token", "X-Gitlab-Token", "Dd-Api-Key", "X-Vault-Token",
}

// credentials is a print of who asks, the same for all targets that use the same token.
func (q *question) credentials() string {
	var who []string
	for name, values := range q.header {
		v := strings.Join(values, ",")
		if slices.Contains(credentialHeaders, name) || holdsAny(v, q.secrets) {
			who = append(who, name+":"+v)
			if words := strings.Fields(v); len(words) > 0 { // the token after Bearer, also where the spec spells it out
				q.secrets = append(slices.Clone(q.secrets), words[len(words)-1])
			}
		}
	}
	slices.Sort(who)
	return digest(who...)
}

func holdsAny(text string, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(text, s) })
}

// digest names a list of texts without showing them.
func digest(texts ...string) string {
	h := sha256.New()
	var size [8]byte
	for _, t := range texts {
		binary.LittleEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		_, _ = io.WriteString(h, t)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// shown is an address for documents and logs: without a password.
func shown(u *url.URL) string {
	clean := *u
	clean.User = nil
	return clean.String()
}

// named is an address for errors: parameters may be what nobody wants in a log.
func named(u *url.URL) string {
	clean := *u
	clean.User, clean.RawQuery, clean.ForceQuery = nil, "", false
	return plain(clean.String(), 200)
}

// sameOrigin says whether what goes to a may go to b as well: the same scheme, host and port. From http to https of
// the same host is no step to another one.
func sameOrigin(a, b *url.URL) bool {
	if a.Hostname() != b.Hostname() {
		return false
	}
	if a.Scheme == b.Scheme {
		return port(a) == port(b)
	}
	return a.Scheme == "http" && b.Scheme == "https" && port(a) == "80" && port(b) == "443"
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
