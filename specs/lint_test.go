package specs_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

var real = specs.Options{Fetchers: fetchers.All}

func codesOf(src string) []string {
	var codes []string
	_, _, found := specs.Check("queue.yaml", []byte(src), real)
	for _, d := range found {
		codes = append(codes, d.Code)
	}
	return codes
}

// TestEveryCodeHasAnExampleThatShowsIt: the bad example has the fault, the good one has none at all.
func TestEveryCodeHasAnExampleThatShowsIt(t *testing.T) {
	if got := codesOf(specs.ExampleSpec); len(got) > 0 {
		t.Fatalf("the spec that examples change has faults: %q", got)
	}
	for _, c := range specs.Codes {
		if c.Code == "read" || c.Code == "size" || c.Code == "more" { // TestC15_FilesThatAreNoSpec, TestManyFaultsTakeLittleMemory
			continue
		}
		bad := c.Bad
		if c.Line != "" {
			if !strings.Contains(specs.ExampleSpec, c.Line) {
				t.Errorf("%s: no line %q", c.Code, c.Line)
				continue
			}
			bad = strings.Replace(specs.ExampleSpec, c.Line, c.Bad, 1)
			good := strings.Replace(specs.ExampleSpec, c.Line, c.Good, 1)
			if got := codesOf(good); slices.Contains(got, c.Code) {
				t.Errorf("%s: what to write instead has it too: %q", c.Code, got)
			}
		}
		if got := codesOf(bad); !slices.Contains(got, c.Code) {
			t.Errorf("%s: the example gives %q", c.Code, got)
		}
	}
}

// TestEveryCodeIsListed reads the codes out of the program text: none may be without an entry.
func TestEveryCodeIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range specs.Codes {
		listed[c.Code] = true
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?:Code: |Error, |Warning, |\.(?:fault|warn)\((?:member\(.*?\)|[^"\n]*?), |whole\(|code: )"([a-z-]+)"`)
	count := 0
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") || f.Name() == "codes.go" || !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		src, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(src), -1) {
			count++
			if !listed[m[1]] {
				t.Errorf("%s: code %q is not listed", f.Name(), m[1])
			}
		}
	}
	if count < len(specs.Codes) {
		t.Errorf("only %d uses of codes found: the search is out of date", count)
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file, which people read; -update writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date (go test ./specs -update writes it): now it is\n%s", path, got)
	}
}

// TestTwentyFaults is issue 3's first show: each fault of the file is one diagnostic at its place.
func TestTwentyFaults(t *testing.T) {
	src, err := os.ReadFile("testdata/twenty-faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, _, found := specs.Check("twenty-faults.yaml", src, real)
	found = slices.DeleteFunc(found, func(d specs.Diagnostic) bool { return d.Severity == specs.Warning })
	if len(found) != 20 {
		t.Errorf("%d diagnostics", len(found))
	}
	var b strings.Builder
	if err := found.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/twenty-faults.out", b.String())
}

// TestLintSaysWhatCheckSays: lint leaves out what no fault can come from; nothing that is said may depend on it.
func TestLintSaysWhatCheckSays(t *testing.T) {
	texts := []string{base, keyed, watermark, spoken, stream, steps, flagged, loud, specs.ExampleSpec}
	for _, c := range specs.Codes {
		texts = append(texts, c.Bad)
	}
	for _, pattern := range []string{"../examples/*.yaml", "testdata/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(src))
		}
	}
	path := filepath.Join(t.TempDir(), "spec.yaml")
	for _, text := range texts {
		for _, other := range []string{"", "now - now", `now > "a"`, "1", "false", "abs(-1.5, 2)", "-item", `duration("1h") > now`, "target.x[:reduce(1, # + 1)]", "items[reduce(1, # + 1):]"} {
			src := text
			if other != "" {
				src = condition.ReplaceAllLiteralString(src, "when: '"+other+"'")
			}
			if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
				t.Fatal(err)
			}
			linted, _ := specs.Lint([]string{path}, real)
			_, _, checked := specs.CheckFile(path, real)
			if !reflect.DeepEqual(linted, checked) {
				t.Errorf("%s\nlint says\n%v\ncheck says\n%v", src, linted, checked)
			}
		}
	}
}

var condition = regexp.MustCompile(`when: [^,\n]+`)

// TestAPatternIsCheckedAsItIsUsed: one that is just not too deep by itself once ended the program.
func TestAPatternIsCheckedAsItIsUsed(t *testing.T) {
	deep := strings.Repeat("(", 999) + "a" + strings.Repeat(")", 999)
	for _, where := range []string{"item: {id: '" + deep + "'}", "target: {args: [{name: a, pattern: '" + deep + "'}]}"} {
		src := "version: 1\nname: a\ninterval: 1m\nfetch: {stat: {path: /a}}\n" + where + "\nrules: [{when: changed, kind: changed, text: x}]\n"
		if codes := codesOf(src); !slices.Contains(codes, "pattern") {
			t.Errorf("found only %q", codes)
		}
	}
}
