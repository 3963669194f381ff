package modelstub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// events reads the data of server-sent events until the stream ends; err is what it ended with.
func events(body io.Reader) (data []map[string]any, err error) {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || rest == "[DONE]" {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(rest), &v); err != nil {
			return data, err
		}
		data = append(data, v)
	}
	return data, lines.Err()
}

const ask = `{"model":"m","stream":true,"tools":[{"name":"Bash"}],"messages":[
	{"role":"user","content":"first"},{"role":"assistant","content":[{"type":"text","text":"yes"}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"exit 3"}]},{"type":"text","text":"second"}]}]}`

func TestMessagesAreStreamedAsTheScriptSays(t *testing.T) {
	s := start(t)
	s.Add(Reply{Thinking: "hm", Text: "so äh", Chunks: 3, Tools: []Tool{{"Bash", map[string]string{"command": "true"}}}})
	got, err := events(post(t, s.URL()+"/v1/messages?beta=true", ask).Body)
	if err != nil {
		t.Fatal(err)
	}
	var kinds, text []string
	for _, e := range got {
		kinds = append(kinds, e["type"].(string))
		if d, ok := e["delta"].(map[string]any); ok && d["type"] == "text_delta" {
			text = append(text, d["text"].(string))
		}
	}
	want := "message_start" +
		" content_block_start content_block_delta content_block_delta content_block_stop" +
		" content_block_start content_block_delta content_block_delta content_block_delta content_block_stop" +
		" content_block_start content_block_delta content_block_stop message_delta message_stop"
	if k := strings.Join(kinds, " "); k != want {
		t.Errorf("events:\n%s, want\n%s", k, want)
	}
	if j := strings.Join(text, "|"); j != "so| ä|h" {
		t.Errorf("text came as %q", j)
	}
	if r := got[len(got)-2]["delta"].(map[string]any)["stop_reason"]; r != "tool_use" {
		t.Errorf("stop_reason %v", r)
	}
}

func TestWaitFindsWhatCameAndWhatComes(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	found := make(chan error, 1)
	go func() {
		_, err := s.Wait(ctx, func(r Request) bool { return r.Says("second") })
		found <- err
	}()
	post(t, s.URL()+"/v1/messages", ask)
	if err := <-found; err != nil {
		t.Fatalf("waiting before it came: %v", err)
	}
	r, err := s.Wait(ctx, func(r Request) bool { return r.Says("second") })
	if err != nil {
		t.Fatalf("waiting after it came: %v", err)
	}
	if r.N != 1 || r.Side || len(r.Messages) != 3 || r.Says("first") {
		t.Errorf("request %+v", r)
	}
	if got := r.Results(); len(got) != 1 || got[0] != (Result{ID: "t1", Text: "exit 3", IsError: true}) {
		t.Errorf("results %+v", got)
	}
	ended, end := context.WithCancel(ctx)
	end()
	_, err = s.Wait(ended, func(Request) bool { return false })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "second") {
		t.Errorf("error that should say what came: %v", err)
	}
}

func TestAReplyIsHeldUntilItsChannelCloses(t *testing.T) {
	s := start(t)
	gate := make(chan struct{})
	s.Add(Reply{Text: "late", Until: gate})
	answered := make(chan []byte, 1)
	go func() {
		resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(strings.Replace(ask, `"stream":true`, `"stream":false`, 1)))
		if err != nil {
			answered <- []byte(err.Error())
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		answered <- b
	}()
	if _, err := s.Wait(t.Context(), func(Request) bool { return true }); err != nil {
		t.Fatal(err)
	}
	select {
	case b := <-answered:
		t.Fatalf("answered before the gate opened: %s", b)
	default:
	}
	close(gate)
	if b := <-answered; !bytes.Contains(b, []byte(`"text":"late"`)) {
		t.Errorf("answer %s", b)
	}
}

func TestErrorsAndBrokenConnections(t *testing.T) {
	s := start(t)
	s.Add(Reply{Status: 529}, Reply{Status: 429, Message: "slow down", Header: http.Header{"Retry-After": {"7"}}}, Reply{Text: "half an answer", Cut: true})
	for _, want := range []struct {
		status     int
		kind, head string
	}{{529, "overloaded_error", ""}, {429, "slow down", "7"}} {
		resp := post(t, s.URL()+"/v1/messages", ask)
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != want.status || !bytes.Contains(b, []byte(want.kind)) || resp.Header.Get("Retry-After") != want.head {
			t.Errorf("got %d %s, Retry-After %q, %v; want %d %s", resp.StatusCode, b, resp.Header.Get("Retry-After"), err, want.status, want.kind)
		}
	}
	got, err := events(post(t, s.URL()+"/v1/messages", ask).Body)
	if err == nil || len(got) < 3 {
		t.Errorf("%d events and error %v; want some, and a broken connection", len(got), err)
	}
}

func TestSideRequestsLeaveTheScriptAlone(t *testing.T) {
	s := start(t)
	s.Add(Reply{Text: "main"})
	b, _ := io.ReadAll(post(t, s.URL()+"/v1/messages", `{"messages":[{"role":"user","content":"a title, please"}]}`).Body)
	if !bytes.Contains(b, []byte("stub title")) {
		t.Errorf("side answer %s", b)
	}
	b, _ = io.ReadAll(post(t, s.URL()+"/v1/messages", ask).Body)
	if !bytes.Contains(b, []byte("main")) {
		t.Errorf("main answer %s", b)
	}
	s.Otherwise(func(r Request) Reply { return Reply{Text: "otherwise " + r.Model} })
	b, _ = io.ReadAll(post(t, s.URL()+"/v1/messages", ask).Body)
	if !bytes.Contains(b, []byte("otherwise m")) {
		t.Errorf("answer at the end of the script %s", b)
	}
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if s, err := Start(l); err == nil {
		s.Close()
		t.Error("served where others can reach it")
	}
}
