package fetchers

import (
	"bytes"
	"container/list"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxKeptBytes bounds the bodies that are kept for conditional requests; the questions asked longest ago lose theirs
// first and are then asked without condition.
const maxKeptBytes = 64 * megabyte

// answers keeps the committed answers of a source's questions with their validators. A question takes its answer out
// and only a commit puts one back: after a failed poll there is none, so the next request has no condition.
type answers struct {
	mu    sync.Mutex
	byKey map[string]*list.Element
	age   list.List // of *kept, the newest first
	bytes int64
}

type kept struct {
	key    string
	narrow *Narrow // what was left out of its documents
	pages  []*reply
	bytes  int64
}

// take takes out the answers to a question. Those that were made for another narrow are forgotten: their documents may
// lack what is read now.
func (a *answers) take(key string, narrow *Narrow) []*reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.byKey[key]
	if e == nil {
		return nil
	}
	if k := a.remove(e); k.narrow == narrow {
		return k.pages
	}
	return nil
}

// keeping makes the answers such that they can be kept, and returns what keeps them.
func (a *answers) keeping(key string, narrow *Narrow, pages []*reply) func() {
	for _, p := range pages {
		p.settle()
	}
	return func() { a.put(key, narrow, pages) }
}

// maxKeptDoc bounds the documents that are kept as such: one that still stands then need not be read again. A larger
// one takes much more memory than its text, which is kept in its place.
const maxKeptDoc = 16 * kilobyte

// settle makes r such that it can be kept: it then holds its document or its text, and nothing that was borrowed.
func (r *reply) settle() {
	if !r.kept && r.read && r.weight <= maxKeptDoc {
		r.data = nil
	} else if !r.kept {
		r.data = bytes.Clone(r.data)
	}
	r.kept = true
	if r.data != nil {
		r.doc, r.read, r.weight = nil, false, 0
	}
}

func (a *answers) put(key string, narrow *Narrow, pages []*reply) {
	if len(pages) == 0 {
		return
	}
	k := &kept{key: key, narrow: narrow, pages: pages, bytes: 1000}
	for _, p := range pages {
		k.bytes += int64(len(p.asked)+len(p.data)+p.weight) + 1000
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if e := a.byKey[key]; e != nil {
		a.remove(e)
	}
	if k.bytes > maxKeptBytes {
		return
	}
	if a.byKey == nil {
		a.byKey = map[string]*list.Element{}
	}
	a.byKey[key] = a.age.PushFront(k)
	a.bytes += k.bytes
	for a.bytes > maxKeptBytes {
		a.remove(a.age.Back())
	}
}

func (a *answers) remove(e *list.Element) *kept {
	k := a.age.Remove(e).(*kept)
	delete(a.byKey, k.key)
	a.bytes -= k.bytes
	return k
}

// validators returns by what an answer may be asked for again. A date counts only if the answer was made at least
// two seconds after it: within its second the content may have changed again without the date.
func validators(resp *http.Response) (etag, modified string) {
	if strings.Contains(strings.ToLower(resp.Header.Get("Cache-Control")), "no-store") {
		return "", ""
	}
	etag = resp.Header.Get("Etag")
	modified = resp.Header.Get("Last-Modified")
	if modified == "" {
		return etag, ""
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return etag, ""
	}
	changed, err := http.ParseTime(modified)
	if err != nil || date.Sub(changed) < 2*time.Second {
		return etag, ""
	}
	return etag, modified
}

// cameFrom says whether r has validators for an address: they mean nothing at another one. r may be nil.
func (r *reply) cameFrom(address string) bool {
	return r != nil && r.from == address
}

// renewed is the answer that still stands, with what a 304 said of it.
func (r *reply) renewed(by *reply) *reply {
	n := *r
	n.left, n.wait = by.left, 0
	if r.header != nil {
		n.header = r.header.Clone()
		for name, values := range by.header {
			switch name {
			case "Content-Length", "Content-Encoding", "Content-Type", "Transfer-Encoding":
			default:
				n.header[name] = values
			}
		}
	}
	n.tls = by.tls
	return &n
}

// names says whether a 304 speaks of old. With another ETag it does not: a server that looked at the date alone has
// other content than ours, which its ETag would then stand for.
func (r *reply) names(old *reply) bool {
	strong := func(tag string) string { return strings.TrimPrefix(tag, "W/") }
	return r.etag == "" || old.etag == "" || strong(r.etag) == strong(old.etag)
}
