package fetchers

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

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

func TestNextLink(t *testing.T) {
	const broken = "(broken)"
	for field, want := range map[string]string{
		"":                                       "",
		`<a>; rel="next"`:                        "a",
		`<a>;rel=next`:                           "a",
		`<a>; rel="prev", <b>; REL="first NEXT"`: "b",
		`<a,b;c>; rel="x"; title="<z>; rel=\"next"`: "",
		`<a>; rel=prev; rel=next, <c>; rel=next`:    "c",
		`<a>; crossorigin; rel=prev ; `:             "",
		`, <a>; rel=prev,, `:                        "",
		`<a>; rev=made`:                             "",
		`<a>; rel="next", <b`:                       "a",
		`<a`:                                        broken,
		`<a>; rel=first, <b`:                        broken,
		`<a>; rel=first, <b>`:                       broken,
		`<a>; rel=first, <b>; re`:                   broken,
		`<a>; rel=first, <b>; rel=`:                 broken,
		`<a>; rel=first, <b>; rel="`:                broken,
		`<a>; rel=first, <b>; rel="nex`:             broken,
		`<a>; rel=first, <b>; rel="first next`:      broken,
		`<a>; rel=first b`:                          "",
		`<a>; rel=first, b>; rel=next`:              broken,
		`<a> rel=next`:                              broken,
		`garbage, ; ,, "`:                           broken,
		`<a>; title="unclosed, <b>; rel=next`:       broken,
		`<a>; rel=prev; title="unclosed \"`:         broken,
	} {
		got, found, ok := nextLink(field)
		if !ok {
			got = broken
		}
		if got != want || found != (want != "" && want != broken) {
			t.Errorf("%s: got %q, %v, want %q", field, got, found, want)
		}
	}
}

// TestC18_ALinkHeaderThatIsCutOffIsAFailedPoll: a list that is shorter than it is would tell of items that are gone.
func TestC18_ALinkHeaderThatIsCutOffIsAFailedPoll(t *testing.T) {
	const whole = `</?page=1>; rel="first", </?page=2>; rel="next"`
	link := ""
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			w.Header().Set("Link", link)
		}
		sends(200, "application/json", "[1]")(w, r)
	})
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL, "pages": &PageOption{By: "link", Max: 10}}
	first := strings.Index(whole, ",")
	for n := first + len(", <"); n < len(whole); n++ {
		link = whole[:n]
		a.fails("pages", opts)
	}
	link = whole
	if doc := a.doc(opts); !reflect.DeepEqual(doc["body"], []any{1, 1}) {
		t.Errorf("%v", doc)
	}
	link = whole[:first]
	if doc := a.doc(opts); !reflect.DeepEqual(doc["body"], []any{1}) {
		t.Errorf("%v", doc)
	}
	link = strings.Repeat(`</?page=1>; rel="first", `, 20_000) + whole // more than a header may be
	if answer, err := a.ask(opts); err == nil {
		t.Errorf("%v", answer.Doc)
	}
}

func FuzzNextLink(f *testing.F) {
	f.Add(`<a>; rel="prev", <b>; rel=next`)
	f.Add(`, <a>; rel="prev \" `)
	f.Fuzz(func(t *testing.T, field string) {
		if target, found, _ := nextLink(field); found && !strings.Contains(field, "<"+target+">") {
			t.Errorf("%q is not in %q", target, field)
		}
	})
}
