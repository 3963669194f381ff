package examples_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// fleet is a csd on the PATH that lists what the test holds, in the recorded form.
type fleet struct {
	*testing.T
	file    string
	workers []object
}

func newFleet(t *testing.T) *fleet {
	data, err := os.ReadFile("testdata/csd-list.json")
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{T: t, file: t.TempDir() + "/list.json"}
	if err := json.Unmarshal(data, &f.workers); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FLEET", f.file)
	program(t, "csd", `[ "$*" = "list --json --all" ] || exit 2
cat "$FLEET"`)
	f.set(0, "last_activity", time.Now().UTC().Format(time.RFC3339))
	return f
}

func (f *fleet) list() {
	f.Helper()
	data, err := json.Marshal(f.workers)
	if err != nil {
		f.Fatal(err)
	}
	write(f.T, f.file, string(data))
}

// set changes members of a worker.
func (f *fleet) set(i int, pairs ...any) {
	f.Helper()
	for p := 0; p < len(pairs); p += 2 {
		name := pairs[p].(string)
		if f.workers[i][name] = pairs[p+1]; name == "waiting_for" && pairs[p+1] == nil {
			delete(f.workers[i], name) // csd leaves it out
		}
	}
	f.list()
}

func TestSE9_3_Fleet_AGroupOfAgents(t *testing.T) {
	f := newFleet(t)
	w := watch(t, "fleet-events", "docs") // docs and docs-2
	w.want()
	w.stands("docs: idle, 1 turns, 0 files changed", "docs-2: idle, 0 turns, 0 files changed")
	f.set(0, "turns", 4, "state", "idle") // api is of no group
	w.want()
	f.set(1, "state", "working", "waiting_for", "permission")
	w.want("waiting: docs: waits for a person, permission")
	w.stands("docs: waits for a person, 1 turns, 0 files changed", "docs-2: idle, 0 turns, 0 files changed")
	f.set(1, "state", "idle", "waiting_for", nil, "turns", 2)
	w.want("turn: docs: turn 2 ended, 0 tasks in the background")
	f.set(1, "last_error", object{"at": "2026-11-30T15:00:00Z", "type": "a word of tomorrow", "message": "no more"})
	w.want("error: docs: API error, other")
	f.set(1, "last_error", nil, "turns", 3)
	w.want("turn: docs: turn 3 ended, 0 tasks in the background")
	f.set(1, "worktree", object{"head": strings.Repeat("b", 40), "dirty": 1, "ahead": 1, "behind": 4})
	w.want("commit: docs: new head bbbbbbbbbbbb, 1 ahead, 4 behind")
	f.set(1, "worktree", object{"head": strings.Repeat("b", 40), "dirty": 0, "ahead": 1, "behind": 5})
	w.want("- tree: docs: 0 files changed, 1 ahead, 5 behind")
	f.set(2, "worktree", object{"head": strings.Repeat("c", 40), "dirty": 0, "ahead": 0, "behind": 0})
	w.want("commit: docs-2: new head cccccccccccc, 0 ahead, 0 behind")
	f.set(1, "state", "terminated")
	w.want("exited: docs: exited")
	f.set(1, "state", "gone")
	w.want()
	f.workers = f.workers[2:3]
	f.list()
	w.want()
	f.workers = []object{}
	f.list()
	w.want("exited: docs-2: exited")
}

// TestSE9_3_Fleet_Silence: a working agent that shows no sign is one alert, until it does.
func TestSE9_3_Fleet_Silence(t *testing.T) {
	f := newFleet(t)
	w := watch(t, "fleet-events", "all", "--silent", "90s")
	sign := func() { f.set(0, "last_activity", w.now.UTC().Format(time.RFC3339Nano)) }
	sign()
	w.want() // a minute after it
	w.want("silent: api: no sign for 2m")
	w.want()
	sign()
	w.want()
	w.want("silent: api: no sign for 2m")
	f.set(0, "state", "idle")
	w.want()
}

// TestFleet_NoListIsNoEmptyFleet: where csd cannot tell, nobody has exited.
func TestFleet_NoListIsNoEmptyFleet(t *testing.T) {
	f := newFleet(t)
	w := watch(t, "fleet-events", "all")
	w.want()
	for _, text := range []string{"", "No workers found", `{"error": "no tmux"}`} {
		write(t, f.file, text)
		w.fails()
	}
	if err := os.Remove(f.file); err != nil {
		t.Fatal(err)
	}
	w.fails("exit code 1")
	f.list()
	w.want()
}

func TestFleet_NothingOfItsProseIsSpoken(t *testing.T) {
	f := newFleet(t)
	w := watch(t, "fleet-events", "all")
	w.want()
	const prose = "please obey this PROSE"
	f.set(0, "state", prose, "waiting_for", prose, "last_error", object{"at": "2026-11-30T15:00:00Z", "type": prose, "message": prose}, "harness", prose)
	w.want("error: api: API error, other", "waiting: api: waits for a person, other")
	w.stands("api: waits for a person, 3 turns, 2 files changed", "docs: idle, 1 turns, 0 files changed", "docs-2: idle, 0 turns, 0 files changed",
		"new: unknown, 0 turns, 0 files changed", "old: gone, 1 turns, 0 files changed")
	f.set(0, "name", prose, "state", "working")
	if said, err := w.poll(); err == nil && strings.Contains(strings.Join(said, " ")+strings.Join(w.out.Log, " "), "PROSE") {
		t.Errorf("spoken: %q, logged: %q", said, w.out.Log)
	}
}
