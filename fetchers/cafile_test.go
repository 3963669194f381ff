package fetchers

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// authority signs certificates for 127.0.0.1.
type authority struct {
	*testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	must(t, err)
	a := &authority{T: t, key: key, pem: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
	a.cert, err = x509.ParseCertificate(der)
	must(t, err)
	return a
}

// numbered is a certificate with this number.
func (a *authority) numbered(n int64) *tls.Certificate {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(a.T, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(n), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, &key.PublicKey, a.key)
	must(a.T, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// tlsSite is a server whose certificate may change, and that counts its connections.
type tlsSite struct {
	*httptest.Server
	cert  atomic.Pointer[tls.Certificate]
	conns atomic.Int32
}

func newTLSSite(t *testing.T, http2 bool, answer http.HandlerFunc) *tlsSite {
	s := &tlsSite{Server: httptest.NewUnstartedServer(answer)}
	s.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{*s.cert.Load()}, NextProtos: s.TLS.NextProtos}, nil
	}}
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = quiet
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	t.Cleanup(s.Close)
	return s
}

// olden makes every kept connection older than it is.
func (s *Set) olden(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		c.born = c.born.Add(-by)
	}
}

func TestARenewedCertificateIsSeenWithinAMinute(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			by := newAuthority(t)
			s := newTLSSite(t, http2, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
			s.cert.Store(by.numbered(0xa))
			s.StartTLS()
			ca := filepath.Join(t.TempDir(), "ca.pem")
			write(t, ca, by.pem)
			a := newAsker(t, "http")
			serial := func() any {
				t.Helper()
				return a.doc(map[string]any{"url": s.URL, "ca": ca})["tls"].(map[string]any)["serial"]
			}
			if got := serial(); got != "a" {
				t.Fatalf("the certificate %v", got)
			}
			s.cert.Store(by.numbered(0xb))
			if serial(); s.conns.Load() != 1 {
				t.Fatalf("%d connections for two polls at once", s.conns.Load())
			}
			a.set.olden(maxConnAge)
			if got := serial(); got != "b" || s.conns.Load() != 2 {
				t.Errorf("a minute later the certificate is still %v, by %d connections", got, s.conns.Load())
			}
			s.cert.Store(newAuthority(t).numbered(0xc)) // somebody else's
			a.set.olden(maxConnAge)
			a.fails("tls", map[string]any{"url": s.URL, "ca": ca})
		})
	}
}

func TestOldConnectionsAreClosed(t *testing.T) {
	open := make(chan net.Conn, 10)
	closed := make(chan net.Conn, 10)
	s := httptest.NewUnstartedServer(sends(200, "text/plain", "x"))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open <- c
		case http.StateClosed:
			closed <- c
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	a := newAsker(t, "http")
	a.doc(map[string]any{"url": s.URL})
	first := <-open
	a.set.olden(maxConnAge)
	a.doc(map[string]any{"url": s.URL})
	if <-open; <-closed != first {
		t.Error("the first connection is still open")
	}
}

func TestTheFileOfCertificatesIsReadAgainWhenItChanged(t *testing.T) {
	old, next := newAuthority(t), newAuthority(t)
	s := newTLSSite(t, false, sends(200, "text/plain", "x"))
	s.cert.Store(old.numbered(1))
	s.StartTLS()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	write(t, ca, old.pem)
	a := newAsker(t, "http")
	opts := map[string]any{"url": s.URL, "ca": ca}
	a.doc(opts)

	// The other authority, in place: the same size and the same time of writing, where they can be had.
	info, err := os.Stat(ca)
	must(t, err)
	write(t, ca, next.pem)
	must(t, os.Chtimes(ca, info.ModTime(), info.ModTime()))
	a.fails("tls", opts)
	s.cert.Store(next.numbered(2))
	a.doc(opts)

	write(t, ca+".new", old.pem+next.pem) // replaced whole
	must(t, os.Rename(ca+".new", ca))
	s.CloseClientConnections()
	s.cert.Store(old.numbered(3))
	a.doc(opts)

	write(t, ca, "half of it") // as somebody writes it
	a.fails("tls", opts)
	write(t, ca, old.pem)
	a.doc(opts)
	must(t, os.Remove(ca))
	a.fails("tls", opts)
}

func TestC10_TheFileOfCertificatesNeverBlocks(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	large := filepath.Join(dir, "large")
	must(t, os.WriteFile(large, bytes.Repeat([]byte("-"), maxCA+1), 0o600))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	a := newAsker(t, "http")
	for _, ca := range []string{dir, fifo, large, filepath.Join(dir, "loop"), "/dev/zero", "/dev/null", filepath.Join(dir, "none")} {
		began := time.Now()
		a.fails("tls", map[string]any{"url": "https://127.0.0.1:1", "ca": ca})
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%s took %s", ca, d)
		}
	}
}
