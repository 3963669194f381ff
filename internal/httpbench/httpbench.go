// Package httpbench is what benchmarks of polls over HTTP measure against: a server in a process of its own, a bare
// client, and rounds of a thousand questions in processor time.
package httpbench

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// URLs is how many addresses there are, and so how many questions a round has.
const URLs = 1000

const (
	atOnce = 32
	// server is the variable that makes a test binary the server, and names its address.
	server = "HTTPBENCH_SERVER"
)

// Serve makes this process the server, where it was started as that, and does not return then. TestMain calls it.
func Serve() {
	if addr := os.Getenv(server); addr != "" {
		fmt.Fprintln(os.Stderr, serve(addr))
		os.Exit(1)
	}
}

// serve answers after 20 ms with 2 KB of JSON: a number, and a list of 20 items; or with 304.
func serve(addr string) error {
	var items []string
	for i := range 20 {
		items = append(items, fmt.Sprintf(`{"id":"item-%d","name":"a name","state":"open","text":%q}`, i, strings.Repeat("x", 30)))
	}
	body := `{"total":20,"items":[` + strings.Join(items, ",") + `]}`
	srv := http.Server{Addr: addr, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})}
	return srv.ListenAndServe()
}

// Rig is a server, and the bare clients that poll it.
type Rig struct {
	b      *testing.B
	url    string
	client *http.Client
}

// Start starts the server as a process of its own, so that its work is not the client's, and waits until it answers.
func Start(b *testing.B) *Rig {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), server+"="+addr)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	r := &Rig{b: b, url: "http://" + addr, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}}}
	b.Cleanup(func() {
		r.client.CloseIdleConnections()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	for deadline := time.Now().Add(5 * time.Second); ; {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
			return r
		}
		if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
}

// URL is one of the addresses.
func (r *Rig) URL(i int) string { return fmt.Sprintf("%s/%d", r.url, i) }

// Discards is a bare loop's question: it throws the body away. Decodes makes a document of it, and Conditional asks
// whether there is another one than the last.
func (r *Rig) Discards(i int)    { r.ask(i, "", discard) }
func (r *Rig) Decodes(i int)     { r.ask(i, "", decode) }
func (r *Rig) Conditional(i int) { r.ask(i, `"1"`, discard) }

func discard(body io.Reader) error { _, err := io.Copy(io.Discard, body); return err }

func decode(body io.Reader) error { var v any; return json.NewDecoder(body).Decode(&v) }

func (r *Rig) ask(i int, validator string, use func(io.Reader) error) {
	req, err := http.NewRequest(http.MethodGet, r.URL(i), nil)
	if err != nil {
		r.b.Error(err)
		return
	}
	if validator != "" {
		req.Header.Set("If-None-Match", validator)
	}
	resp, err := r.client.Do(req)
	if err == nil {
		err = use(resp.Body)
		_ = resp.Body.Close()
	}
	if err != nil {
		r.b.Error(err)
	}
}

// Round asks a thousand questions, 32 at once, and returns the processor time of this process that they took.
func (r *Rig) Round(ask func(i int)) (seconds float64) {
	began := CPU()
	var wg sync.WaitGroup
	next := make(chan int)
	for range atOnce {
		wg.Go(func() {
			for i := range next {
				ask(i)
			}
		})
	}
	for i := range URLs {
		next <- i
	}
	close(next)
	wg.Wait()
	return (CPU() - began).Seconds()
}

// CPU is the processor time of this process so far.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Ratios divides one list by another, pair by pair.
func Ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}

// Middle is the median.
func Middle(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
