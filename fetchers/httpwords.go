package fetchers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// spoken is an error of the transport in words of ours. net/http and its like quote what they cannot read, name the hosts
// that a redirect leads to and give a proxy's own words, and the errors of a poll are read by an agent: so nothing of their
// text passes, only which kind of error it is. The error itself stays behind it for its word.
func spoken(err error) error {
	var ours *Error
	if err == nil || errors.As(err, &ours) || errors.Is(err, context.Canceled) {
		return err
	}
	return &Error{Word: wordFor(err), Err: errors.New(transportWords(err))}
}

func transportWords(err error) string {
	var (
		errno   syscall.Errno
		dns     *net.DNSError
		timeout interface{ Timeout() bool }
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host"
	case errors.As(err, &dns):
		return "the name of the host could not be looked up"
	case errors.As(err, &unknown):
		return "the certificate is of an authority that is not known here"
	case errors.As(err, &host):
		return "the certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired, or is not valid yet"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "the certificate is not valid"
	case errors.As(err, &record):
		return "the answer is not TLS"
	case errors.As(err, &alert):
		return "the server refused the TLS connection"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the connection was closed before the answer was whole"
	}
	return "no answer that can be understood: it is not HTTP, or a proxy refused"
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
