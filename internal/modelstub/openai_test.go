package modelstub

import (
	"io"
	"strings"
	"testing"
)

// asks is the same conversation in each of OpenAI's protocols: a prompt, a tool call, its result.
var asks = []struct{ name, path, body string }{
	{"responses", "/v1/responses", `{"model":"m","stream":true,"tools":[{"type":"function","name":"exec_command"},{"type":"web_search"}],"input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]},
		{"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"exit 3"}]}`},
	{"completions", "/v1/chat/completions", `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"bash"}}],"messages":[
		{"role":"user","content":[{"type":"text","text":"first"}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"exit 3"}]}`},
}

func TestEachProtocolReadsTheSameConversation(t *testing.T) {
	for _, ask := range asks {
		t.Run(ask.name, func(t *testing.T) {
			s := start(t)
			post(t, s.URL()+ask.path, ask.body)
			r, err := s.Wait(t.Context(), func(Request) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			if r.Side || r.Model != "m" || !r.Stream || len(r.Tools) == 0 || r.Messages[0].Text != "first" {
				t.Errorf("request %+v", r)
			}
			if got := r.Results(); len(got) != 1 || got[0] != (Result{ID: "c1", Text: "exit 3"}) || r.Says("first") {
				t.Errorf("results %+v, news %+v", got, r.News())
			}
		})
	}
}

func TestEachProtocolStreamsAndEndsTheSameReply(t *testing.T) {
	for _, ask := range asks {
		t.Run(ask.name, func(t *testing.T) {
			s := start(t)
			s.Add(Reply{Thinking: "hm", Text: "so it is", Chunks: 2, Tools: []Tool{{"run", map[string]string{"cmd": "true"}}}})
			b, err := io.ReadAll(post(t, s.URL()+ask.path, ask.body).Body)
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			for _, want := range []string{`"hm"`, `"so i"`, `"t is"`, `"{\"cmd\":\"true\"}"`} {
				if !strings.Contains(text, want) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			end := map[string]string{"responses": `"type":"response.completed"`, "completions": "data: [DONE]"}[ask.name]
			if lines := strings.Split(strings.TrimSpace(text), "\n"); !strings.Contains(lines[len(lines)-1], end) {
				t.Errorf("the stream ends with %s", lines[len(lines)-1])
			}
		})
	}
}

func TestEachProtocolHasItsErrors(t *testing.T) {
	for _, ask := range asks {
		t.Run(ask.name, func(t *testing.T) {
			s := start(t)
			s.Add(Reply{Status: 400, Message: "not so"}, Reply{Text: "half an answer", Cut: true})
			resp := post(t, s.URL()+ask.path, ask.body)
			b, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 400 || !strings.Contains(string(b), `"message":"not so"`) {
				t.Errorf("got %d %s, %v", resp.StatusCode, b, err)
			}
			if b, err := io.ReadAll(post(t, s.URL()+ask.path, ask.body).Body); err == nil || !strings.Contains(string(b), "half an") {
				t.Errorf("a broken connection: %s, %v", b, err)
			}
		})
	}
}

func TestAFreeFormCallIsGivenAsItStands(t *testing.T) {
	s := start(t)
	s.Add(Reply{Tools: []Tool{{"apply_patch", "*** Begin Patch"}}})
	b, err := io.ReadAll(post(t, s.URL()+"/v1/responses", asks[0].body).Body)
	if err != nil || !strings.Contains(string(b), `"input":"*** Begin Patch"`) || !strings.Contains(string(b), `"custom_tool_call"`) {
		t.Errorf("%s, %v", b, err)
	}
}
