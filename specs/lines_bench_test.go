package specs_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/httpbench"
	"github.com/sessevents/sessevents/specs"
)

const linesSpec = `version: 1
name: lines
interval: 5s
target: {args: [path]}
fetch: {jsonl-tail: {path: "${target.path}", from: start}}
extract: '%s'
item: {event: [stop, post_tool_use], tool: id, turn: count}
rules:
  - {when: %s, kind: stop, level: note, text: "turn ${item.turn} ended"}
  - {when: %s, kind: late, level: note, text: "turn ${item.turn} was late"}
`

// logOf writes lines of about 250 bytes, one in a hundred a "stop".
func logOf(b *testing.B, lines int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "events.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	filler := strings.Repeat("the quick brown fox jumps over the lazy dog ", 3)
	for i := range lines {
		event := "post_tool_use"
		if i%100 == 0 {
			event = "stop"
		}
		fmt.Fprintf(w, `{"at":"2026-11-30T17:00:00.%06dZ","event":%q,"tool":"Bash","session":{"id":"s-%06d","turn":%d},"text":"line\n%s%d"}`+"\n", i, event, i%977, i%977, filler, i)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkLines polls a backlog of lines as a daemon does, in turns with jq on the same file. The ratio is processor
// time.
func BenchmarkLines(b *testing.B) {
	const lines = 200_000
	path := logOf(b, lines)
	jq, err := exec.LookPath("jq")
	if err != nil {
		b.Log("no jq: no ratio")
	}
	words := [2]string{`item.event == "stop"`, `item.turn > 900 && item.event == "stop"`}
	numbers := [2]string{`item.turn < 5`, `item.turn > 970`}
	for _, c := range []struct {
		name, extract string
		when          [2]string
	}{
		{"selected", `.lines[] | select(.event == "stop") | {event, tool, turn: .session.turn}`, words},
		{"selected-by-rules", `.lines[] | {event, tool, turn: .session.turn}`, words},
		{"every-line", `.lines[] | {event, tool, turn: .session.turn}`, numbers},
		{"every-line-by-the-library", `.lines[] | {event: (.event | ascii_downcase), tool, turn: .session.turn}`, numbers},
		{"every-line-whole-by-the-library", `.lines[] | . + {turn: .session.turn} | {event, tool, turn}`, numbers},
	} {
		b.Run(c.name, func(b *testing.B) {
			set := fetchers.NewSet()
			defer set.Close()
			s, found := specs.Parse("lines.yaml", []byte(fmt.Sprintf(linesSpec, c.extract, c.when[0], c.when[1])))
			source, more := specs.Compile(s, specs.Options{Fetchers: set.Fetchers()})
			if found = append(found, more...); found.HasErrors() {
				b.Fatal(found)
			}
			b.ReportAllocs()
			var ratios []float64
			var spent time.Duration
			for b.Loop() {
				target, err := source.ParseTarget([]string{path})
				if err != nil {
					b.Fatal(err)
				}
				began, events := httpbench.CPU(), 0
				for again := true; again; {
					out, err := source.Poll(context.Background(), target, time.Unix(1_790_000_000, 0))
					if err != nil {
						b.Fatal(err)
					}
					target.Saved, again = out.Saved, out.More
					events += len(out.Events)
				}
				each := httpbench.CPU() - began
				spent += each
				if events < 300 {
					b.Fatalf("%d events", events)
				}
				if jq != "" {
					cmd := exec.Command(jq, "-c", `select(.event=="stop") | {event,tool,turn:.session.turn}`, path)
					if err := cmd.Run(); err != nil {
						b.Fatal(err)
					}
					ratios = append(ratios, each.Seconds()/(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds())
				}
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/lines, "cpu-ns/line")
			if len(ratios) > 0 {
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "of-jq")
			}
		})
	}
}
