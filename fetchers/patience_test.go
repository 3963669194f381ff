package fetchers

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func tooMany(after string) *http.Response {
	return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {after}}}
}

func TestC17_NoRequestBeforeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patience
		p.hear("a.example", "me", tooMany("120"), time.Now())
		p.hear("b.example", "me", tooMany("10"), time.Now())
		p.hear("b.example", "you", tooMany("20"), time.Now())
		p.hear("a.example", "me", tooMany("5"), time.Now()) // a shorter wish does not end a longer one
		time.Sleep(2 * time.Second)
		if got, want := p.limits(), []Limit{{"a.example", 118 * time.Second}, {"b.example", 18 * time.Second}}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		time.Sleep(118*time.Second - time.Nanosecond)
		wantWord(t, "rate-limited", Answer{}, p.check("a.example", "me", "a.example"))
		time.Sleep(time.Nanosecond)
		if err := p.check("a.example", "me", "a.example"); err != nil {
			t.Error(err)
		}
		if got := p.limits(); len(got) != 0 {
			t.Errorf("%v", got)
		}
	})
}

func TestC25_PatienceDoesNotFollowTheWallClock(t *testing.T) {
	var p patience
	p.hear("a.example", "", tooMany("60"), time.Now().Add(24*time.Hour)) // the wall clock of the poll was set ahead
	for key, until := range p.until {
		if d := time.Until(until); d > time.Minute || d < 50*time.Second {
			t.Errorf("%v: %s", key, d)
		}
		if until == until.Round(0) { // it would be compared by the wall clock
			t.Error("no monotonic reading")
		}
	}
}

func TestC17_PatienceIsSharedByHostAndCredential(t *testing.T) {
	status, after := 429, "120"
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		if status != 200 {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	})
	a := newAsker(t, "http")
	mine := map[string]any{"url": s.URL + "/a", "headers": map[string]string{"Authorization": "Bearer mine"}}
	var asked interface{ RetryAfter() time.Duration }
	if err := a.fails("rate-limited", mine); !errors.As(err, &asked) || asked.RetryAfter() != 2*time.Minute {
		t.Error(err)
	}
	status = 200
	a.fails("rate-limited", mine)
	mine["url"] = s.URL + "/another/target"
	a.fails("rate-limited", mine)
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	a.doc(map[string]any{"url": s.URL, "headers": map[string]string{"Authorization": "Bearer yours"}})
	limits := a.set.Limits()
	host := strings.TrimPrefix(s.URL, "http://")
	if len(limits) != 1 || limits[0].Host != host || limits[0].Left > 2*time.Minute || limits[0].Left < 110*time.Second {
		t.Errorf("%v", limits)
	}
}

func TestC17_AnAcceptedStatusStillPutsOff(t *testing.T) {
	s := newSite(t, sends(429, "", ""))
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL, "accept": []int64{200, 429}}
	if doc := a.doc(opts); doc["status"] != 429 {
		t.Error(doc)
	}
	a.fails("rate-limited", opts)
}

