package specs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/internal/value"
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

// TestWhatTryRecordsIsWhatItSaw: YAML takes some characters of a document for line breaks, and refuses others, where
// they stand as they are.
func TestWhatTryRecordsIsWhatItSaw(t *testing.T) {
	const text = "a\u0085b\u2028c\u2029d\ufeffe\u007ff\u0080g\ufffeh\uffffi\U0001f600 \" \\ \t\r\n # ' : - ${x} \x00\x1b"
	dir := t.TempDir()
	path := filepath.Join(dir, "lines.jsonl")
	line, err := value.Encode(map[string]any{"text": text, text: 1, strings.Repeat("k", 2000): 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(line, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	src := []byte("version: 1\nname: n\ninterval: 5s\ntarget: {args: [path]}\nfetch: {jsonl-tail: {path: \"${target.path}\", from: start}}\n" +
		"extract: '.lines[] | {n: (.text | explode | add), keys: (keys | map(length) | add)}'\nitem: {n: count, keys: count}\n" +
		"rules: [{when: true, kind: n, text: \"${item.n} ${item.keys}\"}]\n")
	_, source, _ := specs.Check("n.yaml", src, real)
	trial, err := source.NewTrial([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trial.Poll(context.Background(), time.Now()); err != nil {
		t.Fatal(err)
	}
	entry, err := trial.Record(context.Background(), "as it was")
	if err != nil {
		t.Fatal(err)
	}
	added, err := specs.AddTest("n.yaml", src, entry)
	if err != nil {
		t.Fatal(err)
	}
	spec, source, found := specs.Check("n.yaml", added, real)
	if len(found) > 0 {
		t.Fatalf("%v\n%s", found, added)
	}
	if r := specs.RunTests(context.Background(), spec, source)[0]; !r.Pass {
		t.Errorf("%s\n%s", r.Diff, entry)
	}
}

// TestWhatTryRecordsStaysAWord: a commit may look like a number, and a target like a date.
func TestWhatTryRecordsStaysAWord(t *testing.T) {
	for _, word := range []string{"12e4567", "0x1f", "2026-01-01", "0b1", "1_000", "12", "true", "no", "null", "-", "abc", "e12"} {
		src := []byte("version: 1\nname: n\ninterval: 5s\nidleInterval: 1m\ntarget: {args: [{name: word, pattern: '\\S+'}]}\nfetch: {exec: {command: [printf, \"%s\", \"${target.word}\"], parse: text}}\n" +
			"extract: .stdout\nitem: id\nrules: [{when: true, kind: a, text: \"${item}\", fields: {sha: \"${item}\"}}]\n")
		_, source, found := specs.Check("n.yaml", src, real)
		if found.HasErrors() {
			t.Fatal(found)
		}
		trial, err := source.NewTrial([]string{word})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trial.Poll(context.Background(), time.Now()); err != nil {
			t.Fatal(err)
		}
		entry, err := trial.Record(context.Background(), word)
		if err != nil {
			t.Fatal(err)
		}
		added, err := specs.AddTest("n.yaml", src, entry)
		if err != nil {
			t.Fatal(word, err)
		}
		spec, source, found := specs.Check("n.yaml", added, real)
		if found.HasErrors() {
			t.Fatal(found)
		}
		if r := specs.RunTests(context.Background(), spec, source)[0]; !r.Pass || r.Name != word {
			t.Errorf("%s: %+v", word, r)
		}
	}
}

// TestTryAddsATestWhereverTheListStands: many write the dashes of a list under its key, and a spec is never broken.
func TestTryAddsATestWhereverTheListStands(t *testing.T) {
	const entry = "  - name: added\n    target: [/x]\n    polls:\n      - fetch: {size: 5}\n        events: []\n"
	const tests = `tests: [{name: starts, target: [/x], polls: [{fetch: {size: null}, events: []}]}]`
	for name, by := range map[string]string{
		"two spaces":       "tests:\n  - name: a\n    target: [/x]\n    polls: [{fetch: {size: null}, events: []}]",
		"no spaces":        "tests:\n- name: a\n  target: [/x]\n  polls:\n  - {fetch: {size: null}, events: []}",
		"no spaces, a key": "tests:\n- name: a\n  target: [/x]\n  polls:\n  - {fetch: {size: null}, events: []}\n# of the url\nurl: http://h/",
		"four spaces":      "tests:\n    - name: a\n      target: [/x]\n      polls:\n          - {fetch: {size: null}, events: []}",
		"a dash alone":     "tests:\n -\n  name: a\n  target: [/x]\n  polls:\n   - {fetch: {size: null}, events: []}",
		"none":             "url: http://h/",
		"none, and an end": "url: http://h/\n...",
	} {
		src := strings.Replace(specs.ExampleSpec, tests, by, 1)
		before, _, found := specs.Check("queue.yaml", []byte(src), real)
		if found.HasErrors() {
			t.Fatal(name, found)
		}
		added, err := specs.AddTest("queue.yaml", []byte(src), entry)
		if name == "none, and an end" {
			if err == nil || !strings.Contains(err.Error(), "another file") {
				t.Errorf("%s: %v\n%s", name, err, added)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		spec, source, found := specs.Check("queue.yaml", added, real)
		if found.HasErrors() {
			t.Errorf("%s: %v\n%s", name, found, added)
			continue
		}
		results := specs.RunTests(context.Background(), spec, source)
		if last := results[len(results)-1]; before.HasTests() != (len(results) == 2) || last.Name != "added" || !last.Pass || last.Polls != 1 {
			t.Errorf("%s: %+v\n%s", name, results, added)
		}
	}
}
