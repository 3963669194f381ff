package sessevents_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sessevents/sessevents"

// floors are the packages of the house from the ground up: a package imports only from lower floors. A pattern is
// one of path.Match. docs/architecture.md says what each is for.
var floors = [][]string{
	{"internal/plainfile"},
	{"internal/atomicfile", "internal/proc", "internal/procgroup", "internal/value", "internal/modelstub", "internal/lines", "internal/specfile", "internal/rawfile", "internal/unixsocket", "internal/shellwords", "internal/parallel", "internal/httpbench"},
	{
		"internal/tail", "internal/realclient", "internal/fakeharness", "engine/eventlog", "engine/state", "engine/rundir",
		"engine/inbox", "csd/event", "csd/tmux", "csd/transcript",
	},
	{"fetchers", "engine/control", "csd/store"},
	{"engine/control/server"},
	{"engine", "csd/hook", "csd/harness"},
	{"specs", "csd"},
	{"schema", "examples"},
	{"cmd/internal/build", "cmd/internal/reader"},
	{"cmd/internal/client", "cmd/internal/complete"},
	{"cmd/internal/*"},
	{"cmd/*"},
}

// homes are the only packages that may import what is behind them; tests may everywhere.
var homes = map[string][]string{
	"gopkg.in/yaml.v3":             {"specs"},
	"github.com/itchyny/gojq":      {"specs", "cmd/internal/script"},
	"github.com/expr-lang/expr":    {"specs"},
	"github.com/alecthomas/kong":   {"cmd/*", "cmd/internal/*"},
	"github.com/fsnotify/fsnotify": {"engine", "internal/tail", "csd"},
	"golang.org/x/net":             {"fetchers"},
}

type pkg struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func TestFloors(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name == module { // this test
			continue
		}
		seen++
		floor := floorOf(name)
		if floor < 0 {
			t.Errorf("%s stands on no floor: add it to the list, and to docs/architecture.md", name)
			continue
		}
		for _, imported := range p.Imports {
			if below, ok := strings.CutPrefix(imported, module+"/"); ok && floorOf(below) >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d)", name, floor, below, floorOf(below))
			}
			for root, allowed := range homes {
				if (imported == root || strings.HasPrefix(imported, root+"/")) && !matches(allowed, name) {
					t.Errorf("%s imports %s, whose home is %s", name, imported, strings.Join(allowed, ", "))
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

func floorOf(name string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return matches(floor, name) })
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// unlinked is what small programs must not hold, since each of these costs every start of one something before main
// begins: docs/decisions/006 and 065.
var unlinked = map[string][]string{
	"cmd/sessevents": {
		"net", "regexp", "os/exec", "crypto/tls", "text/template", "gopkg.in/yaml.v3", "github.com/alecthomas/kong",
		"github.com/itchyny/gojq", "github.com/expr-lang/expr", module + "/specs", module + "/engine",
	},
	"cmd/csd-hook": {"net", "regexp", "os/exec", "crypto/tls", "text/template", "github.com/alecthomas/kong", "github.com/fsnotify/fsnotify"},
}

func TestWhatSmallProgramsDoNotLink(t *testing.T) {
	for program, left := range unlinked {
		out, err := exec.Command("go", "list", "-deps", "./"+program).Output()
		if err != nil {
			t.Fatal(err)
		}
		linked := strings.Fields(string(out))
		if len(linked) < 50 {
			t.Fatalf("%s: only %d packages are listed", program, len(linked))
		}
		for _, p := range left {
			if slices.Contains(linked, p) {
				t.Errorf("%s links %s", program, p)
			}
		}
	}
}
