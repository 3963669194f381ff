package specs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestInitIsCleanAndTested: a new spec has no fault, no doubt, and passes its own tests, whatever its fetcher.
func TestInitIsCleanAndTested(t *testing.T) {
	if len(specs.Starters()) != len(real.Fetchers) {
		t.Errorf("starters for %q", specs.Starters())
	}
	for _, fetcher := range specs.Starters() {
		src, err := specs.Init("my-spec", fetcher)
		if err != nil {
			t.Fatal(err)
		}
		spec, source, found := specs.Check("my-spec.yaml", []byte(src), real)
		if len(found) > 0 {
			var b strings.Builder
			_ = found.WriteText(&b, false)
			t.Errorf("%s\n%s", b.String(), src)
			continue
		}
		for _, r := range specs.RunTests(context.Background(), spec, source) {
			if !r.Pass {
				t.Errorf("%s: %s\n%s", fetcher, r.Name, r.Diff)
			}
		}
	}
	for _, name := range []string{"no", "123", "1e3", "0x1f", "null", "2026-01-01", "-", "---", "a"} { // to YAML some are none
		src, err := specs.Init(name, "stat")
		if err != nil {
			t.Fatal(err)
		}
		if spec, _, found := specs.Check(name+".yaml", []byte(src), real); len(found) > 0 || spec.Name != name {
			t.Errorf("%s: %v", name, found)
		}
	}
	if _, err := specs.Init("x", "htpt"); err == nil || !strings.Contains(err.Error(), "did you mean `http`?") {
		t.Error(err)
	}
	if _, err := specs.Init("X Y", "http"); err == nil {
		t.Error("a name with a space is taken")
	}
}
