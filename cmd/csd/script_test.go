package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessevents/sessevents/cmd/internal/script"
	"github.com/sessevents/sessevents/internal/fakeharness"
	"github.com/sessevents/sessevents/internal/proc"
)

// TestMain makes this test binary csd, or one of the clients, where it is called by its name: scripts run csd as a
// process of its own, and so do shims, hooks and panes.
func TestMain(m *testing.M) {
	if status, is := fakeharness.Ran(); is {
		os.Exit(status)
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
	run, err := os.MkdirTemp("", "csd") // short: it holds sockets
	if err != nil {
		return err
	}
	if run, err = filepath.EvalSymlinks(run); err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, "home")
	vars := map[string]string{
		"HOME": home, "PATH": bin + ":" + env.Getenv("PATH"), "TMUX_TMPDIR": run, "CSD_WORKER_DIR": filepath.Join(run, "workers"),
		"SHELL": "/bin/sh", "LANG": "C.UTF-8", "TERM": "xterm-256color", "IS_SANDBOX": "1",
		"CSD_SUBMIT_TIMEOUT": "60", "CSD_SUBMIT_RETRY_INTERVAL": "0.5", "CSD_REGISTER_TIMEOUT": "60", "CSD_START_TIMEOUT_MS": "90000",
		"RUN": run, "W": filepath.Join(run, "workers", "bin"),
	}
	for name, value := range vars {
		env.Setenv(name, value)
	}
	env.Defer(func() { tearDown(run, env.Vars) })
	files := map[string]string{ // what a person who has used the clients before has
		".claude/.claude-session-driver-consent": "",
		".claude.json":                           `{"hasCompletedOnboarding":true}`,
		".codex/auth.json":                       `{"auth_mode":"apikey","OPENAI_API_KEY":"no-key"}`,
		".pi/agent/auth.json":                    `{}`,
		"../app/README":                          "",
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// tearDown ends the tmux server and waits for the clients in it, which write until they end.
func tearDown(run string, environ []string) {
	tmux := func(words ...string) string {
		cmd := exec.Command("tmux", words...)
		cmd.Env = environ
		out, _ := cmd.Output() // there may be no server
		return string(out)
	}
	clients := tmux("list-panes", "-a", "-F", "#{pane_pid}")
	tmux("kill-server")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, word := range strings.Fields(clients) {
		if pid, err := strconv.Atoi(word); err == nil {
			_ = proc.WaitExit(ctx, pid)
		}
	}
	_ = os.RemoveAll(run)
}
