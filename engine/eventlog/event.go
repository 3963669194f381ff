// Package eventlog holds what a daemon says: the event as a value, and its append-only file of JSON lines.
package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Level says whether an event is worth a message.
type Level string

const (
	// Alert is the default: the event is logged and delivered.
	Alert Level = "alert"
	// Note is numbered, logged and counted, and never delivered.
	Note Level = "note"
)

// Event is one thing that happened, in the words of its source.
//
// A source fills Kind, Level, Text, URL and Fields. ID and At belong to the daemon: ids count from 1, are never
// reused and survive restarts; At is UTC, to the second.
type Event struct {
	ID    int64
	At    time.Time
	Kind  string
	Level Level
	Text  string
	URL   string
	// Fields are what the source adds, spoken under their own names. A name that the event itself uses is refused.
	Fields map[string]any
}

// IsAlert reports whether the event is to be delivered: everything that is not a note.
func (e Event) IsAlert() bool { return e.Level != Note }

// own are the members that belong to the event itself.
var own = []string{"id", "at", "kind", "level", "text", "url"}

// Reserved reports whether name belongs to the event itself, so that no source may add a field of that name.
func Reserved(name string) bool { return slices.Contains(own, name) }

// MarshalJSON writes the event as it stands in the log: id and at first, the level only where it is a note, the
// URL only where there is one, and then the source's own fields by name.
func (e Event) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var err error
	put := func(name string, v any) {
		if err != nil {
			return
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err = enc.Encode(name); err != nil {
			return
		}
		b.Truncate(b.Len() - 1) // the encoder's newline
		b.WriteByte(':')
		if err = enc.Encode(v); err != nil {
			return
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('{')
	put("id", e.ID)
	put("at", e.At.UTC().Format(time.RFC3339))
	put("kind", e.Kind)
	if e.Level == Note {
		put("level", e.Level)
	}
	put("text", e.Text)
	if e.URL != "" {
		put("url", e.URL)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		if Reserved(name) {
			return nil, fmt.Errorf("event field %q belongs to the event itself", name)
		}
		put(name, e.Fields[name])
	}
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// errNoID is what a line that is JSON but not an event comes to.
var errNoID = errors.New("not an event: no id")

// UnmarshalJSON reads a line of the log. Members that it does not know become Fields.
func (e *Event) UnmarshalJSON(data []byte) error {
	var line struct {
		ID    int64     `json:"id"`
		At    time.Time `json:"at"`
		Kind  string    `json:"kind"`
		Level Level     `json:"level"`
		Text  string    `json:"text"`
		URL   string    `json:"url"`
	}
	if err := json.Unmarshal(data, &line); err != nil {
		return err
	}
	if line.ID <= 0 {
		return errNoID
	}
	if line.Level == "" {
		line.Level = Alert
	}
	*e = Event{ID: line.ID, At: line.At, Kind: line.Kind, Level: line.Level, Text: line.Text, URL: line.URL}
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		return err
	}
	for _, name := range own {
		delete(all, name)
	}
	if len(all) > 0 {
		e.Fields = all
	}
	return nil
}
