package event_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/event"
)

// large is an events file of 100 MB, as a worker of many weeks leaves it.
func large(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "e")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	size := 0
	for i := 0; size < 100<<20; i++ {
		name, more := "pre_tool_use", `,"tool":"Bash","tool_input":{"command":"`+strings.Repeat("x", 300)+`"}`
		switch i % 20 {
		case 0:
			name, more = "user_prompt_submit", `,"prompt":"do it","prompt_bytes":5`
		case 19:
			name, more = "stop", `,"last_assistant_message":"done"`
		}
		n, err := fmt.Fprintf(w, `{"event":"%s","ts":"2026-11-30T10:00:00Z","worker":"w","harness":"claude","session_id":"s","turn_id":"%d"%s}`+"\n", name, i/20, more)
		if err != nil {
			b.Fatal(err)
		}
		size += n
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkOf100MB(b *testing.B) {
	path := large(b)
	end, err := event.Size(path)
	if err != nil {
		b.Fatal(err)
	}
	counted, err := event.Tally{}.On(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range []struct {
		name string
		do   func() error
	}{
		{"last5", func() error {
			n := 0
			for _, err := range event.Backward(path) {
				if n++; n == 5 || err != nil {
					return err
				}
			}
			return nil
		}},
		{"state", func() error { _, err := event.Of(path); return err }},
		{"size", func() error { _, err := event.Size(path); return err }},
		{"lines", func() error { _, err := event.Lines(path, end); return err }},
		{"after", func() error { _, err := event.After(path, 1<<40); return err }},
		{"firstCount", func() error { _, err := event.Tally{}.On(path); return err }},
		{"nextCount", func() error { _, err := counted.On(path); return err }},
	} {
		b.Run(row.name, func(b *testing.B) {
			runtime.GC()
			before := cpu()
			b.ReportAllocs()
			for b.Loop() {
				if err := row.do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
