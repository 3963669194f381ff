package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/internal/fakeharness"
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

// place is surroundings for a test in Go.
type place struct {
	*testing.T
	*surroundings
	ids map[string]string // that were seen, and what stands for them
}

func newPlace(t *testing.T) *place {
	t.Helper()
	bin := t.TempDir()
	fakeharness.Install(t, bin)
	w, err := newWorld(t.TempDir(), bin+":"+os.Getenv("PATH")) // csd itself is on the PATH of TestMain
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.tearDown)
	return &place{t, w, map[string]string{}}
}

// sh runs commands that must succeed and returns what they print.
func (p *place) sh(script string) string {
	p.Helper()
	out, err := p.command("sh", "-ec", script).Output()
	if err != nil {
		var words []byte
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			words = e.Stderr
		}
		p.Fatalf("%s\n%v\n%s", script, err, words)
	}
	return string(out)
}

// eventually runs commands until they succeed.
func (p *place) eventually(script string) {
	p.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		out, err := p.command("sh", "-ec", script).CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			p.Fatalf("waited in vain for\n%s\n%s", script, out)
		}
	}
}

// varying are the parts of an output that are others in each run, and what stands for them.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-11-30T14:02:11Z"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT(\d\d-\d\d-\d\d)-\d+Z`), "2026-11-30T$1-000Z"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d`), "2026-11-30T14-02-11"},
	{regexp.MustCompile(`sessions/\d{4}/\d\d/\d\d/`), "sessions/2026/11/30/"},
	{regexp.MustCompile(`"id": "\w+"`), `"id": "b4c0ffee1"`},
	{regexp.MustCompile(`"tool_use_id":"\w+"`), `"tool_use_id":"toolu_01"`},
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// normal puts what stays the same in the place of ids, times and paths. Each id stays another one than the others.
func (p *place) normal(text string) string {
	csd, err := exec.LookPath("csd")
	if err != nil {
		p.Fatal(err)
	}
	dashes := strings.NewReplacer("/", "-", ".", "-", "_", "-")
	text = strings.NewReplacer(
		csd, "/usr/local/bin/csd", p.run+"/workers", "/tmp/csd-workers", fmt.Sprintf("%s/tmux-%d", p.run, os.Getuid()), "/tmp/tmux-1000",
		p.dir+"/home", "/home/ann", p.dir+"/src", "/srv/src", dashes.Replace(p.dir+"/home"), "-home-ann", dashes.Replace(p.dir+"/src"), "-srv-src",
	).Replace(text)
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return uuid.ReplaceAllStringFunc(text, func(id string) string {
		if p.ids[id] == "" {
			p.ids[id] = fmt.Sprintf("%08x-7a0e-4e53-9f3c-0d6f6f6d1c11", 0x8b0c5a52+0x1021f003*len(p.ids))
		}
		return p.ids[id]
	})
}
