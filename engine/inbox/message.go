// Package inbox gives one message to a Claude Code session's inbox: its words, its envelope, its frame, and how often
// the receiver takes one.
//
// The receiver's side was observed on Claude Code 2.1.332; docs/decisions tells what it does.
package inbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Mode is the permission mode that a message names as its sender's. The receiver holds a message whose mode is not
// its own.
type Mode string

const (
	// Bypass is for a session that bypasses permission prompts.
	Bypass Mode = "bypass"
	// Prompting is for a session that asks.
	Prompting Mode = "prompting"
	// Auto names no mode: the receiver takes such a message in either, as long as the sender descends from the
	// session's own process.
	Auto Mode = "auto"
)

// MaxAlerts is how many alerts a message shows; it counts the rest.
const MaxAlerts = 20

// Alert is what a message says of one event.
type Alert struct {
	Text string
	URL  string
}

// Body returns the words of a message: each alert's text and URL on a line, an empty line between alerts, then the
// lines of extra, then the closing line.
func Body(name string, alerts []Alert, extra ...string) string {
	var b strings.Builder
	for i, a := range alerts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(a.Text + "\n")
		if a.URL != "" {
			b.WriteString(a.URL + "\n")
		}
	}
	for _, line := range extra {
		b.WriteString(line + "\n")
	}
	b.WriteString("automated notice from " + name + "; no reply needed")
	return b.String()
}

// Address identifies sender and receiver of the messages of one daemon.
type Address struct {
	Inbox     string // the session's socket
	Name      string // the source's name, which the receiver shows
	From      string // the control socket, where reports on messages come
	Mode      Mode
	SessionID string // pins a message to the session; may be empty
	Token     string // of the inbox; may be empty
}

// envelope wraps a body so that the receiver shows it as a message from a named sender. The receiver compares it byte
// for byte with what it would write itself: attributes in this order, single spaces.
func (a Address) envelope(body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<cross-session-message from="%s" from-name="%s"`, attribute(a.from()), attribute(a.Name))
	if a.Mode != Auto {
		fmt.Fprintf(&b, ` from-mode="%s"`, attribute(string(a.Mode)))
	}
	b.WriteString(">\n" + defuse(body) + "\n</cross-session-message>")
	return b.String()
}

// from is the sender's address in the characters that the receiver takes there; others are percent-encoded.
func (a Address) from() string {
	var b strings.Builder
	b.WriteString("uds:")
	for i := range len(a.From) {
		if c := a.From[i]; strings.IndexByte("_/.-", c) >= 0 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

var escaper = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")

func attribute(s string) string { return escaper.Replace(s) }

// closing is what the receiver may take for the closing tag, which would end the envelope in the middle of a body. It
// takes more than its spelling: other separators, and letters and brackets that only look alike. So any name of
// letters, of whatever script, that is built like this one counts, and nothing else is touched.
var closing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([<\x{2039}\x{2329}\x{276C}\x{27E8}\x{3008}\x{FE64}\x{FF1C}\x{02C2}\x{1438}])` +
		`([^\\\p{L}\p{N}_<>-]*[/\x{2044}\x{2215}\x{29F8}\x{FF0F}][^\p{L}\p{N}<>]*\p{L}{5}[^\p{L}\p{N}<>]+\p{L}{7}[^\p{L}\p{N}<>]+\p{L}{7}\s*)(>?)`)
})

// defuse writes closing tags so that they end nothing: a backslash behind the bracket, which the receiver does not
// read over. A space before the closing bracket alone would keep the envelope together but make the receiver treat
// the message as unattested.
func defuse(body string) string {
	return closing().ReplaceAllStringFunc(body, func(tag string) string {
		m := closing().FindStringSubmatch(tag)
		if m[3] != "" {
			m[3] = " >"
		}
		return m[1] + `\` + m[2] + m[3]
	})
}

// frame is one line on the wire.
type frame struct {
	Type      string  `json:"type"`
	MsgV      int     `json:"msgV"`
	MsgID     string  `json:"msg_id"`
	From      string  `json:"from"`
	FromMode  Mode    `json:"from_mode,omitempty"`
	SessionID string  `json:"session_id,omitempty"`
	Message   message `json:"message"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// lines returns what goes over the wire for a message: with a token an auth line first, then the frame.
func (a Address) lines(msgID, body string) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if a.Token != "" {
		if err := enc.Encode(map[string]string{"type": "auth", "token": a.Token}); err != nil {
			return nil, err
		}
	}
	f := frame{
		Type: "user", MsgV: 1, MsgID: msgID, From: a.from(), SessionID: a.SessionID,
		Message: message{Role: "user", Content: a.envelope(body)},
	}
	if a.Mode != Auto {
		f.FromMode = a.Mode
	}
	err := enc.Encode(f)
	return []byte(b.String()), err
}
