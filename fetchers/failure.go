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
	word, _ := causeOf(err)
	return word
}

// causeOf finds the word of an error that comes from a library, and says what happened in words of ours, which hold
// nothing of the error's own text.
func causeOf(err error) (word, text string) {
	const late = "no answer in time"
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout", late
	}
	if word, text = secureCause(err); word != "" {
		return word, text
	}
	var (
		dns     *net.DNSError
		timeout interface{ Timeout() bool }
		errno   syscall.Errno
	)
	switch {
	case errors.As(err, &dns):
		switch {
		case dns.IsTimeout:
			return "timeout", late
		case dns.IsNotFound:
			return "dns", "no such host"
		}
		return "dns", "the name of the host could not be looked up"
	case errors.Is(err, tail.ErrNotRegular):
		return "not-regular", "not a regular file"
	case errors.Is(err, tail.ErrUTF16):
		return "parse", "the text is UTF-16"
	case errors.Is(err, exec.ErrNotFound):
		return "not-found", "no such program"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout", late
	case errors.As(err, &errno):
		return errnoWord(errno), errno.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "not-found", "it is not there"
	case errors.Is(err, fs.ErrPermission):
		return "permission", "it may not be read"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "reset", "the connection was closed before the answer was whole"
	}
	return "io", "no answer that can be understood: it is not HTTP, or a proxy refused"
}

// secureCause is the cause of an error of TLS; empty where it is none.
func secureCause(err error) (word, text string) {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &unknown):
		text = "the certificate is of an authority that is not known here"
	case errors.As(err, &host):
		text = "the certificate is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		text = "the certificate has expired, or is not valid yet"
	case errors.As(err, &invalid), errors.As(err, &verify):
		text = "the certificate is not valid"
	case errors.As(err, &record):
		text = "the answer is not TLS"
	case errors.As(err, &alert):
		text = "the server refused the TLS connection"
	default:
		return "", ""
	}
	return "tls", text
}

func errnoWord(e syscall.Errno) string {
	switch e {
	case syscall.ECONNREFUSED:
		return "refused"
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.EADDRNOTAVAIL:
		return "unreachable"
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return "reset"
	case syscall.ETIMEDOUT:
		return "timeout"
	}
	switch {
	case e.Is(fs.ErrNotExist):
		return "not-found"
	case e.Is(fs.ErrPermission):
		return "permission"
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
