package fetchers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"
)

// maxConnAge is how long after its making a connection is given another question. Where a name leads and which
// certificate a server shows is settled when a connection is made: one that was kept for longer would hide that they
// have changed. For the same reason no TLS session is resumed: it would show the certificate of its beginning.
const maxConnAge = time.Minute

// client is one generation of connections, with the servers that it trusts.
type client struct {
	*http.Transport
	born time.Time
	file fileID // of the option ca, as it was when it was read
}

// client returns the connections for the option ca at now: those that are there, or new ones where they are too old
// or the file is another one.
func (s *Set) client(ctx context.Context, target, ca string, now time.Time) (*client, error) {
	if ca == "" {
		if c := s.living(ca, fileID{}, now); c != nil {
			return c, nil
		}
		return s.adopt(ca, &client{Transport: newTransport(nil), born: now}), nil
	}
	path, err := absolute(ca)
	if err != nil {
		return nil, err
	}
	return ask(ctx, &s.gate, "ca\x00"+target+"\x00"+path, func(context.Context) (*client, error) {
		c, err := s.trusting(path, now)
		if err != nil {
			return nil, failf("tls", "certificates of %s: %w", path, bare(err))
		}
		return c, nil
	})
}

// living is the generation that may still be used; nil: there is none.
func (s *Set) living(ca string, file fileID, now time.Time) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[ca]; c != nil && c.file == file && c.young(now) {
		return c
	}
	return nil
}

// young says whether c may still be used. A clock that was set back makes nothing young again.
func (c *client) young(now time.Time) bool { return now.Sub(c.born).Abs() < maxConnAge }

// adopt makes c the generation for ca, and lets go of those that nobody will use again. Of two that were made at the
// same time the first one stays.
func (s *Set) adopt(ca string, c *client) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients == nil {
		s.clients = map[string]*client{}
	}
	if old := s.clients[ca]; old != nil && old.file == c.file && old.young(c.born) {
		return old
	}
	for name, old := range s.clients {
		if name == ca || !old.young(c.born) {
			old.CloseIdleConnections() // one that is busy closes once its answer is there
			delete(s.clients, name)
		}
	}
	s.clients[ca] = c
	return c
}

// newTransport is the standard client with bounds. Every deadline comes from the poll's context.
func newTransport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		Proxy:                  proxyOfEnvironment(),
		DialContext:            (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // unpacked by us, under both bounds
		MaxIdleConns:           2 * perHost,
		MaxIdleConnsPerHost:    perHost,
		MaxConnsPerHost:        2 * perHost,
		IdleConnTimeout:        maxConnAge,
		MaxResponseHeaderBytes: 256 * kilobyte,
		// A connection that died while the machine slept must not cost one poll after the other its whole timeout.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
}
