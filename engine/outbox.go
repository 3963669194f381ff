package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/engine/state"
)

// outbox decides what the next message is and when it may go. It does no I/O, and copies of its value are
// independent: a commit works on a copy and keeps it only when it is saved.
type outbox struct {
	name  string
	stem  string // of message ids: unique among the daemons that one session may ever have
	fetch string // the command that shows events after an id, without the id
	saved state.Delivery

	// What waits behind saved.Sending: the first alerts, and how many more there are.
	alerts []inbox.Alert
	ids    []int64
	more   int
	last   int64
	since  time.Time // when the oldest came

	busy     bool      // a send is under way
	retryAt  time.Time // after a failure
	failures int
}

// clone returns an independent copy.
func (o *outbox) clone() *outbox {
	c := *o
	c.alerts, c.ids = slices.Clone(o.alerts), slices.Clone(o.ids)
	c.saved.Sent = slices.Clone(o.saved.Sent)
	return &c
}

// add puts an alert behind those that wait; notes are left out.
func (o *outbox) add(e eventlog.Event, now time.Time) {
	if !e.IsAlert() || e.ID <= o.saved.Delivered {
		return
	}
	if o.last == 0 {
		o.since = now
	}
	o.last = e.ID
	if len(o.alerts) == inbox.MaxAlerts {
		o.more++
		return
	}
	o.alerts = append(o.alerts, inbox.Alert{Text: e.Text, URL: e.URL})
	o.ids = append(o.ids, e.ID)
}

// pending counts the alerts that the inbox has not been given.
func (o *outbox) pending() int {
	n := len(o.alerts) + o.more
	if m := o.saved.Sending; m != nil {
		n += max(m.Alerts, 1)
	}
	return n
}

// waitingSince is when the oldest of them came.
func (o *outbox) waitingSince() time.Time {
	if m := o.saved.Sending; m != nil && !m.Since.IsZero() {
		return m.Since
	}
	return o.since
}

// due returns when the next message may go; ok is false where there is none, or one is under way.
func (o *outbox) due(now time.Time) (at time.Time, ok bool) {
	if o.busy || o.saved.Sending == nil && o.last == 0 {
		return time.Time{}, false
	}
	at = now
	if n := len(o.saved.Sent); n > 0 {
		// A clock that was set back must not hold messages for longer than they need.
		if sent := o.saved.Sent[n-1].At; !sent.After(now) {
			at = sent.Add(max(inbox.Spacing, inbox.NextToken(o.saved.Tokens)))
		}
	}
	if o.retryAt.After(at) {
		at = o.retryAt
	}
	return at, true
}

// settle decides what the next message is: the one on its way, or all that waits. After it, and once saved is on
// disk, the message may be sent.
func (o *outbox) settle(now time.Time) state.Message {
	if o.saved.Sending != nil {
		return *o.saved.Sending
	}
	var extra []string
	if o.more > 0 {
		extra = append(extra, fmt.Sprintf("and %d more: %s %d", o.more, o.fetch, o.ids[len(o.ids)-1]))
	}
	body := inbox.Body(o.name, o.alerts, extra...)
	if o.sentLately(body, now) {
		extra = append(extra, fmt.Sprintf("once more, event %d", o.last))
		body = inbox.Body(o.name, o.alerts, extra...)
	}
	o.saved.Sending = &state.Message{ID: fmt.Sprintf("%s-%d", o.stem, o.last), Last: o.last, Body: body, Alerts: len(o.alerts) + o.more, Since: o.since.UTC().Round(0)}
	o.alerts, o.ids, o.more, o.last, o.since = nil, nil, 0, 0, time.Time{}
	return *o.saved.Sending
}

// started notes that the message goes out now, so that what it costs with the receiver is saved with it.
func (o *outbox) started(now time.Time) {
	o.busy = true
	tokens := float64(inbox.Burst)
	if n := len(o.saved.Sent); n > 0 {
		tokens = inbox.Tokens(o.saved.Tokens, now.Sub(o.saved.Sent[n-1].At))
	}
	o.saved.Tokens = max(0, tokens-1)
	old := func(s state.Sent) bool { return now.Sub(s.At) > inbox.Repeat || s.At.After(now) }
	o.saved.Sent = append(slices.DeleteFunc(o.saved.Sent, old), state.Sent{At: now.UTC(), Sum: sum(o.saved.Sending.Body)})
}

// taken notes that the inbox has the message.
func (o *outbox) taken() {
	o.busy, o.failures, o.retryAt = false, 0, time.Time{}
	o.saved.Delivered = o.saved.Sending.Last
	o.saved.Sending = nil
}

// retryMax is the longest wait between two tries of one message.
const retryMax = time.Minute

// refused notes that the inbox has not taken the message: it is tried again, ever later.
func (o *outbox) refused(now time.Time) {
	o.busy = false
	o.retryAt = now.Add(min(retryMax, time.Second<<min(o.failures, 10)))
	o.failures++
}

func (o *outbox) sentLately(body string, now time.Time) bool {
	s := sum(body)
	return slices.ContainsFunc(o.saved.Sent, func(old state.Sent) bool { return old.Sum == s && now.Sub(old.At) < inbox.Repeat })
}

func sum(body string) string {
	s := sha256.Sum256([]byte(body))
	return hex.EncodeToString(s[:8])
}
