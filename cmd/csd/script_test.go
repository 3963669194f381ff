package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessevents/sessevents/cmd/internal/script"
	"github.com/sessevents/sessevents/internal/fakeharness"
)

// TestMain makes this test binary csd, or one of the clients, where it is called by its name: scripts run csd as a
// process of its own, and so do shims, hooks and panes.
func TestMain(m *testing.M) {
	if status, is := fakeharness.Ran(); is {
		os.Exit(status)
	}
	if filepath.Base(os.Args[0]) != "csd" { // this is the test, and not the program that it runs
		flag.Parse()
		// They mostly wait for each other's processes: two at a time, as on a machine of two processors, would take minutes.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	testscript.Main(m, map[string]func(){"csd": main})
}

// patience is how long a test waits for something that has to come: long, because a busy machine is not a fault.
const patience = 90 * time.Second

// TestScripts runs the stories of testdata/script, each in a world of its own: home, workers, tmux server, clients.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	fakeharness.Install(t, bin)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               func(env *testscript.Env) error { return setUpScript(env, bin) },
		Cmds:                script.Commands(inherited),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(6 * patience),
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// inherited are the variables that a program in the background gets.
var inherited = []string{
	"PATH", "HOME", "TMPDIR", "WORK", "SHELL", "LANG", "TERM", "IS_SANDBOX", "TMUX_TMPDIR", "CSD_WORKER_DIR", "CSD_SUBMIT_RETRY_INTERVAL",
	"CSD_CONVERSE_DIAG_FILE", "GORACE", "GOCOVERDIR",
}

func setUpScript(env *testscript.Env, bin string) error {
	script.SetUp(env)
	w, err := newWorld(env.WorkDir, bin+":"+env.Getenv("PATH"))
	if err != nil {
		return err
	}
	for _, pair := range w.environ {
		name, value, _ := strings.Cut(pair, "=")
		env.Setenv(name, value)
	}
	recovering, err := filepath.Abs("../../examples/recover-workers.sh")
	if err != nil {
		return err
	}
	env.Setenv("RECOVER", recovering)
	env.Setenv("RUN", w.run)
	env.Setenv("W", filepath.Join(w.run, "workers", "bin"))
	env.Defer(w.tearDown)
	return nil
}