func TestC17_HowLong(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		header string
		want   time.Duration // 0: not put off
	}{
		{429, "Retry-After: 120", 2 * time.Minute},
		{429, "Retry-After: Mon, 30 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{429, "Retry-After: Mon, 30 Nov 2026 11:00:00 GMT", time.Second},
		{429, "Retry-After: 315360000", time.Hour},
		{429, "Retry-After: 99999999999999999999", time.Hour},
		{429, "Retry-After: -99999999999999999999", defaultPatience},
		{429, "Retry-After: soon", defaultPatience},
		{429, "Retry-After: -5", defaultPatience},
		{429, "Retry-After: 0", time.Second},
		{429, "X-Ratelimit-Reset: 100", 100 * time.Second},
		{429, "X-Ratelimit-Reset: 1796040090", 90 * time.Second},
		{429, "X-Ratelimit-Remaining: 12|X-Ratelimit-Reset: 5", defaultPatience},
		{403, "X-Ratelimit-Reset: 5", 0},
		{429, "", defaultPatience},
		{403, "", 0},
		{403, "Retry-After: 60", time.Minute},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: 1796040090", 90 * time.Second},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: garbage", defaultPatience},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: NaN", defaultPatience},
		{403, "X-Ratelimit-Remaining: 12|X-Ratelimit-Reset: 1796040090", 0},
		{403, "Ratelimit-Remaining: 0|Ratelimit-Reset: 30", 30 * time.Second},
		{403, "X-Ratelimit-Remaining: 0|X-Ratelimit-Reset: 1e300", time.Hour},
		{429, "Ratelimit-Reset: 30", 30 * time.Second},
		{429, "Ratelimit-Remaining: 0;w=21600|Ratelimit-Reset: 30", 30 * time.Second},
		{403, "Ratelimit-Remaining: 0;w=21600", defaultPatience},
		{429, `Ratelimit: "default";r=0;t=30`, 30 * time.Second},
		{429, `Ratelimit: default;r=0;t=30`, 30 * time.Second},
		{403, `Ratelimit: "default";r=0;t=30`, 30 * time.Second},
		{403, `Ratelimit: "default";r=5;t=30`, 0},
		{403, `Ratelimit: "default";t=30`, 0},
		{429, `Ratelimit: "default";t=30`, 30 * time.Second},
		{429, `Ratelimit: "default";r=5;t=30`, defaultPatience},
		{429, `Ratelimit: "minute";r=5;t=10, "day, and more; r=0";pk=:c2VjcmV0:;r=0 ; t=1800`, 30 * time.Minute},
		{429, `Ratelimit: "minute";r=0;t=10, "day";r=0;t=1800, "month";r=7;t=3000`, 30 * time.Minute},
		{403, `Ratelimit: "default";r=0`, defaultPatience},
		{403, `Ratelimit: "default";r=0;t=315360000`, time.Hour},
		{403, `Ratelimit: "default";r=0;t=99999999999999999999`, time.Hour},
		{403, `Ratelimit: "default";r=0;t=0`, time.Second},
		{403, `Ratelimit: "default";r=0;t=-5`, defaultPatience},
		{403, `Ratelimit: "default";r=0;t=soon`, defaultPatience},
		{403, `Ratelimit: "unclosed;r=0;t=30`, 0},
		{429, "Ratelimit: limit=100, remaining=0, reset=30", 30 * time.Second},
		{403, "Ratelimit: limit=100, remaining=9, reset=30", 0},
		{403, "X-Ratelimit-Remaining: 9|X-Ratelimit-Reset: 3000|Ratelimit: a;r=0;t=30", 30 * time.Second},
		{429, "Retry-After: 5|Ratelimit: a;r=0;t=30", 5 * time.Second},
		{503, "Ratelimit: a;r=0;t=30", 0},
		{200, "Ratelimit: a;r=0;t=30", 0},
		{503, "Retry-After: 10", 10 * time.Second},
		{503, "", 0},
		{200, "Retry-After: 10", 0},
		{429, "Date: Mon, 30 Nov 2026 13:00:00 GMT|Retry-After: Mon, 30 Nov 2026 13:00:10 GMT", 10 * time.Second},
	} {
		resp := &http.Response{StatusCode: c.status, Header: http.Header{}}
		for field := range strings.SplitSeq(c.header, "|") {
			name, v, _ := strings.Cut(field, ": ")
			resp.Header.Set(name, v)
		}
		if got, ok := asksToWait(resp, now); ok && got != c.want || ok != (c.want > 0) {
			t.Errorf("%d %s: got %s %v, want %s", c.status, c.header, got, ok, c.want)
		}
	}
}

func FuzzAsksToWait(f *testing.F) {
	f.Add(403, "", `0", a;r=0;t=1e9, remaining=0, reset=-1`, "", "")
	f.Add(429, "120", "0", "5", "Mon, 30 Nov 2026 12:00:00 GMT")
	f.Add(403, "", "0", "1796040090", "")
	f.Add(403, "", "0", "-1e400", "Mon, 30 Nov 9999 12:00:00 GMT")
	f.Fuzz(func(t *testing.T, status int, after, remaining, reset, date string) {
		resp := &http.Response{StatusCode: status, Header: http.Header{
			"Retry-After": {after}, "X-Ratelimit-Remaining": {remaining}, "X-Ratelimit-Reset": {reset}, "Ratelimit": {remaining, reset}, "Date": {date},
		}}
		if d, ok := asksToWait(resp, time.Unix(1_800_000_000, 0)); ok && (d < minPatience || d > maxPatience) {
			t.Errorf("%d %q %q %q %q: %s", status, after, remaining, reset, date, d)
		}
	})
}

// TestC17_AReloadForgetsNoLimit: a spec that was edited asks a limited host no sooner.
func TestC17_AReloadForgetsNoLimit(t *testing.T) {
	var asked atomic.Int32
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	old, now := NewSet(), NewSet()
	defer old.Close()
	defer now.Close()
	now.Succeed(old)
	for _, set := range []*Set{old, now} {
		_, err := set.Fetchers()["http"].Fetch(t.Context(), Request{Now: time.Now(), Target: "t", Options: map[string]any{
			"url": s.URL, "accept": []int64{200}, "parse": "auto", "maxBytes": int64(megabyte), "redirects": int64(5),
		}})
		wantWord(t, "rate-limited", Answer{}, err)
	}
	if asked.Load() != 1 || len(now.Limits()) != 1 {
		t.Errorf("asked %d times, limits %v", asked.Load(), now.Limits())
	}
}
