package specs_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

const (
	tablesBegin = "<!-- made from the tables of package specs: go test ./specs -update -->\n"
	tablesEnd   = "<!-- end of the tables -->\n"
)

// TestTheReferenceIsThatOfTheTables: docs/spec.md cannot say another key than the parser reads.
func TestTheReferenceIsThatOfTheTables(t *testing.T) {
	const path = "../docs/spec.md"
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(src), tablesBegin)
	_, after, okEnd := strings.Cut(rest, tablesEnd)
	if !ok || !okEnd {
		t.Fatal("the marks of the tables are missing")
	}
	golden(t, path, before+tablesBegin+"\n"+specs.Reference(fetchers.All)+"\n"+tablesEnd+after)
}

// TestTheDocsOfLintAreItsOutput runs every example of docs/lint.md.
func TestTheDocsOfLintAreItsOutput(t *testing.T) {
	golden(t, "../docs/lint.md", specs.LintReference(real))
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```\n(?:\n```text\n(.*?)```\n)?")

// TestSpecsInTheDocsAreSpecs: each whole spec in the docs is clean but for what the docs say of it, and passes its
// tests.
func TestSpecsInTheDocsAreSpecs(t *testing.T) {
	count := 0
	for _, path := range []string{"../docs/spec.md", "../docs/first-spec.md"} {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range yamlBlock.FindAllStringSubmatch(string(src), -1) {
			if !strings.Contains(m[1], "version: 1\n") || !strings.Contains(m[1], "rules:") {
				continue
			}
			count++
			spec, source, found := specs.Check("disk.yaml", []byte(m[1]), real)
			var b strings.Builder
			_ = found.WriteText(&b, false)
			if b.String() != m[2] && (m[2] != "" || found.HasErrors()) {
				t.Errorf("%s: of\n%s\nlint says\n%s", path, m[1], b.String())
			}
			if source == nil {
				continue
			}
			for _, r := range specs.RunTests(context.Background(), spec, source) {
				if !r.Pass {
					t.Errorf("%s: %s\n%s", path, r.Name, r.Diff)
				}
			}
		}
	}
	if count < 4 {
		t.Errorf("only %d specs found in the docs", count)
	}
}
