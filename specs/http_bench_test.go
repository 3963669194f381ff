package specs_test

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

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

const (
	benchURLs   = 1000
	benchAtOnce = 32
	benchServer = "SPECS_BENCH_SERVER" // the address at which this process is only a server
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(benchServer); addr != "" {
		fmt.Fprintln(os.Stderr, serveItems(addr))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serveItems answers after 20 ms with 2 KB of JSON, a list of items; or with 304.
func serveItems(addr string) error {
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

// startServer starts a process that serves, so that its work is not the client's, and waits until it does.
func startServer(b *testing.B) (url string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	server := exec.Command(self)
	server.Env = append(os.Environ(), benchServer+"="+addr)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for deadline := time.Now().Add(5 * time.Second); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			return "http://" + addr
		}
		if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
}

// BenchmarkHTTP polls a thousand addresses by a whole spec, 32 at once, from the question to what is saved, in turns
// with a bare loop of the standard client: one that throws the bodies away, one that decodes them, and one that sends
// the condition of the second poll. The ratios are processor time of the client alone.
func BenchmarkHTTP(b *testing.B) {
	url := startServer(b)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchAtOnce}}
	defer client.CloseIdleConnections()
	bare := func(validator string, use func(io.Reader) error) func(int) {
		return func(i int) {
			req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/%d", url, i), nil)
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
	peers := []peer{{"of-bare-client", bare("", discard)}, {"of-bare-client-that-decodes", bare("", decode)}, {"of-bare-client-with-304", bare(`"1"`, discard)}}
	for _, c := range []struct{ name, rest string }{
		{"items", "extract: '.body.items[] | {id, state}'\nkey: item.id\nitem: {id: id, state: [open, closed]}\n" +
			"rules: [{when: changed, kind: state, text: '${item.id}: ${item.state}'}, {when: gone, kind: gone, text: '${cursor.id}: gone'}]\n"},
		{"number", "extract: .body.total\nitem: count\nrules: [{when: changed, kind: total, text: '${cursor} to ${item}'}]\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			src := "version: 1\nname: bench\ninterval: 5s\ntarget: {args: [url]}\nfetch: {http: {url: \"${target.url}\"}}\n" + c.rest
			benchPolls(b, src, url, peers)
		})
	}
}

type peer struct {
	name string
	ask  func(i int)
}

// benchPolls polls with src for the first time, and again, in turns with its peers.
func benchPolls(b *testing.B, src, url string, peers []peer) {
	set := fetchers.NewSet()
	defer set.Close()
	s, found := specs.Parse("bench.yaml", []byte(src))
	targets := make([]engine.Target, benchURLs)
	var source *specs.Source
	anew := func() { // a source that has polled nothing yet, and knows no validator
		var more specs.Diagnostics
		if source, more = specs.Compile(s, specs.Options{Fetchers: set.Fetchers()}); append(found, more...).HasErrors() {
			b.Fatal(found, more)
		}
		for i := range targets {
			var err error
			if targets[i], err = source.ParseTarget([]string{fmt.Sprintf("%s/%d", url, i)}); err != nil {
				b.Fatal(err)
			}
		}
	}
	poll := func(i int) {
		out, err := source.Poll(context.Background(), targets[i], time.Now())
		if err != nil {
			b.Error(err)
			return
		}
		targets[i].Saved = out.Saved
		out.Committed()
	}
	round := func(ask func(i int)) float64 {
		began := processorTime(b)
		var wg sync.WaitGroup
		next := make(chan int)
		for range benchAtOnce {
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
		return (processorTime(b) - began).Seconds()
	}
	anew()
	round(poll)
	for _, p := range peers {
		round(p.ask)
	}
	ratios := map[string][]float64{}
	for b.Loop() { // in turns, so that what else the machine does hits all of them
		anew()
		for _, poll := range []struct {
			name string
			took float64
		}{{"first-", round(poll)}, {"again-", round(poll)}} {
			for _, p := range peers {
				ratios[poll.name+p.name] = append(ratios[poll.name+p.name], poll.took/round(p.ask))
			}
		}
	}
	for _, name := range []string{"first-of-bare-client", "first-of-bare-client-that-decodes", "again-of-bare-client", "again-of-bare-client-with-304"} {
		list := ratios[name]
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], name)
	}
}
