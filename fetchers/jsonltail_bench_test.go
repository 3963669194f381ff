package fetchers

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/internal/httpbench"
)

// benchLines is how many lines the file of the benchmarks has; about 250 bytes each, one in a hundred a "stop".
const benchLines = 1_000_000

func writeBenchLog(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "events.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	filler := strings.Repeat("the quick brown fox jumps over the lazy dog ", 3)
	for i := range benchLines {
		event := "post_tool_use"
		if i%100 == 0 {
			event = "stop"
		}
		fmt.Fprintf(w, `{"at":"2026-11-30T17:00:00.%06dZ","event":%q,"tool":"Bash","session":{"id":"s-%06d","turn":%d},"text":"line\n%s%d"}`+"\n", i, event, i%977, i, filler, i)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// threePaths are what is read of each line.
var threePaths = &Want{Members: map[string]*Want{"event": nil, "tool": nil, "session": {Members: map[string]*Want{"turn": nil}}}}

// BenchmarkJSONLTail reads a million lines as polls do, beside jq on the same file in the same run. The ratio is
// processor time: 0.1 is a tenth of jq's.
func BenchmarkJSONLTail(b *testing.B) {
	path := writeBenchLog(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	jq := jqTime(b, path)
	lines := &Want{Members: map[string]*Want{"lines": {Each: threePaths}}}
	for _, c := range []struct {
		name   string
		narrow *Narrow
		lines  int
	}{
		{"1percent", &Narrow{Literals: [][]string{{"stop"}}, Want: lines}, benchLines / 100},
		{"every-line-3-paths", &Narrow{Want: lines}, benchLines},
		{"every-line-whole", nil, benchLines},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			began, peak := httpbench.CPU(), uint64(0)
			for b.Loop() {
				set := NewSet()
				r := Request{Now: time.Now(), Narrow: c.narrow, Options: map[string]any{
					"path": path, "from": "start", "bad": "skip", "maxLine": int64(megabyte), "maxBytes": int64(64 * megabyte),
				}}
				lines := 0
				for more := true; more; {
					answer, err := set.jsonlTail(context.Background(), r)
					if err != nil {
						b.Fatal(err)
					}
					lines += len(answer.Doc.(map[string]any)["lines"].([]any))
					r.Position, more = answer.Position, answer.More
					var m runtime.MemStats
					if lines%10 == 0 {
						runtime.ReadMemStats(&m)
						peak = max(peak, m.Sys-m.HeapReleased)
					}
				}
				if lines != c.lines {
					b.Fatalf("%d lines", lines)
				}
			}
			each := (httpbench.CPU() - began) / time.Duration(b.N)
			b.ReportMetric(each.Seconds(), "cpu-s/op")
			b.ReportMetric(float64(peak)/1e6, "MB-held")
			if jq > 0 {
				b.ReportMetric(each.Seconds()/jq.Seconds(), "of-jq")
			}
		})
	}
}

// jqTime is the processor time of jq on the file; 0 where there is no jq.
func jqTime(b *testing.B, path string) time.Duration {
	b.Helper()
	jq, err := exec.LookPath("jq")
	if err != nil {
		b.Log("no jq: no ratio")
		return 0
	}
	cmd := exec.Command(jq, "-c", `select(.event=="stop") | {event,tool,turn:.session.turn}`, path)
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
