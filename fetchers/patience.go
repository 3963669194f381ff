package fetchers

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How long a host may put us off. What it asks for is brought within these bounds; one that says "too many" without a
// time gets the default.
const (
	minPatience     = time.Second
	defaultPatience = time.Minute
	maxPatience     = time.Hour
)

// Limit is a host that asked for patience.
type Limit struct {
	Host string
	// Left is how long nothing is asked of it, measured now.
	Left time.Duration
}

// patience remembers which hosts asked whom to wait. Time is read from the monotonic clock: a set clock neither
// shortens a wait nor stretches it.
type patience struct {
	mu    sync.Mutex
	until map[[2]string]time.Time // by host and credential
}

// check fails while the host, which an error calls so, does not want to be asked.
func (p *patience) check(host, credential, called string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]string{host, credential}
	until, ok := p.until[key]
	if !ok {
		return nil
	}
	left := time.Until(until)
	if left <= 0 {
		delete(p.until, key)
		return nil
	}
	return &Error{Word: "rate-limited", Wait: left, Err: fmt.Errorf("%s asked for patience, %s left", called, left.Round(time.Second))}
}

// hear notes what an answer says about waiting, and returns it; 0: nothing.
func (p *patience) hear(host, credential string, resp *http.Response, now time.Time) time.Duration {
	wait, ok := asksToWait(resp, now)
	if !ok {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until == nil {
		p.until = map[[2]string]time.Time{}
	}
	for key, until := range p.until {
		if time.Until(until) <= 0 {
			delete(p.until, key)
		}
	}
	key := [2]string{host, credential}
	if until := time.Now().Add(wait); until.After(p.until[key]) {
		p.until[key] = until
	}
	return wait
}

// limits lists who is waited for, the longest first; of several credentials of a host the longest wait counts.
func (p *patience) limits() []Limit {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := map[string]time.Duration{}
	for key, until := range p.until {
		left[key[0]] = max(left[key[0]], time.Until(until))
	}
	var out []Limit
	for host, d := range left {
		if d > 0 {
			out = append(out, Limit{host, d})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		return out[i].Left > out[j].Left || out[i].Left == out[j].Left && out[i].Host < out[j].Host
	})
	return out
}

// asksToWait reads Retry-After and the rate-limit headers of 429, 503 and 403. A 403 without them is only a refusal.
func asksToWait(resp *http.Response, now time.Time) (time.Duration, bool) {
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusForbidden, http.StatusServiceUnavailable:
	default:
		return 0, false
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		now = date // times in the answer are those of the server's clock
	}
	if v := resp.Header.Get("Retry-After"); v != "" {
		return clamp(retryAfter(v, now)), true
	}
	if resp.StatusCode == http.StatusServiceUnavailable {
		return 0, false
	}
	all := quotas(resp.Header, now)
	spent := slices.ContainsFunc(all, func(q quota) bool { return q.spent })
	counted := slices.ContainsFunc(all, func(q quota) bool { return q.counted })
	// GitHub tells with every answer when its count begins anew: that is no reason to wait while there is something left.
	if tooMany := resp.StatusCode == http.StatusTooManyRequests; !spent && (counted || !tooMany) {
		return defaultPatience, tooMany
	}
	var own, any time.Duration // of what is spent, and of all
	for _, q := range all {
		any = max(any, q.wait)
		if q.spent {
			own = max(own, q.wait)
		}
	}
	return cmp.Or(own, any, defaultPatience), true
}

func retryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 || errors.Is(err, strconv.ErrRange) && n > 0 {
		return seconds(n)
	}
	if t, err := http.ParseTime(v); err == nil {
		return t.Sub(now)
	}
	return defaultPatience
}

// reset reads the end of a limit: seconds from now, or a time of the Unix clock where it is too large for that.
func reset(v string, now time.Time) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || f < 0 || f != f {
		return 0, false
	}
	const aDecade = 10 * 365 * 24 * 3600
	if f > aDecade {
		return seconds(int64(min(f, 1e15)) - now.Unix()), true
	}
	return seconds(int64(f)), true
}

func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(2*maxPatience/time.Second))) * time.Second
}

func clamp(d time.Duration) time.Duration { return max(minPatience, min(d, maxPatience)) }
