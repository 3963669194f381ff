package examples_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

// watching is one target of one shipped spec, polled by its compiled source with the real fetchers, as a daemon does.
type watching struct {
	*testing.T
	source *specs.Source
	target engine.Target
	now    time.Time
	out    engine.Outcome // of the last poll
}

// watch begins to watch what words name with the spec NAME.yaml. The clock of the test is a minute on at each poll.
func watch(t *testing.T, name string, words ...string) *watching {
	t.Helper()
	set := fetchers.NewSet()
	t.Cleanup(set.Close)
	_, source, found := specs.CheckFile(name+".yaml", specs.Options{Fetchers: set.Fetchers()})
	if len(found) > 0 {
		t.Fatal(written(found))
	}
	target, err := source.ParseTarget(words)
	if err != nil {
		t.Fatalf("watch %q: %v", words, err)
	}
	return &watching{T: t, source: source, target: target, now: time.Now().Truncate(time.Millisecond)}
}

func written(found specs.Diagnostics) string {
	var b strings.Builder
	if err := found.WriteText(&b, false); err != nil {
		return err.Error()
	}
	return b.String()
}

// poll asks the world once and commits. The events are "kind: text", those of level note with a dash in front.
func (w *watching) poll() ([]string, error) {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	out, err := w.source.Poll(w.Context(), w.target, w.now)
	if err != nil {
		return nil, err
	}
	w.out, w.target.Saved = out, out.Saved
	if out.Committed != nil {
		out.Committed()
	}
	var said []string
	for _, e := range out.Events {
		s := e.Kind + ": " + e.Text
		if e.Level == "note" {
			s = "- " + s
		}
		said = append(said, s)
	}
	return said, nil
}

// want polls once, and the events must be these.
func (w *watching) want(events ...string) {
	w.Helper()
	said, err := w.poll()
	if err != nil {
		w.Fatalf("the poll failed: %v", err)
	}
	if got, want := strings.Join(said, "\n  "), strings.Join(events, "\n  "); got != want {
		w.Fatalf("the poll said\n  %s\nwant\n  %s\nsaved %s", got, want, w.target.Saved)
	}
}

// fails polls once: it must fail, and the reason must name each of words.
func (w *watching) fails(words ...string) {
	w.Helper()
	said, err := w.poll()
	if err == nil {
		w.Fatalf("the poll must fail, and said %q", said)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			w.Errorf("the poll failed with %q, which does not name %q", err, word)
		}
	}
}

// stands are the lines under the target in `status`.
func (w *watching) stands(want ...string) {
	w.Helper()
	if got := w.source.Summary(w.target); strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.Errorf("status shows %q, want %q", got, want)
	}
}

// refused tries to watch words, which the source must refuse with reason.
func refused(t *testing.T, name, reason string, words ...string) {
	t.Helper()
	_, source, found := specs.CheckFile(name+".yaml", specs.Options{Fetchers: fetchers.All})
	if found.HasErrors() {
		t.Fatal(written(found))
	}
	if _, err := source.ParseTarget(words); err == nil || !strings.Contains(err.Error(), reason) {
		t.Errorf("watch %q: %v, want a refusal that says %q", words, err, reason)
	}
}

// run runs a command that must succeed, and returns what it prints.
func run(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write makes the file hold text.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// program puts a script on the PATH of the test, before all else.
func program(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/"+name, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
