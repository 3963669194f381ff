// Package schema holds the JSON Schemas of a spec and of an event, for editors and for readers of the log. They are
// made from the tables of package specs; a test proves them equal.
package schema

import _ "embed"

// Spec is the JSON Schema of a spec.
//
//go:embed spec.schema.json
var Spec []byte

// Event is the JSON Schema of a line of the event log.
//
//go:embed event.schema.json
var Event []byte
