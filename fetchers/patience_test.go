package fetchers

import (
	"net/http"
	"reflect"
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
		wantWord(t, "rate-limited", Answer{}, p.check("a.example", "me"))
		time.Sleep(time.Nanosecond)
		if err := p.check("a.example", "me"); err != nil {
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
