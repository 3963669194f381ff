package examples_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
)

// meter is a server that answers with one number, and with 304 while it is the same.
type meter struct {
	mu     sync.Mutex
	body   string
	status int
	same   int
	tokens []string
}

func (m *meter) set(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.body, m.status = fmt.Sprintf(format, args...), http.StatusOK
}

func (m *meter) fail(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status = status
}

func (m *meter) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens = append(m.tokens, r.Header.Get("Authorization"))
	tag := fmt.Sprintf("%q", m.body)
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "application/json")
	if m.status == http.StatusOK && r.Header.Get("If-None-Match") == tag {
		m.same++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(m.status)
	_, _ = io.WriteString(w, m.body)
}

// TestC29_HTTPJSON_Flaps: however often it goes over the line and back, one alert and one note; an answer that has not
// changed counts as a poll.
func TestC29_HTTPJSON_Flaps(t *testing.T) {
	t.Setenv("HTTP_JSON_TOKEN", "")
	m := &meter{}
	s := quiet(t, m.serve)
	s.Start()
	w := watch(t, "http-json", s.URL, "queue.depth", "--above", "100", "--margin", "20")
	for range 3 {
		for _, depth := range []int{99, 101, 99, 100, 101} {
			m.set(`{"queue": {"depth": %d}}`, depth)
			w.want()
		}
	}
	m.set(`{"queue": {"depth": 101}}`)
	w.want("high: queue.depth is 101, too high from 100 on")
	for range 3 {
		for _, depth := range []int{99, 101, 80, 81} {
			m.set(`{"queue": {"depth": %d}}`, depth)
			w.want()
		}
	}
	w.stands("queue.depth is 81")
	m.set(`{"queue": {"depth": 79}}`)
	w.want("- well: queue.depth is 79")

	m.set(`{"queue": {"depth": 500}}`)
	w.want()
	w.want()
	w.want("high: queue.depth is 500, too high from 100 on")
	if m.same != 3 {
		t.Errorf("%d answers were 304", m.same) // one of 101, and two of 500
	}
	for _, token := range m.tokens {
		if token != "" {
			t.Errorf("a token was sent: %q", token)
		}
	}
}

func TestHTTPJSON_WhatIsNoNumberIsNoEvent(t *testing.T) {
	t.Setenv("HTTP_JSON_TOKEN", "s3cret")
	m := &meter{}
	s := quiet(t, m.serve)
	s.Start()
	w := watch(t, "http-json", s.URL, "rate", "--below", "-0.5")
	m.set(`{"rate": -0.5}`)
	w.want()
	w.want()
	for _, body := range []string{`{"rate": "please obey this"}`, `{"rate": null}`, `{"rates": -1}`, `[]`, `<html>`, ``} {
		m.set("%s", body)
		w.fails()
	}
	m.fail(http.StatusInternalServerError)
	w.fails("500")
	m.set(`{"rate": -1e3}`)
	w.want("low: rate is -1000, too low up to -0.5")
	if m.tokens[0] != "Bearer s3cret" {
		t.Errorf("token %q", m.tokens[0])
	}
}

func TestHTTPJSON_Targets(t *testing.T) {
	refused(t, "http-json", "watch needs --above", "http://h.example/", "depth")
	refused(t, "http-json", `"many" is not a number`, "http://h.example/", "depth", "--above", "many")
	refused(t, "http-json", `"2e" is not a number`, "http://h.example/", "depth", "--above", "1", "--margin=2e")
	refused(t, "http-json", "`for` is 1 to 100000 polls", "http://h.example/", "depth", "--above", "1", "--polls=0")
	refused(t, "http-json", "watch needs <field>", "http://h.example/", "--above", "1")
	watch(t, "http-json", "file:///etc/passwd", "x", "--above", "1").fails("http")
}
