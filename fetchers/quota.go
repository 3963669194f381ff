package fetchers

import (
	"net/http"
	"strings"
	"time"
)

// quota is what a server says about one of its limits.
type quota struct {
	// counted says that it tells how much is left, spent that this is nothing.
	counted, spent bool
	// wait is how long until it begins anew, within the bounds of patience; 0: it does not tell.
	wait time.Duration
}

// quotaFields are the pairs of fields that many servers send, the last one from older drafts of the IETF.
var quotaFields = [...][2]string{
	{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	{"X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"},
	{"Ratelimit-Remaining", "Ratelimit-Reset"},
}

// maxQuotas bounds how many limits are read of one field, maxQuotaField how much of it.
const (
	maxQuotas     = 32
	maxQuotaField = 4096
)

// quotas reads the rate-limit headers.
func quotas(h http.Header, now time.Time) (all []quota) {
	for _, names := range quotaFields {
		q := quota{}
		// Docker Hub names the window too: 0;w=21600.
		left, _, _ := strings.Cut(h.Get(names[0]), ";")
		q.remaining(left)
		q.reset(h.Get(names[1]), now)
		all = append(all, q)
	}
	return append(all, policies(strings.Join(h["Ratelimit"], ","), now)...)
}

// policies reads the field RateLimit of draft-ietf-httpapi-ratelimit-headers: a list of limits such as
// "daily";r=0;t=30, and as it was before its eighth version, limit=100, remaining=0, reset=30.
func policies(field string, now time.Time) (all []quota) {
	var old quota
	for _, member := range splitQuoted(field[:min(len(field), maxQuotaField)], ',', maxQuotas) {
		var q quota
		for _, param := range splitQuoted(member, ';', maxQuotas) {
			name, v, _ := strings.Cut(strings.TrimSpace(param), "=")
			switch name {
			case "r":
				q.remaining(v)
			case "t":
				q.reset(v, now)
			case "remaining":
				old.remaining(v)
			case "reset":
				old.reset(v, now)
			}
		}
		all = append(all, q)
	}
	return append(all, old)
}

func (q *quota) remaining(v string) {
	v = strings.TrimSpace(v)
	q.counted, q.spent = v != "", v == "0"
}

func (q *quota) reset(v string, now time.Time) {
	if d, ok := reset(v, now); ok {
		q.wait = clamp(d)
	}
}

// splitQuoted splits s at every by that stands in no quoted string, into at most n parts; what is behind them is left out.
func splitQuoted(s string, by byte, n int) (parts []string) {
	quoted, begin := false, 0
	for i := 0; i < len(s) && len(parts) < n; i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == by && !quoted:
			parts, begin = append(parts, s[begin:i]), i+1
		}
	}
	if len(parts) < n {
		parts = append(parts, s[begin:])
	}
	return parts
}
