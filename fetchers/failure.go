package fetchers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"strings"
	"syscall"

	"github.com/sessevents/sessevents/internal/tail"
)

// failf makes a failure with its word.
func failf(word, format string, args ...any) error {
	return &Error{Word: word, Err: fmt.Errorf(format, args...)}
}

// failure turns what went wrong into what a poll reports. parent is the context that the caller gave: when it has
// ended, the poll was called off and the world has not been heard.
func failure(parent context.Context, err error, secrets []string) error {
	if err == nil {
		return nil
	}
	if parent.Err() != nil {
		return context.Cause(parent)
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Word: wordFor(err), Err: err}
	}
	text := err.Error()
	if clean := Redact(text, secrets); clean != text {
		return &Error{Word: e.Word, Wait: e.Wait, Err: errors.New(clean)} // the chain holds the secret too
	}
	if err != error(e) {
		return &Error{Word: e.Word, Wait: e.Wait, Err: err}
	}
	return e
}

// wordFor finds the word of an error that comes from a library.
func wordFor(err error) string {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &dns):
		if dns.IsTimeout {
			return "timeout"
		}
		return "dns"
	case errors.As(err, &verify), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &unknown),
		errors.As(err, &host), errors.As(err, &invalid):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ENETDOWN),
		errors.Is(err, syscall.EHOSTDOWN), errors.Is(err, syscall.EADDRNOTAVAIL):
		return "unreachable"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "reset"
	case errors.Is(err, tail.ErrNotRegular):
		return "not-regular"
	case errors.Is(err, tail.ErrUTF16):
		return "parse"
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "not-found"
	case errors.Is(err, fs.ErrPermission):
		return "permission"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "io"
}

// plain makes a line for the log of foreign text: one line, no control characters, bounded.
func plain(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
