package fetchers

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"time"
)

// trust is a client that trusts the certificates of one file.
type trust struct {
	*http.Transport
	changed time.Time
	size    int64
}

// client returns the client for the option ca; a file that changed is read again.
func (s *Set) client(ca string) (http.RoundTripper, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.transports == nil {
		s.transports = map[string]*trust{}
	}
	t := s.transports[ca]
	if ca == "" {
		if t == nil {
			t = &trust{Transport: newTransport(nil)}
			s.transports[ca] = t
		}
		return t, nil
	}
	path, err := absolute(ca)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, failf("tls", "certificates of %s: %w", path, bare(err))
	}
	if t != nil && t.changed.Equal(info.ModTime()) && t.size == info.Size() {
		return t, nil
	}
	if !info.Mode().IsRegular() || info.Size() > megabyte {
		return nil, failf("tls", "certificates of %s: not a file of certificates", path)
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, failf("tls", "certificates of %s: %w", path, bare(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, failf("tls", "certificates of the system: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, failf("tls", "certificates of %s: none in it", path)
	}
	if t != nil {
		t.CloseIdleConnections()
	}
	t = &trust{Transport: newTransport(pool), changed: info.ModTime(), size: info.Size()}
	s.transports[ca] = t
	return t, nil
}

// newTransport is the standard client with bounds. Every deadline comes from the poll's context.
func newTransport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // unpacked by us, under both bounds
		MaxIdleConns:           2 * perHost,
		MaxIdleConnsPerHost:    perHost,
		MaxConnsPerHost:        2 * perHost,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 * kilobyte,
		// A connection that died while the machine slept must not cost one poll after the other its whole timeout.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
}
