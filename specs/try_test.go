package specs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/specs"
)

// TestTryRecordsATestThatPasses tries the shipped spec on a real file, records, and runs what it recorded.
func TestTryRecordsATestThatPasses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "build.log")
	src := []byte(example(t, "log-events"))
	_, source, _ := specs.Check("log-events.yaml", src, real)
	trial, err := source.NewTrial([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, text := range []string{"", "hello", "hello world"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(5 * time.Second)
		trace, err := trial.Poll(context.Background(), now)
		if err != nil || len(trace.Steps) != 1 || len(trace.Items) != 1 || len(trace.Rules) != 2 {
			t.Fatalf("%+v, %v", trace, err)
		}
		if r := trace.Rules[1]; r.Kind != "changed" || r.Holds != (text != "") || len(r.Why) != 1 {
			t.Errorf("%+v", r)
		}
	}
	entry, err := trial.Record(context.Background(), "as it was")
	if err != nil {
		t.Fatal(err)
	}
	added, err := specs.AddTest("log-events.yaml", src, entry)
	if err != nil {
		t.Fatal(err)
	}
	spec, source, found := specs.Check("log-events.yaml", added, real)
	if len(found) > 0 {
		t.Fatalf("%v\n%s", found, added)
	}
	results := specs.RunTests(context.Background(), spec, source)
	if last := results[len(results)-1]; len(results) != 3 || !last.Pass || last.Polls != 3 || last.Name != "as it was" {
		t.Errorf("%+v\n%s", results, entry)
	}
	if !strings.Contains(entry, "text: \""+path+": 0 to 5 bytes\"") {
		t.Errorf("the entry is\n%s", entry)
	}
}

func TestTryBlotsOutSecretsAndRecordsFailures(t *testing.T) {
	src := `version: 1
name: n
interval: 5s
fetch:
  - {as: a, http: {url: "http://x/", headers: {A: '${env.TOKEN}'}}}
  - {as: b, when: a.n > 1, http: {url: "http://x/"}}
item: {a: auto, b: auto}
rules: [{when: "doc.a.n == 1", kind: k, text: t}]
summary: [{text: x}]
`
	w := &world{docs: []string{`{"n":1,"echo":"your token is s3cret"}`, "!timeout", `{"n":2}`, `{"m":3}`}}
	source := compile(t, w, src)
	trial, err := source.NewTrial(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "timeout", ""} {
		trace, err := trial.Poll(context.Background(), time.Unix(int64(i*5), 0))
		if (err != nil) != (want != "") || len(trace.Steps) != 2 {
			t.Fatalf("poll %d: %+v, %v", i, trace, err)
		}
	}
	entry, err := trial.Record(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(entry, "s3cret") || !strings.Contains(entry, "(redacted)") || !strings.Contains(entry, "env: {TOKEN: recorded}") {
		t.Errorf("the entry is\n%s", entry)
	}
	added, err := specs.AddTest("n.yaml", []byte(src), entry)
	if err != nil {
		t.Fatal(err)
	}
	spec, found := specs.Parse("n.yaml", added)
	if found.HasErrors() {
		t.Fatalf("%v\n%s", found, added)
	}
	for _, r := range specs.RunTests(context.Background(), spec, compile(t, w, string(added))) {
		if !r.Pass || r.Polls != 3 {
			t.Errorf("%+v\n%s", r, entry)
		}
	}
}
