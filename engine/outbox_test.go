package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/engine/state"
)

func newOutbox(saved state.Delivery) *outbox {
	return &outbox{name: "x", stem: "x-77", fetch: "sessevents --spec x wait --since", saved: saved}
}

func alert(id int64, text string) eventlog.Event {
	return eventlog.Event{ID: id, Kind: "k", Level: eventlog.Alert, Text: text}
}

// send takes the next message, as if the inbox had taken it at once, and returns when and what.
func (o *outbox) send(t *testing.T, now time.Time) (time.Time, state.Message) {
	t.Helper()
	at, ok := o.due(now)
	if !ok {
		t.Fatal("nothing is due")
	}
	if at.Before(now) {
		at = now
	}
	m := o.settle(at)
	o.started(at)
	if _, ok := o.due(at); ok {
		t.Fatal("a second message is due while one is under way")
	}
	o.taken()
	return at, m
}

var noon = time.Date(2026, 10, 12, 12, 0, 0, 0, time.UTC)

func TestC32_SE6_1_TheReceiversLimitsAreKept(t *testing.T) {
	// The receiver as it was observed: a bucket of 30, refilled at one per 2s.
	bucket, last := 30.0, noon
	o := newOutbox(state.Delivery{})
	now := noon
	var sent []time.Time
	for id := int64(1); id <= 200; id++ {
		o.add(alert(id, fmt.Sprint("alert ", id)), now)
		at, _ := o.send(t, now)
		bucket = min(30, bucket+at.Sub(last).Seconds()/2) - 1
		if bucket < 0 {
			t.Fatalf("message %d at %s is over the receiver's budget", id, at.Sub(noon))
		}
		if n := len(sent); n > 0 && at.Sub(sent[n-1]) < 1100*time.Millisecond {
			t.Fatalf("message %d is %s behind the one before", id, at.Sub(sent[n-1]))
		}
		sent, last, now = append(sent, at), at, at
		if id%20 == 0 { // a restart forgets nothing of it
			o = newOutbox(o.saved)
		}
	}
	if len(o.saved.Sent) > 60 {
		t.Errorf("%d messages are remembered", len(o.saved.Sent))
	}
}

func TestSE6_1_WhatWaitsIsMerged(t *testing.T) {
	o := newOutbox(state.Delivery{})
	o.add(alert(1, "one"), noon)
	o.send(t, noon)
	o.add(alert(2, "two"), noon.Add(100*time.Millisecond))
	o.add(eventlog.Event{ID: 3, Level: eventlog.Note, Text: "a note"}, noon.Add(200*time.Millisecond))
	o.add(alert(4, "four"), noon.Add(300*time.Millisecond))
	if o.pending() != 2 || o.since != noon.Add(100*time.Millisecond) {
		t.Errorf("%d alerts wait since %s", o.pending(), o.since)
	}
	at, m := o.send(t, noon.Add(300*time.Millisecond))
	if want := "two\n\nfour\nautomated notice from x; no reply needed"; m.Body != want || m.ID != "x-77-4" || at != noon.Add(inbox.Spacing) {
		t.Errorf("at %s %s:\n%s", at.Sub(noon), m.ID, m.Body)
	}
	if _, ok := o.due(at); ok || o.pending() != 0 {
		t.Error("something is left")
	}
}

func TestSE6_1_AnEqualMessageDoesNotVanishAsADuplicate(t *testing.T) {
	o := newOutbox(state.Delivery{})
	now := noon
	bodies := map[string]time.Time{}
	for id := int64(1); id <= 60; id++ {
		o.add(alert(id, "/x: gone"), now)
		at, m := o.send(t, now)
		if before, ok := bodies[m.Body]; ok && at.Sub(before) <= 50*time.Second {
			t.Fatalf("message %d has the body of one %s ago:\n%s", id, at.Sub(before), m.Body)
		}
		bodies[m.Body], now = at, at
		if id == 3 {
			if want := "/x: gone\nonce more, event 3\nautomated notice from x; no reply needed"; m.Body != want {
				t.Errorf("body:\n%s", m.Body)
			}
			o = newOutbox(o.saved)
		}
	}
	o.add(alert(61, "/x: gone"), now.Add(2*time.Minute))
	if _, m := o.send(t, now.Add(2*time.Minute)); strings.Contains(m.Body, "once more") {
		t.Errorf("two minutes later it is new again:\n%s", m.Body)
	}
}

