package tail

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkQuietFiles reads a thousand files in which nothing is new.
func BenchmarkQuietFiles(b *testing.B) {
	dir := b.TempDir()
	var paths []string
	for i := range 1000 {
		path := filepath.Join(dir, fmt.Sprintf("%04d.jsonl", i))
		if err := os.WriteFile(path, []byte("{\"a\":1}\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		paths = append(paths, path)
	}
	var r Reader
	var pos *Position
	read := func() {
		next, report, err := r.Read(context.Background(), paths, pos, time.Now(), func(Line) bool { return true })
		if err != nil || pos != nil && report.Lines != 0 {
			b.Fatal(err, report.Lines)
		}
		pos = next
	}
	read()
	for deadline := time.Now().Add(10 * time.Second); pos.Files[0].Changed == 0 && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond) // until the files are old enough to be known by their times
		read()
	}
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
}
