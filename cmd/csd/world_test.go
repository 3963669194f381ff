package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sessevents/sessevents/internal/proc"
)

// surroundings are a home, a folder app to work in, a folder of workers and a tmux server, for csd alone.
type surroundings struct {
	dir, run string // run is short, since it holds sockets
	environ  []string
}

// newWorld makes surroundings in dir, for a person who has used the clients before.
func newWorld(dir, path string) (*surroundings, error) {
	run, err := os.MkdirTemp("", "csd")
	if err != nil {
		return nil, err
	}
	if run, err = filepath.EvalSymlinks(run); err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "home")
	files := map[string]string{
		".claude/.claude-session-driver-consent": "",
		".claude.json":                           `{"hasCompletedOnboarding":true}`,
		".codex/auth.json":                       `{"auth_mode":"apikey","OPENAI_API_KEY":"no-key"}`,
		".pi/agent/auth.json":                    `{}`,
		"../app/README":                          "",
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return &surroundings{dir: dir, run: run, environ: []string{
		"HOME=" + home, "PATH=" + path, "TMUX_TMPDIR=" + run, "CSD_WORKER_DIR=" + filepath.Join(run, "workers"),
		"SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color", "IS_SANDBOX=1", "TMPDIR=" + os.TempDir(),
		"CSD_SUBMIT_TIMEOUT=60", "CSD_SUBMIT_RETRY_INTERVAL=0.5", "CSD_REGISTER_TIMEOUT=60", "CSD_START_TIMEOUT_MS=90000",
	}}, nil
}

// tearDown ends the tmux server and waits for the clients in it, which write until they end.
func (w *surroundings) tearDown() {
	clients, _ := w.command("tmux", "list-panes", "-a", "-F", "#{pane_pid}").Output() // there may be no server
	_ = w.command("tmux", "kill-server").Run()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, word := range strings.Fields(string(clients)) {
		if pid, err := strconv.Atoi(word); err == nil {
			_ = proc.WaitExit(ctx, pid)
		}
	}
	_ = os.RemoveAll(w.run)
}

// command is a program in these surroundings, found on their PATH.
func (w *surroundings) command(argv ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", `exec "$0" "$@"`}, argv...)...)
	cmd.Dir, cmd.Env = w.dir, w.environ
	return cmd
}
