package schema_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/schema"
)

// node is what the test reads of a schema.
type node struct {
	Type       string
	Const      any
	Enum       []string
	Examples   []string
	Properties map[string]node
	Required   []string
	Items      *node
	AllOf      []struct {
		If struct {
			Properties map[string]struct{ Const string }
		}
		Then struct {
			Properties map[string]bool
			Required   []string
		}
	}
}

// TestTheSchemaOfAWorkersEventsIsThatOfTheType, member by member.
func TestTheSchemaOfAWorkersEventsIsThatOfTheType(t *testing.T) {
	var root node
	if err := json.Unmarshal(schema.CSDEvent, &root); err != nil {
		t.Fatal(err)
	}
	same(t, "", reflect.TypeFor[event.Wire](), root)
	var names []string
	for _, name := range event.Names {
		names = append(names, string(name))
	}
	if got := root.Properties["event"].Examples; !slices.Equal(got, names) {
		t.Errorf("the events are %v, want %v", got, names)
	}
	var failures []string
	for _, kind := range event.FailureTypes {
		failures = append(failures, string(kind))
	}
	if got := root.Properties["error"].Properties["type"].Enum; !slices.Equal(got, failures) {
		t.Errorf("the failures are %v, want %v", got, failures)
	}
}

func same(t *testing.T, at string, typ reflect.Type, n node) {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	want := map[reflect.Kind]string{
		reflect.String: "string", reflect.Int: "integer", reflect.Struct: "object", reflect.Slice: "array",
	}[typ.Kind()]
	if typ == reflect.TypeFor[json.RawMessage]() {
		want = "object"
	}
	switch {
	case typ.Kind() == reflect.Bool && n.Const == true: // it is left out where it is false
	case typ.Kind() == reflect.String && len(n.Enum) > 0:
	case n.Type != want:
		t.Errorf("%s is %q, want %q", at, n.Type, want)
	}
	if n.Items != nil {
		same(t, at+"[]", typ.Elem(), *n.Items)
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	members := map[string]bool{}
	for i := range typ.NumField() {
		name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		members[name] = true
		child, ok := n.Properties[name]
		if !ok {
			t.Errorf("%s.%s is not in the schema", at, name)
			continue
		}
		if always := options != "omitempty"; always != slices.Contains(n.Required, name) {
			t.Errorf("%s.%s: always written %v, required by the schema %v", at, name, always, !always)
		}
		same(t, at+"."+name, typ.Field(i).Type, child)
	}
	for name := range n.Properties {
		if !members[name] {
			t.Errorf("%s.%s is not in the type", at, name)
		}
	}
}

// TestEachWorkersEventHasTheMembersOfItsSchema: what is written with all fields set, and with none.
func TestEachWorkersEventHasTheMembersOfItsSchema(t *testing.T) {
	s := compiled(t, schema.CSDEvent)
	var root node
	if err := json.Unmarshal(schema.CSDEvent, &root); err != nil {
		t.Fatal(err)
	}
	common := []string{"event", "ts", "worker", "harness", "session_id"}
	seen := 0
	for _, kind := range root.AllOf {
		name := event.Name(kind.If.Properties["event"].Const)
		if name.Known() {
			seen++
		}
		full := members(t, event.Event{
			Name: name, At: time.Unix(1, 0), Worker: "w", Harness: "pi", SessionID: "s", TurnID: "t", TranscriptPath: "/t", CWD: "/c", Source: "s",
			PID: 1, Prompt: "p", PromptBytes: 1, PromptSHA256: event.Digest("p"), Queued: true, Notification: &event.Notification{}, Tool: "T",
			ToolInput: json.RawMessage(`{"a":1}`), ToolUseID: "u", IsError: true, LastAssistantMessage: "l", BackgroundTasks: []event.Task{{}},
			Error: &event.Failure{Type: event.Unknown}, Interrupted: true, Reason: "r",
		})
		want := slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(kind.Then.Properties)), common...)))
		if got := slices.Sorted(maps.Keys(full)); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
		bare := members(t, event.Event{Name: name})
		if got, want := slices.Sorted(maps.Keys(bare)), slices.Sorted(slices.Values(append([]string{"event", "ts"}, kind.Then.Required...))); !slices.Equal(got, want) {
			t.Errorf("an empty %s has %v, want %v", name, got, want)
		}
		for _, e := range []map[string]any{full, bare} {
			if err := s.Validate(e); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if seen != len(event.Names) {
		t.Errorf("the schema has %d of %d events", seen, len(event.Names))
	}
}

func members(t *testing.T, e event.Event) map[string]any {
	t.Helper()
	line, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, line).(map[string]any)
}

// TestWhatRealClientsLeftIsValid, and what a reader must not meet is not.
func TestWhatRealClientsLeftIsValid(t *testing.T) {
	s := compiled(t, schema.CSDEvent)
	samples, err := filepath.Glob("../csd/hook/testdata/*/events.jsonl")
	if err != nil || len(samples) != 3 {
		t.Fatal(samples, err)
	}
	for _, sample := range samples {
		text, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			n++
			if err := s.Validate(asJSON(t, []byte(line))); err != nil {
				t.Errorf("%s: %s: %v", sample, line, err)
			}
		}
		if n < 5 {
			t.Errorf("%s has %d lines", sample, n)
		}
	}
	for _, line := range []string{
		`{}`, `[]`, `{"event":"stop"}`, `{"event":7,"ts":"2026-11-30T10:00:00Z"}`, `{"event":"stop","ts":"2026-11-30T10:00:00+01:00"}`,
		`{"event":"pre_tool_use","ts":"2026-11-30T10:00:00Z","tool":"Bash"}`, `{"event":"pre_tool_use","ts":"2026-11-30T10:00:00Z","tool":"Bash","tool_input":"x"}`,
		`{"event":"stop","ts":"2026-11-30T10:00:00Z","error":{"type":"boredom","message":""}}`, `{"event":"stop","ts":"2026-11-30T10:00:00Z","harness":"emacs"}`,
	} {
		if err := s.Validate(asJSON(t, []byte(line))); err == nil {
			t.Errorf("%s is valid", line)
		}
	}
	if err := s.Validate(asJSON(t, []byte(`{"event":"of_tomorrow","ts":"2026-11-30T10:00:00Z","more":1}`))); err != nil {
		t.Errorf("what a newer csd may write: %v", err)
	}
}
