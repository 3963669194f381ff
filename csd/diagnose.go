package csd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/internal/atomicfile"
	"github.com/sessevents/sessevents/internal/proc"
)

// How much of each thing a diagnosis holds.
const (
	diagProcesses  = 100
	diagHistory    = 200
	diagTranscript = 30
	diagEvents     = 20
	diagTime       = 10 * time.Second
)

// diagnosed writes down what is to be seen of the worker, where CSD_CONVERSE_DIAG_FILE says, and adds the path to the
// error. A thing that cannot be looked at says so in its place.
func (w *Worker) diagnosed(ctx context.Context, err error, reason string) error {
	path := w.fleet.Getenv("CSD_CONVERSE_DIAG_FILE")
	var ours *Error
	if path == "" || !errors.As(err, &ours) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagTime)
	defer cancel()
	if write := writeDiagnosis(path, w.diagnosis(ctx, reason)); write != nil {
		w.fleet.note("note: no diagnosis: %v", write)
		return err
	}
	told := *ours
	told.Text += "\ncsd-diagnostic: " + path
	return &told
}

func writeDiagnosis(path string, data []byte) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(abs, data)
}

// diagnosis is a text for a person.
func (w *Worker) diagnosis(ctx context.Context, reason string) []byte {
	var b bytes.Buffer
	section := func(title string, lines []string, err error) {
		fmt.Fprintf(&b, "\n## %s\n", title)
		if err != nil {
			fmt.Fprintf(&b, "(not to be had: %v)\n", err)
		}
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
	}
	fmt.Fprintf(&b, "reason: %s\nat: %s\nworker: %s\nharness: %s\nsession_id: %s\ncwd: %s\ntranscript: %s\nevents: %s\n", reason,
		w.fleet.Now().UTC().Format(time.RFC3339), w.name, w.meta.Harness, w.meta.SessionID, w.meta.CWD, w.transcript(), w.events())
	pane, err := w.server().Pane(ctx, w.name)
	processes, tableErr := processLines(pane.PID)
	section("processes", processes, errors.Join(err, tableErr))
	text, err := w.server().Capture(ctx, pane.Target(), diagHistory)
	section("terminal", lastOf(strings.Split(strings.TrimRight(text, "\n "), "\n"), diagHistory), err)
	lines, err := lastLines(w.transcript(), diagTranscript)
	section("transcript", lines, err)
	lines, err = lastLines(w.events(), diagEvents)
	section("events", lines, err)
	return b.Bytes()
}

func processLines(pid int) (lines []string, err error) {
	table, err := proc.Table()
	if err != nil || pid == 0 {
		return nil, err
	}
	lines = append(lines, "pid parent group name")
	for _, p := range append([]proc.Process{{PID: pid, Name: "(the client)"}}, proc.Tree(table, pid)...) {
		lines = append(lines, fmt.Sprintf("%d %d %d %s", p.PID, p.Parent, p.Group, p.Name))
	}
	return lastOf(lines, diagProcesses), nil
}

// lastLines are the last lines of a file of JSON lines.
func lastLines(path string, n int) (lines []string, err error) {
	for line, err := range event.Backward(path) {
		if err != nil {
			return nil, err
		}
		if lines = append(lines, string(line.Raw)); len(lines) == n {
			break
		}
	}
	slices.Reverse(lines)
	return lines, nil
}

func lastOf(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }
