package specs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessevents/sessevents/specs"
)

// FuzzParse: whatever a file holds, checking it ends, soon, without a panic, and every diagnostic stands in the file.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"../examples/*.yaml", "testdata/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	for _, src := range []string{base, keyed, watermark, spoken, stream, steps, flagged, loud, "a: &a [*a]", "? {a: b}\n: c", "- - -", "\xff\xfe", "a: !!binary x", "%YAML 1.1\n---\n", "version: 1\r\nname: a\r\n"} {
		f.Add([]byte(src))
	}
	for _, c := range specs.Codes {
		f.Add([]byte(c.Bad))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 64<<10 {
			return
		}
		began := time.Now()
		_, source, found := specs.Check("f.yaml", src, real)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		if source == nil && !found.HasErrors() {
			t.Error("no source, and no fault")
		}
		for _, d := range found {
			if d.Code == "" || d.Message == "" || d.Width < 1 || (d.Line == 0) != (d.Column == 0) || d.Line < 0 {
				t.Errorf("%+v", d)
			}
			if n := len([]rune(d.Source)); d.Line > 0 && d.Column > n+2 {
				t.Errorf("column %d of a line of %d: %+v", d.Column, n, d)
			}
		}
		if err := found.WriteText(discard{}, true); err != nil {
			t.Error(err)
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
