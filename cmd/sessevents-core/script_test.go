package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessevents/sessevents/cmd/internal/front"
	"github.com/sessevents/sessevents/cmd/internal/script"
)

// TestMain makes this test binary either program where it is called by its name, so that the scripts run both as
// processes of their own, one beside the other as they are installed.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sessevents":      called,
		"sessevents-core": main,
		"inbox":           playInbox,
		"hold":            holdSocket,
		"homeless":        runHomeless,
	})
}

// called is the program that was started as sessevents; a process that became the second one keeps that name.
func called() {
	if self, err := os.Executable(); err == nil && filepath.Base(self) == front.Core {
		main()
	}
	os.Exit(front.Main())
}

// TestScripts runs the stories of testdata/script. Each has a folder and a runtime directory of its own, and nothing
// of the environment of whoever runs the tests. Commands beyond those of testscript are in cmd/internal/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setUpScript,
		Cmds:                script.Commands(inherited),
		Condition:           scriptCondition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(6 * patience),
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// patience is how long a script waits for something that has to come: long, because a busy machine is not a fault.
const patience = 90 * time.Second

// inherited are the variables that a program in the background gets, as far as a script has set them.
var inherited = []string{
	"PATH", "HOME", "TMPDIR", "WORK", "RUN", "GORACE", "GOCOVERDIR", "GOTRACEBACK", "SESSION_EVENTS_DIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_TMPDIR", "CLAUDE_PID",
}

// scriptCondition knows [root]: some stories need a second user.
func scriptCondition(cond string) (bool, error) {
	if cond == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

func setUpScript(env *testscript.Env) error {
	// Not inside the script's folder: a socket's path has at most 103 bytes.
	run, err := os.MkdirTemp("", "se")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(run) })
	env.Setenv("SESSION_EVENTS_DIR", run)
	env.Setenv("RUN", run)
	env.Setenv("HOME", env.WorkDir+"/home")
	script.SetUp(env)
	return nil
}
