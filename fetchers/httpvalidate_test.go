package fetchers

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"
)

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

// TestC16_A304OfAnotherETagIsNoAnswer: a server that looks at the date alone says 304 with the ETag of what it holds
// now. Kept with the items of the old one, that ETag would hide the change for good.
func TestC16_A304OfAnotherETagIsNoAnswer(t *testing.T) {
	tag, weak := `"1"`, false
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", "Tue, 01 Dec 2020 00:00:00 GMT")
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-Modified-Since") != "" {
			if weak {
				w.Header().Set("Etag", "W/"+tag)
			}
			w.WriteHeader(304)
			return
		}
		sends(200, "text/plain", "holds "+tag)(w, r)
	})
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL}
	poll := func() {
		t.Helper()
		answer, err := a.ask(opts)
		must(t, err)
		answer.Committed()
		if doc := answer.Doc.(map[string]any); doc["body"] != "holds "+tag || doc["status"] != 200 {
			t.Errorf("got %v while the server holds %s", doc, tag)
		}
	}
	for _, tag = range []string{`"1"`, `"2"`, `"2"`, `"3"`} {
		poll()
	}
	weak = true // the same but for how it was packed
	before := len(s.requests())
	poll()
	if n := len(s.requests()) - before; n != 1 {
		t.Errorf("%d requests for what still stands", n)
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
