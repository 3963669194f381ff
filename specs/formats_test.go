package specs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/sessevents/sessevents/specs"
)

// twenty are the diagnostics of the file with twenty faults, and one of a file that cannot be read.
func twenty(t *testing.T) specs.Diagnostics {
	t.Helper()
	found, files := specs.Lint([]string{"testdata/twenty-faults.yaml", "testdata/no such file.yaml"}, real)
	if len(files) != 1 || len(found) < 21 {
		t.Fatalf("%d diagnostics of %q", len(found), files)
	}
	return found
}

func TestSARIFIsValid(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-2.1.0.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range []specs.Diagnostics{twenty(t), nil} {
		var b bytes.Buffer
		if err := found.Write(&b, "sarif", false); err != nil {
			t.Fatal(err)
		}
		log, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(log); err != nil {
			t.Errorf("%v\n%s", err, b.String())
		}
		log.(map[string]any)["verison"] = "2.1.0"
		if err := schema.Validate(log); err == nil {
			t.Error("the schema takes anything")
		}
	}
}

func TestJSONHoldsAllOfADiagnostic(t *testing.T) {
	found := twenty(t)
	var b bytes.Buffer
	if err := found.Write(&b, "json", true); err != nil {
		t.Fatal(err)
	}
	var back specs.Diagnostics
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != len(found) {
		t.Fatalf("%d of %d, %v", len(back), len(found), err)
	}
	for i := range back {
		if back[i] != found[i] {
			t.Errorf("%+v became %+v", found[i], back[i])
		}
	}
	b.Reset()
	if err := specs.Diagnostics(nil).Write(&b, "json", false); err != nil || strings.TrimSpace(b.String()) != "[]" {
		t.Errorf("no diagnostics are %q, %v", b.String(), err)
	}
}

func TestGitHubCommandsAreOneLineEach(t *testing.T) {
	found := twenty(t)
	var b bytes.Buffer
	if err := found.Write(&b, "github", false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != len(found) {
		t.Fatalf("%d lines for %d diagnostics", len(lines), len(found))
	}
	want := "::error file=testdata/twenty-faults.yaml,line=3,col=11,endColumn=12,title=duration::\"5\" is not a duration%0Aa duration has a unit: write `5s`"
	if !strings.Contains(b.String(), want+"\n") {
		t.Errorf("no line\n%s\nin\n%s", want, b.String())
	}
}

func TestColorIsOnlyPaint(t *testing.T) {
	found := twenty(t)
	var plain, painted bytes.Buffer
	if err := found.Write(&plain, "text", false); err != nil {
		t.Fatal(err)
	}
	if err := found.Write(&painted, "text", true); err != nil {
		t.Fatal(err)
	}
	bare := painted.String()
	for _, code := range []string{"1;31", "1;33", "1;32", "1", "2", "0"} {
		bare = strings.ReplaceAll(bare, "\x1b["+code+"m", "")
	}
	if bare != plain.String() || strings.Contains(plain.String(), "\x1b") {
		t.Error("colour changes the text")
	}
	if err := found.Write(&plain, "xml", false); err == nil {
		t.Error("there is a format xml")
	}
}
