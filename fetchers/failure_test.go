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
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sessevents/sessevents/internal/tail"
)

func TestWhatAnErrorOfALibraryIs(t *testing.T) {
	const unclear = "no answer that can be understood: it is not HTTP, or a proxy refused"
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
	for _, c := range []struct {
		err        error
		word, text string
	}{
		{context.DeadlineExceeded, "timeout", "no answer in time"},
		{os.ErrDeadlineExceeded, "timeout", "no answer in time"},
		{dial(syscall.ETIMEDOUT), "timeout", "no answer in time"},
		{&net.DNSError{IsTimeout: true}, "timeout", "no answer in time"},
		{&net.DNSError{IsNotFound: true, Name: "words"}, "dns", "no such host"},
		{&net.DNSError{IsTemporary: true, Server: "words"}, "dns", "the name of the host could not be looked up"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "tls", "the certificate is of an authority that is not known here"},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, "tls", "the certificate has expired, or is not valid yet"},
		{x509.CertificateInvalidError{Reason: x509.TooManyConstraints}, "tls", "the certificate is not valid"},
		{&tls.CertificateVerificationError{Err: errors.New("words")}, "tls", "the certificate is not valid"},
		{x509.HostnameError{Host: "words"}, "tls", "the certificate is for another host"},
		{tls.RecordHeaderError{Msg: "words"}, "tls", "the answer is not TLS"},
		{tls.AlertError(40), "tls", "the server refused the TLS connection"},
		{dial(syscall.ECONNREFUSED), "refused", "connection refused"},
		{dial(syscall.EHOSTUNREACH), "unreachable", "no route to host"},
		{dial(syscall.EADDRNOTAVAIL), "unreachable", syscall.EADDRNOTAVAIL.Error()},
		{dial(syscall.ECONNRESET), "reset", "connection reset by peer"},
		{io.ErrUnexpectedEOF, "reset", "the connection was closed before the answer was whole"},
		{net.ErrClosed, "reset", "the connection was closed before the answer was whole"},
		{dial(syscall.EACCES), "permission", "permission denied"},
		{dial(syscall.EMFILE), "io", "too many open files"},
		{&fs.PathError{Op: "open", Path: "words", Err: syscall.ENOENT}, "not-found", "no such file or directory"},
		{&fs.PathError{Op: "read", Path: "words", Err: syscall.ESTALE}, "io", syscall.ESTALE.Error()},
		{exec.ErrNotFound, "not-found", "no such program"},
		{tail.ErrNotRegular, "not-regular", "not a regular file"},
		{tail.ErrUTF16, "parse", "the text is UTF-16"},
		{errors.New("words"), "io", unclear},
	} {
		for _, err := range []error{c.err, fmt.Errorf("words: %w", c.err)} {
			word, text := causeOf(err)
			if word != c.word || text != c.text || !slices.Contains(FailureWords, word) {
				t.Errorf("%T %v: %s, %s; want %s, %s", c.err, c.err, word, text, c.word, c.text)
			}
		}
	}
}

// TestRedactNeedsNoOtherQuotes: a secret that Go has quoted is one of its spellings between two quotes.
func TestRedactNeedsNoOtherQuotes(t *testing.T) {
	for _, secret := range []string{"hunter2", `a"b`, `"`, `"quoted"`, `\`, "tab\tand\nline", "ü\x00\x7f", "\xff", `ends with "`, "`", `\"`, "'"} {
		for _, quote := range []func(string) string{strconv.Quote, strconv.QuoteToASCII} {
			text := "before " + quote(secret) + " after"
			got := Redact(text, []string{secret})
			if inner := strings.TrimSuffix(strings.TrimPrefix(quote(secret), `"`), `"`); strings.Contains(got, inner) {
				t.Errorf("%q: %s stays in %s", secret, inner, got)
			}
		}
	}
}
