package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

const listSample = "../../examples/testdata/csd-list.json"

// TestList_IsWhatTheSpecForFleetsIsTestedWith makes the recorded list of the examples anew, out of real workers of
// each client, and compares. UPDATE_DOCS=1 writes it down.
func TestList_IsWhatTheSpecForFleetsIsTestedWith(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	p := newPlace(t)
	p.environ = append(p.environ, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=ann",
		"GIT_COMMITTER_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=2026-11-01T08:00:00Z", "GIT_COMMITTER_DATE=2026-11-01T08:00:00Z")
	p.sh(`
		mkdir src && cd src
		git init -q -b main api && cd api && git commit -q --allow-empty -m one
		git clone -q . ../docs && for n in 1 2 3 4; do git commit -q --allow-empty -m $n; done
		git -C ../docs fetch -q && git checkout -q --track -b api-limits main && git commit -q --allow-empty -m two && touch a b
		cd .. && mkdir notes
		csd launch api api && csd launch --harness codex docs docs && csd launch --harness pi docs-2 notes && csd launch --harness codex new notes && csd launch old notes
		W=$CSD_WORKER_DIR/bin
		$W/old converse hello && tmux kill-session -t =old
		$W/api converse one && $W/api converse two && printf 'BG sleep 1000\nANSWER it runs' | $W/api converse -
		$W/api send HANG
		! $W/docs converse 'ERR 429'`)
	got := p.normal(p.sh("csd list --json --all"))
	want, err := os.ReadFile(listSample)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	if os.Getenv("UPDATE_DOCS") == "" {
		t.Fatalf("%s is not what csd lists:\n%s", listSample, got)
	}
	if err := os.WriteFile(listSample, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSE9_3_Fleet_OfRealWorkers runs the shipped spec on the program itself: what it makes of a list, the recorded one
// tells; here the list comes about.
func TestSE9_3_Fleet_OfRealWorkers(t *testing.T) {
	p := newPlace(t)
	for _, pair := range p.environ { // the exec fetcher's command has the environment of its daemon
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	set := fetchers.NewSet()
	t.Cleanup(set.Close)
	_, source, found := specs.CheckFile("../../examples/fleet-events.yaml", specs.Options{Fetchers: set.Fetchers()})
	if found.HasErrors() {
		t.Fatal(found)
	}
	target, err := source.ParseTarget([]string{"all"})
	if err != nil {
		t.Fatal(err)
	}
	p.sh("csd launch api app && csd launch --harness codex docs app")
	now := time.Now()
	poll := func(want ...string) {
		t.Helper()
		now = now.Add(time.Minute)
		out, err := source.Poll(t.Context(), target, now)
		if err != nil {
			t.Fatal(err)
		}
		target.Saved = out.Saved
		if out.Committed != nil {
			out.Committed()
		}
		said := []string{}
		for _, e := range out.Events {
			said = append(said, e.Text)
		}
		if !slices.Equal(said, want) && len(said)+len(want) > 0 {
			t.Errorf("said %q, want %q", said, want)
		}
	}
	poll()
	p.sh("$CSD_WORKER_DIR/bin/api converse hello; $CSD_WORKER_DIR/bin/docs converse hello")
	poll("api: turn 1 ended, 0 tasks in the background", "docs: turn 1 ended, 0 tasks in the background")
	p.sh("! $CSD_WORKER_DIR/bin/api converse 'ERR 429'")
	poll("api: API error, rate_limit")
	p.sh("$CSD_WORKER_DIR/bin/api converse hello; printf 'BG sleep 1000\nANSWER ok' | $CSD_WORKER_DIR/bin/docs converse -")
	poll("api: turn 3 ended, 0 tasks in the background", "docs: turn 2 ended, 1 tasks in the background")
	p.sh("! $CSD_WORKER_DIR/bin/api converse 'PERMIT ls'")
	poll("api: waits for a person, permission")
	p.sh("kill -9 $(tmux display-message -p -t =api: '#{pane_pid}'); $CSD_WORKER_DIR/bin/docs stop")
	p.eventually("! tmux has-session -t =api")
	poll("api: exited", "docs: exited")
	p.sh("csd prune")
	poll()
}
