package examples_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// quiet starts a server that keeps its complaints to itself.
func quiet(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return s
}

func TestHTTPUp_DownAndUp(t *testing.T) {
	var status atomic.Int32
	status.Store(200)
	answer := func(w http.ResponseWriter, _ *http.Request) {
		if status.Load() == 0 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		w.WriteHeader(int(status.Load()))
		_, _ = io.WriteString(w, `{"prose": "not even JSON, and not read`)
	}
	s := quiet(t, answer)
	s.Start()
	w := watch(t, "http-up", s.URL+"/health?full=1")
	url := s.URL + "/health?full=1"
	w.want()
	for code, word := range map[int32]string{503: "503", 404: "404", 0: "reset", 418: "418"} {
		status.Store(code)
		w.want()
		if !w.out.Busy {
			t.Errorf("%d: not busy after one failure", code)
		}
		w.want("down: " + url + ": down, " + word)
		w.stands(url + ": down, " + word)
		w.want()
		status.Store(200)
		w.want("up: " + url + ": up again")
		w.stands()
	}
	status.Store(500) // once is a flap
	w.want()
	status.Store(200)
	w.want()

	address := s.Listener.Addr().String()
	s.Close()
	w.want()
	w.want("down: " + url + ": down, refused")
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("the port is taken: %v", err)
	}
	again := quiet(t, answer)
	_ = again.Listener.Close()
	again.Listener = l
	again.Start()
	w.want("up: " + url + ": up again")
}

func TestHTTPUp_AStatusOfItsOwn(t *testing.T) {
	s := quiet(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	s.Start()
	w := watch(t, "http-up", s.URL, "--status", "401")
	for range 3 {
		w.want()
	}
}

// authority signs certificates for 127.0.0.1.
type authority struct {
	*testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{T: t, file: filepath.Join(t.TempDir(), "ca.pem")}
	a.key = a.newKey()
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, root, root, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	write(t, a.file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return a
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	return key
}

// until is a certificate that ends then.
func (a *authority) until(end time.Time) *tls.Certificate {
	key := a.newKey()
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: end.Add(-2000 * time.Hour), NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestHTTPUp_ACertificateThatExpires(t *testing.T) {
	a := newAuthority(t)
	var cert atomic.Pointer[tls.Certificate]
	s := quiet(t, func(http.ResponseWriter, *http.Request) {})
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{*cert.Load()}}, nil
	}}
	cert.Store(a.until(time.Now().Add(400 * time.Hour)))
	s.StartTLS()

	stranger := watch(t, "http-up", s.URL) // without the authority there is no trust
	stranger.want()
	stranger.want("down: " + s.URL + ": down, tls")

	w := watch(t, "http-up", s.URL, "--ca", a.file)
	w.want()
	soon := time.Now().Add(100 * time.Hour)
	cert.Store(a.until(soon))
	s.CloseClientConnections()
	w.want("certificate: " + s.URL + ": the certificate ends " + soon.UTC().Format(time.RFC3339))
	w.want()
	cert.Store(a.until(time.Now().Add(-time.Minute)))
	s.CloseClientConnections()
	w.want()
	w.want("down: " + s.URL + ": down, tls")
	good := time.Now().Add(900 * time.Hour)
	cert.Store(a.until(good))
	s.CloseClientConnections()
	w.want("up: "+s.URL+": up again", "- renewed: "+s.URL+": the certificate is good until "+good.UTC().Format(time.RFC3339))
	w.want()
}

func TestHTTPUp_Targets(t *testing.T) {
	for _, url := range []string{"shop.example", "ftp://shop.example/", "https://me:secret@shop.example/", "https://"} {
		refused(t, "http-up", "http or https address", url)
	}
}