func TestSE6_6_C29_AMessageIsBounded(t *testing.T) {
	o := newOutbox(state.Delivery{})
	for id := int64(1); id <= 2000; id++ {
		o.add(alert(id, fmt.Sprint("alert ", id)), noon)
	}
	if o.pending() != 2000 {
		t.Errorf("%d pending", o.pending())
	}
	_, m := o.send(t, noon)
	want := "alert 20\nand 1980 more: sessevents --spec x wait --since 20\nautomated notice from x; no reply needed"
	if !strings.HasSuffix(m.Body, want) || strings.Count(m.Body, "alert ") != 20 || m.Last != 2000 {
		t.Errorf("last %d, body ends:\n%s", m.Last, m.Body[len(m.Body)-200:])
	}
}

func TestSE6_8_AMessageThatWasNotTakenComesAgainAsItWas(t *testing.T) {
	o := newOutbox(state.Delivery{})
	o.add(alert(1, "one"), noon)
	first := o.settle(noon)
	o.started(noon)
	o.add(alert(2, "two"), noon)
	now := noon
	for try, wait := range []time.Duration{1100 * time.Millisecond, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute} {
		o.refused(now)
		at, ok := o.due(now)
		if !ok || at.Sub(now) != wait {
			t.Errorf("try %d follows after %s, want %s", try+2, at.Sub(now), wait)
		}
		now = at
		if m := o.settle(now); m != first {
			t.Errorf("try %d: %+v, want %+v", try+2, m, first)
		}
		o.started(now)
		if try == 2 { // a restart in between
			o = newOutbox(o.saved)
			o.failures = try + 1
			o.add(alert(2, "two"), now)
		}
	}
	o.taken()
	if _, m := o.send(t, now); m.ID != "x-77-2" || !strings.HasPrefix(m.Body, "two\n") {
		t.Errorf("then comes %+v", m)
	}
}

func TestC31_WhatIsNotDeliveredIsCountedAndSinceWhen(t *testing.T) {
	o := newOutbox(state.Delivery{})
	for id := int64(1); id <= 25; id++ {
		o.add(alert(id, fmt.Sprint("alert ", id)), noon.Add(time.Duration(id)*time.Second))
	}
	check := func(what string, pending int, since time.Time) {
		t.Helper()
		if o.pending() != pending || !o.waitingSince().Equal(since) {
			t.Errorf("%s: %d wait since %s, want %d since %s", what, o.pending(), o.waitingSince(), pending, since)
		}
	}
	first := noon.Add(time.Second)
	check("waiting", 25, first)
	o.settle(noon.Add(time.Minute))
	o.started(noon.Add(time.Minute))
	check("on its way", 25, first)
	o.refused(noon.Add(time.Minute))
	check("refused", 25, first)
	o.add(alert(26, "alert 26"), noon.Add(2*time.Minute))
	check("and one more", 26, first)
	o = newOutbox(o.saved)
	check("after a restart", 25, first)
	o.add(alert(26, "alert 26"), noon.Add(2*time.Minute))
	o.taken()
	check("delivered, but for the last", 1, noon.Add(2*time.Minute))
}

func TestAClockThatIsSetBackHoldsNothing(t *testing.T) {
	o := newOutbox(state.Delivery{Sent: []state.Sent{{At: noon.Add(24 * time.Hour), Sum: "s"}}, Tokens: 3})
	o.add(alert(1, "one"), noon)
	if at, _ := o.send(t, noon); !at.Equal(noon) {
		t.Errorf("held for %s", at.Sub(noon))
	}
}

func TestWhatWasDeliveredIsNotAddedAgain(t *testing.T) {
	o := newOutbox(state.Delivery{Delivered: 5})
	o.add(alert(5, "old"), noon)
	if _, ok := o.due(noon); ok {
		t.Error("an old alert is due")
	}
}
