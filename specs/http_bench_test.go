package specs_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/httpbench"
	"github.com/sessevents/sessevents/specs"
)

func TestMain(m *testing.M) {
	httpbench.Serve()
	os.Exit(m.Run())
}

// BenchmarkHTTP polls a thousand addresses by a whole spec, 32 at once, from the question to what is saved, in turns
// with a bare loop of the standard client: one that throws the bodies away, one that decodes them, and one that sends
// the condition of the second poll. The ratios are processor time of the client alone.
func BenchmarkHTTP(b *testing.B) {
	rig := httpbench.Start(b)
	for _, c := range []struct{ name, rest string }{
		{"items", "extract: '.body.items[] | {id, state}'\nkey: item.id\nitem: {id: id, state: [open, closed]}\n" +
			"rules: [{when: changed, kind: state, text: '${item.id}: ${item.state}'}, {when: gone, kind: gone, text: '${cursor.id}: gone'}]\n"},
		{"number", "extract: .body.total\nitem: count\nrules: [{when: changed, kind: total, text: '${cursor} to ${item}'}]\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchPolls(b, "version: 1\nname: bench\ninterval: 5s\ntarget: {args: [url]}\nfetch: {http: {url: \"${target.url}\"}}\n"+c.rest, rig)
		})
	}
}

// benchPolls polls with src for the first time, and again.
func benchPolls(b *testing.B, src string, rig *httpbench.Rig) {
	set := fetchers.NewSet()
	defer set.Close()
	s, found := specs.Parse("bench.yaml", []byte(src))
	targets := make([]engine.Target, httpbench.URLs)
	var source *specs.Source
	anew := func() { // a source that has polled nothing yet, and knows no validator
		var more specs.Diagnostics
		if source, more = specs.Compile(s, specs.Options{Fetchers: set.Fetchers()}); append(found, more...).HasErrors() {
			b.Fatal(found, more)
		}
		for i := range targets {
			var err error
			if targets[i], err = source.ParseTarget([]string{rig.URL(i)}); err != nil {
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
	anew()
	rig.Round(poll)
	rig.Round(rig.Discards)
	var first, again, discards, decodes, conditional []float64
	for b.Loop() { // in turns, so that what else the machine does hits all of them
		anew()
		first = append(first, rig.Round(poll))
		discards = append(discards, rig.Round(rig.Discards))
		decodes = append(decodes, rig.Round(rig.Decodes))
		again = append(again, rig.Round(poll))
		conditional = append(conditional, rig.Round(rig.Conditional))
	}
	for name, list := range map[string][]float64{
		"first-of-bare-client": httpbench.Ratios(first, discards), "first-of-bare-client-that-decodes": httpbench.Ratios(first, decodes),
		"again-of-bare-client": httpbench.Ratios(again, discards), "again-of-bare-client-with-304": httpbench.Ratios(again, conditional),
	} {
		b.ReportMetric(httpbench.Middle(list), name)
	}
}
