package hook

import (
	"slices"
	"strings"

	"github.com/sessevents/sessevents/csd/event"
)

// claudeFailure is the kind of failure that Claude Code calls by a word of its own.
func claudeFailure(word string) event.FailureType {
	switch word {
	case "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
		return event.AuthenticationFailed
	}
	if t := event.FailureType(word); slices.Contains(event.FailureTypes, t) {
		return t
	}
	return event.Unknown
}

// statuses are the HTTP statuses that say more than their class.
var statuses = map[string]event.FailureType{
	"401": event.AuthenticationFailed, "402": event.BillingError, "403": event.AuthenticationFailed,
	"404": event.ModelNotFound, "429": event.RateLimit, "503": event.Overloaded, "529": event.Overloaded,
}

// phrases are what else an error text may say, the more telling ones first.
var phrases = []struct {
	text string
	kind event.FailureType
}{
	{"overloaded", event.Overloaded},
	{"rate limit", event.RateLimit},
	{"rate_limit", event.RateLimit},
	{"too many requests", event.RateLimit},
	{"quota", event.BillingError},
	{"billing", event.BillingError},
	{"credit balance", event.BillingError},
	{"api key", event.AuthenticationFailed},
	{"unauthorized", event.AuthenticationFailed},
	{"authentication", event.AuthenticationFailed},
	{"model not found", event.ModelNotFound},
	{"context length", event.InvalidRequest},
	{"context window", event.InvalidRequest},
	{"prompt is too long", event.InvalidRequest},
	{"invalid request", event.InvalidRequest},
	{"terminated", event.ServerError},
	{"timed out", event.ServerError},
	{"timeout", event.ServerError},
	{"connection", event.ServerError},
	{"network", event.ServerError},
	{"fetch failed", event.ServerError},
	{"socket hang up", event.ServerError},
	{"server error", event.ServerError},
}

// textFailure is the kind of failure that an error text tells of: pi passes on what the model's API said, mostly
// beginning with the HTTP status.
func textFailure(text string) event.FailureType {
	if len(text) >= 3 && strings.Trim(text[:3], "0123456789") == "" && (len(text) == 3 || text[3] == ' ' || text[3] == ':') {
		if t, ok := statuses[text[:3]]; ok {
			return t
		}
		switch text[0] {
		case '4':
			return event.InvalidRequest
		case '5':
			return event.ServerError
		}
	}
	lower := strings.ToLower(text[:min(len(text), 2000)])
	for _, p := range phrases {
		if strings.Contains(lower, p.text) {
			return p.kind
		}
	}
	return event.Unknown
}
