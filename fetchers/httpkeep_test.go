package fetchers

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
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
