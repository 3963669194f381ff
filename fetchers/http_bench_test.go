package fetchers

import (
	"context"
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
	"testing"
	"time"
)

const (
	benchURLs  = 1000
	benchAtOne = 32
	serverEnv  = "FETCHERS_BENCH_SERVER"
)

// benchServe answers with a body of 2 KB after 20 ms. It is a process of its own: its work is not the client's.
func benchServe() {
	var items []string
	for i := range 20 {
		items = append(items, fmt.Sprintf(`{"id":"item-%d","name":"a name","state":"open","text":%q}`, i, strings.Repeat("x", 30)))
	}
	body := `{"total":20,"items":[` + strings.Join(items, ",") + `]}`
	srv := http.Server{Addr: os.Getenv(serverEnv), ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})}
	fmt.Fprintln(os.Stderr, srv.ListenAndServe())
	os.Exit(1)
}

// atOnce runs ask for every number under the bound.
func atOnce(ask func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range benchAtOne {
		wg.Go(func() {
			for i := range next {
				ask(i)
			}
		})
	}
	for i := range benchURLs {
		next <- i
	}
	close(next)
	wg.Wait()
}

// Of these bodies, what the compiler of specs leaves of `.body.items[] | {id, state}`, and of `.body.total`.
var (
	benchItems  = benchBody("items", &Want{Each: &Want{Members: map[string]*Want{"id": nil, "state": nil}}})
	benchNumber = benchBody("total", nil)
)

func benchBody(name string, want *Want) *Narrow {
	return &Narrow{Want: &Want{Members: map[string]*Want{"body": {Members: map[string]*Want{name: want}}}}}
}

// BenchmarkHTTP asks a thousand addresses, 32 at once, beside a bare loop of the standard client. The ratios are
// processor time of the client alone.
func BenchmarkHTTP(b *testing.B) {
	addr := freeAddr(b)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	server := exec.Command(self)
	server.Env = append(os.Environ(), serverEnv+"="+addr)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	url := func(i int) string { return fmt.Sprintf("http://%s/%d", addr, i) }
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchAtOne}}
	defer client.CloseIdleConnections()
	for deadline := time.Now().Add(5 * time.Second); ; {
		resp, err := client.Get(url(0))
		if err == nil {
			resp.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
	round := func(ask func(i int)) float64 {
		began := cpu()
		atOnce(ask)
		return (cpu() - began).Seconds()
	}
	bare := func(validator string, use func(io.Reader) error) func(int) {
		return func(i int) {
			req, err := http.NewRequest(http.MethodGet, url(i), nil)
			if err != nil {
				b.Error(err)
				return
			}
			if validator != "" {
				req.Header.Set("If-None-Match", validator)
			}
			resp, err := client.Do(req)
			if err == nil {
				err = use(resp.Body)
				resp.Body.Close()
			}
			if err != nil {
				b.Error(err)
			}
		}
	}
	discard := func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }
	decode := func(r io.Reader) error { var v any; return json.NewDecoder(r).Decode(&v) }

	for _, c := range []struct {
		name   string
		narrow *Narrow
		again  bool
	}{
		{"first-poll-items", benchItems, false},
		{"first-poll-number", benchNumber, false},
		{"second-poll-304", benchItems, true},
	} {
		peer, other := bare("", discard), bare("", decode)
		if c.again {
			other = bare(`"1"`, discard)
		}
		b.Run(c.name, func(b *testing.B) {
			set := NewSet()
			defer set.Close()
			ask := set.Fetchers()["http"].Fetch
			poll := func(i int) {
				r := Request{Now: time.Now(), Target: fmt.Sprint(i), Narrow: c.narrow, Options: map[string]any{
					"url": url(i), "accept": []int64{200}, "parse": "auto", "maxBytes": int64(10 * megabyte), "redirects": int64(5),
				}}
				answer, err := ask(context.Background(), r)
				if err != nil {
					b.Error(err)
					return
				}
				answer.Committed()
			}
			atOnce(poll)
			atOnce(peer)
			var ours, bares, others []float64
			for b.Loop() { // in turns, so that what else the machine does hits all of them
				if !c.again {
					set.answers = answers{}
				}
				ours = append(ours, round(poll))
				bares = append(bares, round(peer))
				others = append(others, round(other))
			}
			b.ReportMetric(middle(ours), "cpu-s/op")
			b.ReportMetric(middle(ratios(ours, bares)), "of-bare-client")
			if c.again {
				b.ReportMetric(middle(ratios(ours, others)), "of-bare-client-with-304")
			} else {
				b.ReportMetric(middle(ratios(ours, others)), "of-bare-client-that-decodes")
			}
		})
	}
}

func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}

func middle(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func freeAddr(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
