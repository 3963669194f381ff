package fetchers

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// spoken is an error of the transport in words of ours. net/http and its like quote what they cannot read, name the hosts
// that a redirect leads to and give a proxy's own words, and the errors of a poll are read by an agent: so nothing of their
// text passes, only which kind of error it is. The error itself stays behind it for its word.
func spoken(err error) error {
	var ours *Error
	if err == nil || errors.As(err, &ours) || errors.Is(err, context.Canceled) {
		return err
	}
	word, text := causeOf(err)
	return &Error{Word: word, Err: errors.New(text)}
}

// hostWord names a host in an error: the one that the spec asks, but none that a server leads to.
func (x *exchange) hostWord(u *url.URL) string {
	if u.Host == x.url.Host {
		return u.Host
	}
	return "another host"
}

// mediaWords are the content types that an error names; any other could be a sentence.
var mediaWords = strings.Fields("text/html text/plain text/css text/csv text/xml text/markdown text/event-stream text/javascript " +
	"application/json application/problem+json application/ld+json application/hal+json application/vnd.api+json application/vnd.github+json " +
	"application/x-ndjson application/ndjson application/jsonl application/xml application/xhtml+xml application/javascript application/yaml " +
	"application/octet-stream application/pdf application/zip application/gzip application/x-www-form-urlencoded multipart/form-data " +
	"image/png image/jpeg image/gif image/svg+xml image/webp")

func mediaWord(media string) string {
	if slices.Contains(mediaWords, media) {
		return media
	}
	return "another content type"
}
