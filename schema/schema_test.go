package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/examples"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/schema"
	"github.com/sessevents/sessevents/specs"
	"gopkg.in/yaml.v3"
)

var update = flag.Bool("update", false, "write the schemas anew")

func written(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSchemasAreThoseOfTheTables: what editors complete is what the parser reads.
func TestSchemasAreThoseOfTheTables(t *testing.T) {
	for _, row := range []struct {
		file string
		have []byte
		want any
	}{{"spec.schema.json", schema.Spec, specs.Schema(fetchers.All)}, {"event.schema.json", schema.Event, specs.EventSchema()}} {
		want := written(t, row.want)
		if *update {
			if err := os.WriteFile(row.file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !bytes.Equal(row.have, want) {
			t.Errorf("%s is out of date: go test ./schema -update writes it", row.file)
		}
	}
}

func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("x.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("x.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is a YAML text as the schema library reads JSON.
func asJSON(t *testing.T, src []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestEveryExampleIsValid(t *testing.T) {
	s := compiled(t, schema.Spec)
	paths, err := fs.Glob(examples.Files, "*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	texts := map[string][]byte{}
	for _, path := range paths {
		if texts[path], err = fs.ReadFile(examples.Files, path); err != nil {
			t.Fatal(err)
		}
	}
	for _, fetcher := range specs.Starters() {
		src, err := specs.Init("a", fetcher)
		if err != nil {
			t.Fatal(err)
		}
		texts["init "+fetcher] = []byte(src)
	}
	for name, src := range texts {
		if err := s.Validate(asJSON(t, src)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheSchemaRefusesWhatTheParserRefuses, where a schema can see it.
func TestTheSchemaRefusesWhatTheParserRefuses(t *testing.T) {
	s := compiled(t, schema.Spec)
	saw := 0
	for _, c := range specs.Codes {
		switch c.Code {
		case "unknown-key", "missing-key", "type", "not-a-boolean", "version", "name", "word", "type-name", "unknown-fetcher", "two-fetchers", "hold", "size-form", "not-a-string", "not-a-number", "duration", "stream-step":
		default:
			continue
		}
		saw++
		bad := bytes.Replace([]byte(specs.ExampleSpec), []byte(c.Line), []byte(c.Bad), 1)
		if err := s.Validate(asJSON(t, bad)); err == nil {
			t.Errorf("%s: the schema takes\n%s", c.Code, bad)
		}
	}
	if saw != 16 {
		t.Errorf("%d of 16 codes", saw)
	}
	if err := s.Validate(asJSON(t, []byte(specs.ExampleSpec))); err != nil {
		t.Error(err)
	}
}

func TestEventsAreValid(t *testing.T) {
	s := compiled(t, schema.Event)
	e := eventlog.Event{ID: 17, Kind: "changed", Text: "x", URL: "file:///x", Level: eventlog.Note, Fields: map[string]any{"n": 1}}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(asJSON(t, line)); err != nil {
		t.Error(err)
	}
	if err := s.Validate(asJSON(t, []byte(`{"id":0,"at":"2026-01-01T00:00:00Z","kind":"x","text":"x"}`))); err == nil {
		t.Error("an event with the id 0 is valid")
	}
}
