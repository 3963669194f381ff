package sessevents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

var (
	yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
	link      = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
)

// showFaults are the pages that show specs with faults; the tests of package specs run those.
var showFaults = map[string]bool{"docs/lint.md": true}

// TestTheSpecsOfTheDocsRun: what a reader copies out of a page is a whole spec and has no fault.
func TestTheSpecsOfTheDocsRun(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(m[1], "version: 1\n") || showFaults[page] {
				continue // a part of one
			}
			seen++
			if _, _, faults := specs.Check(page, []byte(m[1]), specs.Options{Fetchers: fetchers.All}); faults.HasErrors() {
				var b strings.Builder
				_ = faults.WriteText(&b, false)
				t.Errorf("a spec in %s:\n%s", page, b.String())
			}
		}
	}
	if seen == 0 {
		t.Error("no page has a whole spec")
	}
}

func TestTheLinksOfTheDocsLead(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") || strings.ContainsAny(m[1], " \"'^") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}
