package engine

import (
	"slices"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/inbox"
)

// keptReports is how many reports of the receiver are kept for `status`.
const keptReports = 5

// sendDue gives the next message to the inbox, if there is one and its time has come. What it says is settled on disk
// first, so that after a crash the same message is sent again, not another one.
func (l *loop) sendDue(now time.Time) {
	if l.outbox == nil || l.commits.open != nil || l.work.Err() != nil {
		return
	}
	if at, ok := l.outbox.due(now); !ok || at.After(now) {
		return
	}
	before := l.outbox.clone()
	m := l.outbox.settle(now)
	l.outbox.started(now)
	if err := l.save(l.snapshot(), nil); err != nil {
		l.outbox = before
		l.outbox.refused(now)
		l.delivery.LastError = err.Error()
		l.log.printf("message waits: %v", err)
		return
	}
	if l.commits.step("settled") != nil {
		return
	}
	l.running.Go(func() { l.sent <- l.address.Send(l.work, m.ID, m.Body) })
}

// delivered notes what became of the message that was on its way.
func (l *loop) delivered(err error, now time.Time) {
	id := l.outbox.saved.Sending.ID
	if err != nil {
		l.outbox.refused(now)
		l.delivery.LastError = err.Error()
		l.log.printf("message %s was not taken, and is sent again: %v", id, err)
		return
	}
	if l.commits.step("taken") != nil {
		return
	}
	l.outbox.taken()
	l.delivery.Sent++
	l.delivery.LastSent, l.delivery.LastError = &now, ""
	if err := l.save(l.snapshot(), nil); err != nil {
		l.log.printf("message %s is delivered, which could not be saved: %v", id, err)
		return
	}
	l.log.printf("message %s delivered", id)
}

// report takes what the receiver says of a message.
func (l *loop) report(r inbox.Report, now time.Time) {
	receipt := control.Receipt{
		At: now.UTC(), Status: oneLine(r.Status, 40), Reason: oneLine(r.Reason, 200), MsgID: oneLine(r.MsgID, 100),
	}
	l.delivery.Reports = append(l.delivery.Reports, receipt)
	l.delivery.Reports = slices.Clone(l.delivery.Reports[max(0, len(l.delivery.Reports)-keptReports):])
	id := receipt.MsgID
	if id == "" {
		id = "of that time" // the client names only ids of its own form
	}
	l.log.printf("the session reports message %s %s: %s", id, receipt.Status, receipt.Reason)
}
