// Package schema holds the JSON Schemas of a spec, of an event and of a worker's event, for editors and for readers of
// the logs. The first two are made from the tables of package specs, the third one is written by hand; tests prove them
// equal to the program.
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

// CSDEvent is the JSON Schema of a line of a worker's events file.
//
//go:embed csd-event.schema.json
var CSDEvent []byte
