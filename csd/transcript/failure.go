package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
)

// The types of a [Failure].
const (
	failAuth     = "authentication_failed"
	failBilling  = "billing_error"
	failRate     = "rate_limit"
	failOverload = "overloaded"
	failRequest  = "invalid_request"
	failModel    = "model_not_found"
	failServer   = "server_error"
	failLength   = "max_output_tokens"
	failUnknown  = "unknown"
)

var claudeFailures = map[string]string{
	failAuth: failAuth, failBilling: failBilling, failRate: failRate, failOverload: failOverload, failRequest: failRequest,
	failModel: failModel, failServer: failServer, failLength: failLength,
	"oauth_org_not_allowed": failAuth, "account_on_hold": failAuth, "verification_required": failAuth,
	"cloud_credential_error": failAuth,
}

// ClaudeFailure is the type of a failure that Claude Code calls by a word of its own; status is that of the answer, 0
// where it is not known.
func ClaudeFailure(word string, status int) string {
	if is, ok := claudeFailures[word]; ok {
		return is
	}
	return byStatus(status)
}

var codexFailures = map[string]string{
	"usage_limit_exceeded": failRate, "context_window_exceeded": failRequest, "internal_server_error": failServer,
	"server_overloaded": failOverload, "unauthorized": failAuth, "bad_request": failRequest, "sandbox_error": failUnknown,
	"http_connection_failed": failServer, "response_stream_connection_failed": failServer,
	"response_stream_disconnected": failServer, "response_too_many_failed_attempts": failServer,
}

// codexFailure reads codex_error_info: a word, or an object of one member that may hold the status of the answer.
func codexFailure(info json.RawMessage, message string) string {
	word, bare := bareString(info)
	if !bare {
		var object map[string]struct {
			Status int `json:"http_status_code"`
		}
		if decode(info, &object) {
			for key, about := range object {
				if is := byStatus(about.Status); is != failUnknown {
					return is
				}
				word = key
			}
		}
	}
	is, ok := codexFailures[word]
	switch {
	case is == failRate && strings.Contains(strings.ToLower(message), "billing"):
		return failBilling
	case ok:
		return is
	case strings.HasPrefix(message, "stream disconnected"):
		return failServer
	case strings.Contains(message, `"invalid_request_error"`):
		return failRequest
	}
	return FailureOf(message)
}

// signs are what an error text may say besides the status of the answer, the more telling ones first.
var signs = []struct{ words, is string }{
	{"overloaded", failOverload},
	{"rate limit", failRate},
	{"rate_limit", failRate},
	{"too many requests", failRate},
	{"quota", failBilling},
	{"billing", failBilling},
	{"credit balance", failBilling},
	{"api key", failAuth},
	{"unauthorized", failAuth},
	{"authentication", failAuth},
	{"model not found", failModel},
	{"context length", failRequest},
	{"context window", failRequest},
	{"prompt is too long", failRequest},
	{"invalid request", failRequest},
	{"server error", failServer},
	{"server_error", failServer},
	{"connection", failServer},
	{"network", failServer},
	{"terminated", failServer},
	{"timed out", failServer},
	{"timeout", failServer},
	{"fetch failed", failServer},
	{"socket hang up", failServer},
}

// FailureOf is the type of a failure of which only the text is known; many begin with the status of the answer. Only
// the head of the text counts.
func FailureOf(message string) string {
	if is := byStatus(statusFirst(message)); is != failUnknown {
		return is
	}
	lower := strings.ToLower(message[:min(len(message), 2000)])
	for _, sign := range signs {
		if strings.Contains(lower, sign.words) {
			return sign.is
		}
	}
	return failUnknown
}

// statusFirst is the status with which a text begins: three digits and the end of a word. Else it is 0.
func statusFirst(text string) int {
	const long = len("503")
	if len(text) < long || len(text) > long && letter(text[long]) {
		return 0
	}
	status, _ := strconv.ParseUint(text[:long], 10, 16) // 0 where it is none
	return int(status)
}

func letter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func byStatus(status int) string {
	switch {
	case status == 401, status == 403:
		return failAuth
	case status == 402:
		return failBilling
	case status == 404:
		return failModel
	case status == 429:
		return failRate
	case status == 503, status == 529:
		return failOverload
	case status >= 500 && status < 600:
		return failServer
	case status >= 400 && status < 500:
		return failRequest
	}
	return failUnknown
}
