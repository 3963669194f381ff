package store

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sessevents/sessevents/internal/atomicfile"
)

// Marker says which harness a worker has. It is written at the launch, when a codex or pi worker has no session yet.
type Marker struct{ Name, Harness string }

// Mark writes the marker of a worker.
func (r *Root) Mark(name, harness string) error {
	if !ValidName(name) {
		return fmt.Errorf("mark worker: %q is no name of a worker", name)
	}
	if harness != "codex" && harness != "pi" {
		return fmt.Errorf("mark worker %q: no marker says %q", name, harness)
	}
	return atomicfile.Write(r.file(name+markerEnd), []byte(harness+"\n"))
}

// MarkerOf returns the harness that the marker of a worker names.
func (r *Root) MarkerOf(name string) (harness string, ok bool) {
	if !ValidName(name) {
		return "", false
	}
	data, err := readFile(r.file(name+markerEnd), 64)
	harness = strings.TrimSpace(string(data))
	return harness, err == nil && (harness == "codex" || harness == "pi")
}

func removeAll(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
