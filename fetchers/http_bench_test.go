package fetchers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sessevents/sessevents/internal/httpbench"
)

// Of the server's bodies, what the compiler of specs leaves of `.body.items[] | {id, state}`, and of `.body.total`.
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
	rig := httpbench.Start(b)
	for _, c := range []struct {
		name   string
		narrow *Narrow
		again  bool
		peer   string
		asks   func(int)
	}{
		{"first-poll-items", benchItems, false, "of-bare-client-that-decodes", rig.Decodes},
		{"first-poll-number", benchNumber, false, "of-bare-client-that-decodes", rig.Decodes},
		{"second-poll-304", benchItems, true, "of-bare-client-with-304", rig.Conditional},
	} {
		b.Run(c.name, func(b *testing.B) {
			set := NewSet()
			defer set.Close()
			ask := set.Fetchers()["http"].Fetch
			poll := func(i int) {
				r := Request{Now: time.Now(), Target: fmt.Sprint(i), Narrow: c.narrow, Options: map[string]any{
					"url": rig.URL(i), "accept": []int64{200}, "parse": "auto", "maxBytes": int64(10 * megabyte), "redirects": int64(5),
				}}
				answer, err := ask(context.Background(), r)
				if err != nil {
					b.Error(err)
					return
				}
				answer.Committed()
			}
			rig.Round(poll)
			rig.Round(rig.Discards)
			var ours, bare, peer []float64
			for b.Loop() { // in turns, so that what else the machine does hits all of them
				if !c.again {
					set.answers = answers{}
				}
				ours = append(ours, rig.Round(poll))
				bare = append(bare, rig.Round(rig.Discards))
				peer = append(peer, rig.Round(c.asks))
			}
			b.ReportMetric(httpbench.Middle(ours), "cpu-s/op")
			b.ReportMetric(httpbench.Middle(httpbench.Ratios(ours, bare)), "of-bare-client")
			b.ReportMetric(httpbench.Middle(httpbench.Ratios(ours, peer)), c.peer)
		})
	}
}
