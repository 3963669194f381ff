package realclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/internal/modelstub"
)

// turnTimeout is how long one turn may take on a loaded machine.
const turnTimeout = 120 * time.Second

// session is a Claude Code session with its model.
type session struct {
	*Claude
	model *modelstub.Server
	home  *Home
	net   *Network
	mode  string // its permission mode, as messages name it
}

func newSession(t *testing.T, o ClaudeOptions) *session {
	t.Helper()
	return newSessionIn(t, func(*Home) ClaudeOptions { return o })
}

// newSessionIn is newSession with options that name folders of the home.
func newSessionIn(t *testing.T, options func(*Home) ClaudeOptions) *session {
	t.Helper()
	Find(t, "claude") // before anything is made
	s := &session{net: NewNetwork(t), home: NewHome(t), mode: "prompting"}
	o := options(s.home)
	if o.Bypass {
		s.mode = "bypass"
	}
	l, err := s.net.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if s.model, err = modelstub.Start(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.model.Close)
	o.ModelURL = s.model.URL()
	s.Claude = StartClaude(t, s.net, s.home, o)
	return s
}

// request waits for a request that says text since the model last spoke.
func (s *session) request(t *testing.T, text string) modelstub.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	r, err := s.model.Wait(ctx, func(r modelstub.Request) bool { return !r.Side && r.Says(text) })
	if err != nil {
		t.Fatalf("wait for the model to be told %q: %v", text, err)
	}
	return r
}

// idle waits until the turn is over.
func (s *session) idle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	if err := s.WaitIdle(ctx); err != nil {
		t.Fatal(err)
	}
}

// peer waits for a message with body in the transcript.
func (s *session) peer(t *testing.T, body string) Origin {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	o, err := s.WaitPeer(ctx, func(o Origin) bool { return strings.Contains(o.Body, body) })
	if err != nil {
		peers, _ := s.Peers()
		t.Fatalf("%v; there are %+v", err, peers)
	}
	return o
}

// exit leaves the session, and looks that nothing is left.
func (s *session) exit(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	if err := s.Exit(ctx); err != nil {
		t.Fatal(err)
	}
	s.net.RequireNone(t)
}

// frame is a message as a peer writes it into the inbox; zero members are left out.
type frame struct {
	from, name, mode, id, body string
}

func (f frame) envelope() string {
	var b strings.Builder
	b.WriteString("<cross-session-message")
	for _, a := range []struct{ name, value string }{{"from", f.from}, {"from-name", f.name}, {"from-mode", f.mode}} {
		if a.value != "" {
			fmt.Fprintf(&b, ` %s="%s"`, a.name, a.value)
		}
	}
	return b.String() + ">\n" + f.body + "\n</cross-session-message>"
}

// line is the frame on the wire, around some content.
func (f frame) line(t *testing.T, content string) []byte {
	t.Helper()
	o := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}}
	if f.from != "" {
		o["from"] = f.from
	}
	if f.id != "" {
		o["msgV"], o["msg_id"] = 1, f.id
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// send writes one frame on a connection of its own.
func (s *session) send(t *testing.T, f frame) {
	t.Helper()
	s.sendContent(t, f, f.envelope())
}

func (s *session) sendContent(t *testing.T, f frame, content string) {
	t.Helper()
	c, err := net.Dial("unix", s.Inbox)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(f.line(t, content)); err != nil {
		t.Fatal(err)
	}
}

// bash is a call of the session's shell tool; a background one is a task of the session that outlives the turn.
func bash(command string, background bool) modelstub.Tool {
	return modelstub.Tool{Name: "Bash", Input: map[string]any{
		"command": command, "description": "what the test needs", "run_in_background": background,
	}}
}

// TestAPeerWakesAnIdleSession proves the harness: a frame that this test writes, and what the model and the
// transcript have of it.
func TestAPeerWakesAnIdleSession(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"bypass", "prompting"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, ClaudeOptions{Bypass: mode == "bypass"})
			f := frame{from: "uds:" + s.home.Run + "/peer.sock", name: "some peer", mode: mode, id: "0b0e7a3e-5a8f-4a7c-9d1c-1f2e3d4c5b6a", body: "wake up"}
			s.send(t, f)
			r := s.request(t, "wake up")
			if !r.Says(f.envelope()) {
				t.Errorf("the model was told %+v, want %s", r.News(), f.envelope())
			}
			o := s.peer(t, "wake up")
			if o.Name != f.name || o.FromMode != mode || o.MsgID != f.id || o.Body != f.body {
				t.Errorf("origin %+v", o)
			}
			s.idle(t)
			s.exit(t)
		})
	}
}

func TestAPromptIsATurnWithItsTools(t *testing.T) {
	t.Parallel()
	s := newSession(t, ClaudeOptions{Bypass: true})
	s.model.Add(
		modelstub.Reply{Text: "I look.", Tools: []modelstub.Tool{bash("echo $((40 + 2)) lines", false)}},
		modelstub.Reply{Status: 529}, // the client tries again by itself
		modelstub.Reply{Text: "Done."},
	)
	if err := s.Prompt("first line\nsecond line"); err != nil {
		t.Fatal(err)
	}
	s.request(t, "second line")
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	answered := func(r modelstub.Request) bool {
		return len(r.Results()) == 1 && strings.Contains(r.Results()[0].Text, "42 lines")
	}
	first, err := s.model.Wait(ctx, answered)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.model.Wait(ctx, func(r modelstub.Request) bool { return r.N > first.N && answered(r) }); err != nil {
		t.Errorf("after the 529: %v", err)
	}
	if err := s.WaitScreen(ctx, "Done."); err != nil {
		t.Error(err)
	}
	s.idle(t)
	s.exit(t)
}
