package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
)

func TestC31_SE6_8_AnInboxThatIsGoneDelaysNoPoll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "inbox")
	token, err := rundir.FileSink("x", os.Getppid())
	must(t, err)
	owner := rundir.Owner{PID: token.PID, Start: token.Start, Inbox: path} // nobody listens there
	d := start(t, Options{Source: always(func(n int) Outcome { return said(fmt.Sprint("alert ", n)) }), Dir: dir, Owner: owner})
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	for range 3 {
		d.mustAsk(control.Request{Op: control.Poll})
	}
	report := d.mustAsk(control.Request{Op: control.Status}).Report
	if report.Events != 4 || report.Delivery.Pending != 4 || report.Delivery.LastError == "" {
		t.Errorf("status %+v, delivery %+v", report, report.Delivery)
	}
	if first := report.Recent[0]; report.Delivery.Since == nil || report.Delivery.Since.Sub(first.At).Abs() > time.Second {
		t.Errorf("undelivered since %v, the first alert came at %s", report.Delivery.Since, first.At)
	}
	// Then the session has its inbox again, which does not read at first, and once hangs up in the midst.
	l, err := net.Listen("unix", path)
	must(t, err)
	defer l.Close()
	conn, err := l.Accept()
	must(t, err)
	if r := d.mustAsk(control.Request{Op: control.Poll}); r.Events != 1 {
		t.Errorf("a poll while the inbox does not read: %+v", r)
	}
	must(t, conn.(*net.UnixConn).SetReadBuffer(1))
	conn.Close() // unread: the sender learns that it was not taken
	seen := map[string]int{}
	last := ""
	for len(seen) < 5 {
		conn, err := l.Accept()
		must(t, err)
		data, err := io.ReadAll(conn)
		must(t, err)
		conn.Close()
		var frame struct{ Message struct{ Content string } }
		must(t, json.Unmarshal(data, &frame))
		for line := range strings.Lines(frame.Message.Content) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "alert ") {
				seen[line]++
				if line <= last {
					t.Errorf("%s comes behind %s", line, last)
				}
				last = line
			}
		}
	}
	for line, n := range seen {
		if n != 1 {
			t.Errorf("%s was given %d times", line, n)
		}
	}
	for { // the last message is noted once the connection has closed
		if got := d.mustAsk(control.Request{Op: control.Status}).Report.Delivery; got.Pending == 0 {
			if got.Since != nil || got.LastError != "" {
				t.Errorf("delivery %+v", got)
			}
			break
		}
	}
	log := readFile(t, d.files.Events)
	if n := strings.Count(log, "\n"); n != 5 {
		t.Errorf("%d lines in the log:\n%s", n, log)
	}
}

// TestC31_ASlowReaderGetsEachMessageOnce: a session that reads slowly, or not at all, has the message all the same once it
// lies in its socket; only one that did not fit comes again.
func TestC31_ASlowReaderGetsEachMessageOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "inbox")
	l, err := net.Listen("unix", path)
	must(t, err)
	defer l.Close()
	token, err := rundir.FileSink("x", os.Getppid())
	must(t, err)
	owner := rundir.Owner{PID: token.PID, Start: token.Start, Inbox: path}
	d := start(t, Options{Source: always(func(n int) Outcome { return said(fmt.Sprint("alert ", n)) }), Dir: dir, Owner: owner})
	d.mustAsk(control.Request{Op: control.Watch, Words: []string{"a"}})
	d.mustAsk(control.Request{Op: control.Poll})
	var texts []string
	for i := range 2 {
		conn, err := l.Accept()
		must(t, err)
		for i == 0 && d.mustAsk(control.Request{Op: control.Status}).Report.Delivery.Sent == 0 { // the sender gives up waiting for the end
			time.Sleep(20 * time.Millisecond) // nothing tells when the sender stops to wait
		}
		data, err := io.ReadAll(conn)
		must(t, err)
		conn.Close()
		texts = append(texts, string(data))
	}
	if !strings.Contains(texts[0], "alert 1") || strings.Contains(texts[1], "alert 1") || !strings.Contains(texts[1], "alert 2") {
		t.Errorf("messages %q", texts)
	}
}
