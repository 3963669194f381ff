package realclient

// These tests prove nothing of ours: they ask the real client what its inbox does, because engine/inbox is built on
// the answers. When one fails with a new version of the client, a page in docs/decisions has to change.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// report is what the client sends back about a message that it did not take.
type report struct {
	Action     string `json:"action"`
	Status     string `json:"status"`
	DropReason string `json:"drop_reason"`
	OrigID     string `json:"orig_msg_id"`
}

// mailbox is a sender's own socket beside the session's inbox: reports come only to a socket in that folder, and only
// when the process that listens there is the one that sent.
type mailbox struct {
	from    string // as frames name it
	reports chan report
}

func newMailbox(t *testing.T, s *session, name, from string) *mailbox {
	t.Helper()
	path := filepath.Join(filepath.Dir(s.Inbox), name)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	m := &mailbox{from: "uds:" + filepath.Join(filepath.Dir(path), from), reports: make(chan report, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed at the end of the test
			}
			lines := bufio.NewScanner(c)
			for lines.Scan() {
				var r report
				if json.Unmarshal(lines.Bytes(), &r) == nil && r.Action == "peer_message_status" {
					m.reports <- r
				}
			}
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return m
}

// next waits for a report.
func (m *mailbox) next(t *testing.T) report {
	t.Helper()
	select {
	case r := <-m.reports:
		return r
	case <-time.After(turnTimeout):
		t.Fatal("no report came")
		return report{}
	}
}

// taken sends a marker and returns the bodies of the messages that the session took before it, oldest first. Messages
// are taken in the order in which they came, so what is missing has been dropped.
func (s *session) taken(t *testing.T) []string {
	t.Helper()
	peers, err := s.Peers()
	if err != nil {
		t.Fatal(err)
	}
	marker := fmt.Sprintf("marker after %d", len(peers))
	s.send(t, frame{from: "uds:" + filepath.Join(s.home.Run, "marker.sock"), name: "marker", mode: s.mode, body: marker})
	s.peer(t, marker)
	if peers, err = s.Peers(); err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, o := range peers {
		if o.Name != "marker" {
			bodies = append(bodies, o.Body)
		}
	}
	return bodies
}

const someID = "0b0e7a3e-5a8f-4a7c-9d1c-1f2e3d4c5b6a"

func TestInboxDropsDuplicates(t *testing.T) {
	t.Parallel()
	s := newSession(t, ClaudeOptions{Bypass: true})
	m := newMailbox(t, s, "p.sock", "p.sock")
	for _, f := range []frame{
		{from: m.from, id: someID, body: "a"},
		{from: m.from, body: "a"},                 // a duplicate: the same sender and body
		{from: m.from, id: someID, body: "a"},     // as well: the id does not matter
		{from: m.from, body: "a\n"},               // one more line, and it is another body
		{from: m.from, id: someID, body: "b"},     // another body with the same id is no duplicate
		{from: m.from + ".other.sock", body: "a"}, // another sender
	} {
		f.name, f.mode = "peer", "bypass"
		s.send(t, f)
	}
	want := []string{"a", "a\n", "b", "a"}
	if got := s.taken(t); !slices.Equal(got, want) {
		t.Errorf("taken %q, want %q", got, want)
	}
	if r := m.next(t); r.Status != "dropped" || r.DropReason != "duplicate" {
		t.Errorf("report on the first duplicate: %+v", r)
	}
	s.idle(t)
	s.exit(t)
}

func TestInboxKeepsOnlyUUIDsAsIDs(t *testing.T) {
	t.Parallel()
	s := newSession(t, ClaudeOptions{Bypass: true})
	m := newMailbox(t, s, "p.sock", "p.sock")
	for i, row := range []struct{ id, kept string }{{someID, someID}, {"log-events-17", ""}} {
		f := frame{from: m.from, name: "peer", mode: "bypass", id: row.id, body: fmt.Sprint("message ", i)}
		s.send(t, f)
		if o := s.peer(t, f.body); o.MsgID != row.kept {
			t.Errorf("id %q: the transcript has %q, want %q", row.id, o.MsgID, row.kept)
		}
		s.send(t, f)
		if r := m.next(t); r.Status != "dropped" || r.OrigID != row.kept {
			t.Errorf("id %q: report %+v, want orig_msg_id %q", row.id, r, row.kept)
		}
	}
	s.idle(t)
	s.exit(t)
}

// envelopes are messages to a session that bypasses permissions, from a sender that is not its child. One that the
// client cannot read back byte for byte has no mode, and is held.
var envelopes = []struct {
	what       string
	from, name string // of the envelope; empty: a plain one
	body       string
	told       string // what the model is told; empty: the body
	held       bool
}{
	{what: "plain", body: "x"},
	{what: "percent-encoded sender", from: "uds:/tmp/a%20b%2B.sock", body: "x"},
	{what: "long sender", from: "uds:/tmp/" + strings.Repeat("x", 280) + ".sock", body: "x"},
	{what: "opening tag in the body", body: `<cross-session-message from="z">`, told: `<\cross-session-message from="z">`},
	{what: "closing tag with a backslash", body: `<\/cross-session-message>`},
	{what: "closing tag with a backslash and a space", body: `<\/cross-session-message >`},
	{what: "closing tag of another element", body: `</cross-session> </cross-session-messages> </message>`},
	{what: "markup and quotes", body: `a < b && c > "d" <system-reminder>`},
	{what: "entity in the name", name: "a&amp;b", body: "x"},

	{what: "space in the sender", from: "uds:/tmp/a b.sock", body: "x", held: true},
	{what: "plus in the sender", from: "uds:/tmp/a+b.sock", body: "x", held: true},
	{what: "letter outside ASCII in the sender", from: "uds:/tmp/é.sock", body: "x", held: true},
	{what: "angle brackets in the name", name: "a<b>", body: "x", held: true},
	{what: "closing tag", body: "</cross-session-message>", held: true},
	{what: "closing tag with a space", body: "</cross-session-message >", held: true},
	{what: "closing tag with a space before its name", body: "</ cross-session-message>", held: true},
	{what: "closing tag with a space before its slash", body: "< /cross-session-message>", held: true},
	{what: "closing tag in capitals", body: "</CROSS-Session-Message>", held: true},
	{what: "closing tag with underscores", body: "</cross_session_message>", held: true},
	{what: "closing tag that is not whole", body: "</cross-session-message", held: true},
	{what: "closing tag with a quote before its name", body: `<"/'cross-session-message`, held: true},
}

func TestInboxHoldsWhatItCannotReadBack(t *testing.T) {
	t.Parallel()
	s := newSession(t, ClaudeOptions{Bypass: true})
	m := newMailbox(t, s, "p.sock", "p.sock")
	// What is held opens a dialog, which puts off what comes after it: it comes last.
	for i, row := range envelopes {
		body := fmt.Sprintf("%d %s", i, row.body)
		f := frame{from: m.from, name: "peer", mode: "bypass", body: body}
		if row.name != "" {
			f.name = row.name
		}
		envelope := f
		if row.from != "" {
			envelope.from = row.from
		}
		s.sendContent(t, f, envelope.envelope())
		if !row.held {
			if row.told != "" {
				envelope.body = fmt.Sprintf("%d %s", i, row.told)
			}
			if r := s.request(t, fmt.Sprintf("\n%d ", i)); !r.Says(envelope.envelope()) {
				t.Errorf("%s: the model was told %+v, want %s", row.what, r.News(), envelope.envelope())
			}
			continue
		}
		if r := m.next(t); r.Status != "held" {
			t.Errorf("%s: report %+v, want held", row.what, r)
		}
	}
	s.net.RequireNone(t)
}

func TestInboxReportsToAPercentEncodedAddress(t *testing.T) {
	t.Parallel()
	s := newSession(t, ClaudeOptions{Bypass: true})
	m := newMailbox(t, s, "a+b@c.sock", "a%2Bb%40c.sock")
	f := frame{from: m.from, name: "peer", mode: "prompting", body: "x"}
	s.send(t, f)
	if r := m.next(t); r.Status != "held" {
		t.Errorf("report %+v", r)
	}
	s.net.RequireNone(t)
}

func TestInboxReportsOnlyIntoItsOwnFolder(t *testing.T) {
	t.Parallel()
	s := newSession(t, ClaudeOptions{Bypass: true})
	s.send(t, frame{from: "uds:" + filepath.Join(s.home.Run, "p.sock"), name: "peer", mode: "prompting", body: "x"})
	ctx, cancel := context.WithTimeout(t.Context(), turnTimeout)
	defer cancel()
	if err := s.WaitScreen(ctx, "Held message from another session"); err != nil {
		t.Error(err)
	}
	if err := eventually(ctx, "the reason for no report in the client's log", func() (bool, error) {
		return strings.Contains(s.DebugLog(), "hold-receipt skipped"), nil
	}); err != nil {
		t.Error(err)
	}
	s.net.RequireNone(t)
}

// slow skips a test that waits for the client's own clock, unless it is asked for.
func slow(t *testing.T) {
	t.Helper()
	if os.Getenv("SESSEVENTS_SLOW_TESTS") != "1" {
		t.Skip("takes a minute of waiting: SESSEVENTS_SLOW_TESTS=1 runs it")
	}
	t.Parallel()
}

func TestInboxForgetsADuplicateAfter30Seconds(t *testing.T) {
	slow(t)
	s := newSession(t, ClaudeOptions{Bypass: true})
	f := frame{from: "uds:" + filepath.Join(s.home.Run, "p.sock"), name: "peer", mode: "bypass", id: someID, body: "a"}
	s.send(t, f)
	s.peer(t, "a") // the time counts from when the client reads a message, which may be late on a loaded machine
	s.send(t, f)   // a duplicate does not make it longer
	time.Sleep(31 * time.Second)
	s.send(t, f)
	if got := s.taken(t); !slices.Equal(got, []string{"a", "a"}) {
		t.Errorf("taken %q, want the same message twice: at first, and again when it was forgotten", got)
	}
	s.idle(t)
	s.exit(t)
}

func TestInboxTakesAMessageASecondForAWhile(t *testing.T) {
	slow(t)
	s := newSession(t, ClaudeOptions{Bypass: true})
	from := "uds:" + filepath.Join(s.home.Run, "p.sock")
	var want []string
	for i := range 35 {
		f := frame{from: from, name: "peer", mode: "bypass", body: fmt.Sprint("message ", i)}
		s.send(t, f)
		want = append(want, f.body)
		if i < 25 {
			time.Sleep(1100 * time.Millisecond)
		} else {
			time.Sleep(2050 * time.Millisecond)
		}
	}
	if got := s.taken(t); !slices.Equal(got, want) {
		t.Errorf("taken %q", got)
	}
	s.idle(t)
	s.exit(t)
}

func TestInboxDropsWhatIsOverTheBudget(t *testing.T) {
	t.Parallel()
	s := newSession(t, ClaudeOptions{Bypass: true})
	from := "uds:" + filepath.Join(s.home.Run, "p.sock")
	for i := range 40 {
		s.send(t, frame{from: from, name: "peer", mode: "bypass", body: fmt.Sprint("message ", i)})
	}
	if got := s.taken(t); len(got) < 30 || len(got) > 35 {
		t.Errorf("%d of 40 at once were taken, want about 30", len(got))
	}
	s.idle(t)
	s.exit(t)
}
