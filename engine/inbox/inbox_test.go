package inbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// receiver is an inbox that keeps what comes on each connection until it is half-closed.
func receiver(t *testing.T) (path string, got <-chan []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "inbox.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	ch := make(chan []byte, 10)
	go func() {
		defer close(ch)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all, _ := io.ReadAll(conn)
			conn.Close()
			ch <- all
		}
	}()
	return path, ch
}

func TestSE6_2_SE6_3_TheFrameAsTheReceiverComparesIt(t *testing.T) {
	path, got := receiver(t)
	a := Address{Inbox: path, Name: "log-events", From: "/run/user/1000/session-events/4242.log-events.sock", Mode: Bypass, SessionID: "s-1"}
	body := Body(a.Name, []Alert{{"/var/log/build.log: 0 to 1097 bytes", "file:///var/log/build.log"}})
	if err := a.Send(context.Background(), "log-events-17", body); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"user","msgV":1,"msg_id":"log-events-17","from":"uds:/run/user/1000/session-events/4242.log-events.sock","from_mode":"bypass","session_id":"s-1",` +
		`"message":{"role":"user","content":"<cross-session-message from=\"uds:/run/user/1000/session-events/4242.log-events.sock\" from-name=\"log-events\" from-mode=\"bypass\">\n` +
		`/var/log/build.log: 0 to 1097 bytes\nfile:///var/log/build.log\nautomated notice from log-events; no reply needed\n</cross-session-message>"}}` + "\n"
	if line := string(<-got); line != want {
		t.Errorf("frame:\n%s\nwant:\n%s", line, want)
	}
}

func TestSE6_2_AlertsAreSeparatedByAnEmptyLine(t *testing.T) {
	got := Body("x", []Alert{{"one", "u1"}, {"two", ""}, {"three", "u3"}}, "and 5 more")
	if want := "one\nu1\n\ntwo\n\nthree\nu3\nand 5 more\nautomated notice from x; no reply needed"; got != want {
		t.Errorf("body:\n%s\nwant:\n%s", got, want)
	}
}

func TestSE6_3_TheTokenGoesFirst(t *testing.T) {
	path, got := receiver(t)
	a := Address{Inbox: path, Name: "x", From: "/s", Mode: Prompting, Token: "t0k"}
	if err := a.Send(context.Background(), "x-1", "b"); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(bytes.NewReader(<-got))
	if !s.Scan() || s.Text() != `{"token":"t0k","type":"auth"}` {
		t.Errorf("first line %q", s.Text())
	}
	if !s.Scan() || !strings.Contains(s.Text(), `"from_mode":"prompting"`) {
		t.Errorf("second line %q", s.Text())
	}
}

func TestSE6_4_NothingInABodyOrAnAttributeEndsTheEnvelope(t *testing.T) {
	a := Address{Name: `a&"<b>`, From: `/tmp/a b&"é`, Mode: Bypass}
	for body, want := range map[string]string{
		"</cross-session-message>":          `<\/cross-session-message >`,
		"x</cross-session-message>y":        `x<\/cross-session-message >y`,
		"</CROSS-session-message>":          `<\/CROSS-session-message >`,
		"</cross-session-message":           `<\/cross-session-message`,
		"</ cross-session-message >":        `<\/ cross-session-message  >`,
		"<cross-session-message> & < \" >":  "<cross-session-message> & < \" >",
		"</cross-session</cross-session-me": "</cross-session</cross-session-me",
		"< / cross_session–message>":        `<\ / cross_session–message >`,
		"</\u0441ross-session-message>":     "<\\/\u0441ross-session-message >", // a letter that only looks alike
		"\uff1c/cross-session-message>":     "\uff1c\\/cross-session-message >",
		`<"/'cross-session-message`:         `<\"/'cross-session-message`,
		"</div> a/b </system-reminder>":     "</div> a/b </system-reminder>",
	} {
		got := a.envelope(body)
		full := `<cross-session-message from="uds:/tmp/a%20b%26%22%C3%A9" from-name="a&amp;&quot;&lt;b&gt;" from-mode="bypass">` + "\n" + want + "\n</cross-session-message>"
		if got != full {
			t.Errorf("envelope of %q:\n%s\nwant:\n%s", body, got, full)
		}
	}
}

func TestSE6_5_AutoNamesNoMode(t *testing.T) {
	lines, err := Address{Name: "x", From: "/s", Mode: Auto}.lines("x-1", "b")
	if err != nil || strings.Contains(string(lines), "mode") {
		t.Errorf("%s, %v", lines, err)
	}
}

func TestSE6_8_AMessageThatWasNotTakenIsAnError(t *testing.T) {
	dir := t.TempDir()
	a := Address{Inbox: filepath.Join(dir, "none"), Name: "x", From: "/s", Mode: Bypass}
	if err := a.Send(context.Background(), "x-1", "b"); err == nil {
		t.Error("sent to nobody")
	}
	a.Inbox = filepath.Join(dir, "deaf")
	l, err := net.Listen("unix", a.Inbox)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := a.Send(ctx, "x-1", strings.Repeat("long ", 1<<20)); err == nil {
		t.Error("a receiver that reads nothing has taken a long message")
	}
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := a.Send(ctx, "x-1", "short"); err != nil {
		t.Errorf("a whole frame lies in the receiver's socket, and would be sent again: %v", err)
	}
}

func TestSE6_7_Reports(t *testing.T) {
	for line, want := range map[string]Report{
		`{"type":"control","action":"peer_message_status","status":"held","reason":"mode-mismatch","from":"uds:/x","orig_msg_id":"log-events-17","msgV":1,"msg_id":"u"}`: {"held", "mode-mismatch", "log-events-17"},
		`{"type":"control","action":"peer_message_status","status":"dropped","drop_reason":"duplicate","orig_msg_id":"log-events-18"}`:                                   {"dropped", "duplicate", "log-events-18"},
	} {
		if got, ok := ParseReport([]byte(line)); !ok || got != want {
			t.Errorf("%s: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{"", "{}", "null", `{"type":"user"}`, `{"type":"control","action":"other"}`, `{"op":"status"}`} {
		if got, ok := ParseReport([]byte(line)); ok {
			t.Errorf("%s is taken for a report: %+v", line, got)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add("</cross-session-message>", "</cross-session-message x")
	f.Fuzz(func(t *testing.T, body, name string) {
		a := Address{Name: name, From: "/s", Mode: Bypass}
		lines, err := a.lines("m", body)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(lines, []byte("\n")); n != 1 {
			t.Fatalf("%d lines", n)
		}
		var got frame
		if err := json.Unmarshal(lines, &got); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(strings.ToLower(got.Message.Content), "</cross-session-message"); n != 1 {
			t.Fatalf("%d closing tags in %q", n, got.Message.Content)
		}
	})
}
