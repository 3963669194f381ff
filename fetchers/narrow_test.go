package fetchers

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// TestOnlyWhatIsReadIsInADocument asks with a narrow, over every way to a document.
func TestOnlyWhatIsReadIsInADocument(t *testing.T) {
	const text = `{"items":[{"id":1,"x":[1]},{"id":2,"y":{}}],"total":2,"more":{"a":{"b":1}}}`
	items := &Want{Members: map[string]*Want{"id": nil}}
	body := &Want{Members: map[string]*Want{"items": {Each: items}, "more": {}}}
	narrowed := map[string]any{"items": []any{map[string]any{"id": 1}, map[string]any{"id": 2}}, "more": map[string]any{}}
	s := newSite(t, tagged("application/json", func(*http.Request) string { return text }))
	ask := func(name string, want *Want, opts map[string]any) map[string]any {
		t.Helper()
		a := newAsker(t, name)
		a.request.Narrow = &Narrow{Want: want}
		return a.doc(opts)
	}
	doc := ask("http", &Want{Members: map[string]*Want{"body": body, "url": nil}}, map[string]any{"url": s.URL})
	if !reflect.DeepEqual(doc["body"], narrowed) || doc["url"] != s.URL {
		t.Errorf("http: %v", doc)
	}
	for _, name := range []string{"headers", "tls"} {
		if _, there := doc[name]; there {
			t.Errorf("http: %s, which nobody reads", name)
		}
	}
	doc = ask("http", &Want{Members: map[string]*Want{"body": {Each: items}}}, map[string]any{"url": s.URL + "/page/1", "pages": &PageOption{By: "link", List: ".items", Max: 5}})
	six := []any{}
	for range 3 {
		six = append(six, narrowed["items"].([]any)...)
	}
	if !reflect.DeepEqual(doc["body"], six) {
		t.Errorf("pages: %v", doc)
	}
	doc = ask("http", &Want{Members: map[string]*Want{"status": nil}}, map[string]any{"url": s.URL})
	if !reflect.DeepEqual(doc["body"], map[string]any{}) || doc["status"] != 200 {
		t.Errorf("only the status: %v", doc)
	}
	doc = ask("exec", &Want{Members: map[string]*Want{"stdout": body}}, map[string]any{"command": []string{"echo", text}})
	if !reflect.DeepEqual(doc["stdout"], narrowed) {
		t.Errorf("exec: %v", doc)
	}
	doc = ask("exec", &Want{Members: map[string]*Want{"stdout": {Each: body}}}, map[string]any{"command": []string{"echo", text}, "parse": "jsonl"})
	if !reflect.DeepEqual(doc["stdout"], []any{narrowed}) {
		t.Errorf("exec, lines: %v", doc)
	}
}

// TestWhatIsNotReadIsCheckedAllTheSame: a document that is no JSON fails the poll wherever that is.
func TestWhatIsNotReadIsCheckedAllTheSame(t *testing.T) {
	text := ""
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) { sends(200, "application/json", text)(w, r) })
	for _, text = range []string{`{"a":1,"b":[1,]}`, `{"a":1,"b":tru}`, `{"a":1} x`, `{"a":1,"b":"\ud8"}`, `{"a":1,"b":{"c":01}}`, "{\"a\":1,\"b\":\"\xff\"}", `{"a":1,"b":[`} {
		whole := newAsker(t, "http")
		part := newAsker(t, "http")
		part.request.Narrow = &Narrow{Want: &Want{Members: map[string]*Want{"body": {Members: map[string]*Want{"a": nil}}}}}
		opts := map[string]any{"url": s.URL}
		if a, b := whole.fails("parse", opts), part.fails("parse", opts); a.Error() != b.Error() {
			t.Errorf("%q: %v, whole %v", text, b, a)
		}
	}
}

// TestC16_ADocumentIsOfTheSpecThatReadIt: a spec that takes the place of another reads other members. What was kept for
// the first one does not answer for it, and it is asked without a condition.
func TestC16_ADocumentIsOfTheSpecThatReadIt(t *testing.T) {
	s := newSite(t, tagged("application/json", func(*http.Request) string { return `{"a":1,"b":2}` }))
	a := newAsker(t, "http")
	one := &Narrow{Want: &Want{Members: map[string]*Want{"body": {Members: map[string]*Want{"a": nil}}}}}
	two := &Narrow{Want: &Want{Members: map[string]*Want{"body": {Members: map[string]*Want{"b": nil}}}}}
	for i, c := range []struct {
		narrow      *Narrow
		body        string
		conditional bool
	}{
		{one, `{"a":1}`, false},
		{one, `{"a":1}`, true},
		{two, `{"b":2}`, false},
		{two, `{"b":2}`, true},
		{nil, `{"a":1,"b":2}`, false},
		{nil, `{"a":1,"b":2}`, true},
		{one, `{"a":1}`, false},
	} {
		a.request.Narrow = c.narrow
		answer, err := a.ask(map[string]any{"url": s.URL})
		must(t, err)
		answer.Committed()
		got, err := json.Marshal(answer.Doc.(map[string]any)["body"])
		must(t, err)
		seen := s.requests()
		conditional := seen[len(seen)-1].Header.Get("If-None-Match") != ""
		if string(got) != c.body || conditional != c.conditional {
			t.Errorf("question %d: %s, conditional is %v", i, got, conditional)
		}
	}
}

// TestWhatIsKeptIsOnlyWhatIsRead: of a long document of which little is read, little is kept, and it need not be read
// again.
func TestWhatIsKeptIsOnlyWhatIsRead(t *testing.T) {
	text := `{"id":7,"more":[` + strings.Repeat(`{"a":"some text that nobody reads"},`, 5000) + `0]}`
	s := newSite(t, tagged("application/json", func(*http.Request) string { return text }))
	a := newAsker(t, "http")
	a.request.Narrow = &Narrow{Want: &Want{Members: map[string]*Want{"body": {Members: map[string]*Want{"id": nil}}}}}
	for range 3 {
		answer, err := a.ask(map[string]any{"url": s.URL})
		must(t, err)
		if got := answer.Doc.(map[string]any)["body"]; !reflect.DeepEqual(got, map[string]any{"id": 7}) {
			t.Errorf("%v", got)
		}
		answer.Committed()
		if kept := a.set.answers.bytes; kept > 4000 {
			t.Errorf("%d bytes are kept of a document of which one number is read", kept)
		}
	}
	if seen := s.requests(); seen[1].Header.Get("If-None-Match") == "" || seen[2].Header.Get("If-None-Match") == "" {
		t.Error("it was asked for without a condition")
	}
}
