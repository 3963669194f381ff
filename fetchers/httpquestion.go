package fetchers

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// question is a request that may be sent.
type question struct {
	url       *url.URL
	text      string // the url
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
		method: o.text("method"), accept: o.numbers("accept"), form: o.text("parse"),
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
	q.text = q.url.String()
	q.credential = q.credentials()
	q.key = q.identity(r.Target, o.text("ca"))
	return q, nil
}

// spell is the text of an address; that of the question itself is asked for several times.
func (q *question) spell(u *url.URL) string {
	if u == q.url {
		return q.text
	}
	return u.String()
}

// identity is everything that the answer may depend on: the same for two polls of one target, and for nothing else.
func (q *question) identity(target, ca string) string {
	var room [512]byte // most are no longer
	d := digest{room[:0]}
	for _, text := range [...]string{target, ca, q.method, q.text, q.host, string(q.body), q.form} {
		d.add(text)
	}
	for _, status := range q.accept {
		d.add(strconv.FormatInt(status, 10))
	}
	if q.paged != nil {
		d.add(fmt.Sprint(*q.paged))
	}
	names := make([]string, 0, 16)
	for name := range q.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d.add(name)
		for _, v := range q.header[name] {
			d.add(v)
		}
	}
	return d.sum()
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
		q.header = http.Header{"Content-Type": {"application/json"}}
	}
	return nil
}

func (q *question) setHeaders(headers map[string]string) error {
	accept := "*/*"
	if q.form == "json" || q.paged != nil {
		accept = "application/json, */*;q=0.5"
	} else if len(headers) == 0 && q.header == nil && q.url.User == nil {
		q.header = plainHeader
		return nil
	}
	if q.header == nil {
		q.header = http.Header{}
	}
	setOwn(q.header, accept)
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
	if q.body == nil {
		q.header.Del("Content-Type")
	}
	if user := q.url.User; user != nil && q.header.Get("Authorization") == "" {
		password, _ := user.Password()
		r := http.Request{Header: q.header}
		r.SetBasicAuth(user.Username(), password)
		q.secrets = append(slices.Clone(q.secrets), password, strings.TrimPrefix(q.header.Get("Authorization"), "Basic "))
	}
	return nil
}

// plainHeader is what a request sends that has no fields of its own. Nobody changes it.
var plainHeader = func() http.Header {
	h := http.Header{}
	setOwn(h, "*/*")
	return h
}()

// setOwn sets the fields that every request has.
func setOwn(h http.Header, accept string) {
	values := []string{"sessevents", accept, "gzip"}
	h["User-Agent"], h["Accept"], h["Accept-Encoding"] = values[:1:1], values[1:2:2], values[2:3:3]
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
	if len(who) == 0 {
		return ""
	}
	slices.Sort(who)
	var d digest
	for _, v := range who {
		d.add(v)
	}
	return d.sum()
}

func holdsAny(text string, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(text, s) })
}

// digest names a list of texts without showing them.
type digest struct{ texts []byte }

func (d *digest) add(text string) {
	d.texts = binary.LittleEndian.AppendUint64(d.texts, uint64(len(text)))
	d.texts = append(d.texts, text...)
}

func (d *digest) sum() string {
	sum := sha256.Sum256(d.texts)
	return string(sum[:16])
}

// unnamed is an address without a user and a password.
func unnamed(u *url.URL) *url.URL {
	if u.User == nil {
		return u
	}
	clean := *u
	clean.User = nil
	return &clean
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
