package csd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/hook"
	"github.com/sessevents/sessevents/internal/fakeharness"
	"github.com/sessevents/sessevents/internal/proc"
)

// TestMain makes this binary every program that csd needs: the clients, the hook, and what a pane runs.
func TestMain(m *testing.M) {
	if status, is := fakeharness.Ran(); is {
		os.Exit(status)
	}
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case hook.Word:
			if os.Getenv("RIG_NO_STOP") != "" && stopHook() {
				os.Exit(0)
			}
			hook.Main(os.Args[2:])
			os.Exit(0)
		case csd.ExecWord:
			fmt.Fprintln(os.Stderr, csd.Exec(os.Args[2], os.Environ()))
			os.Exit(127)
		}
	}
	flag.Parse()
	// They mostly wait for each other's processes: two at a time, as on a machine of two processors, would take minutes.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// stopHook reports whether this hook is to tell of the end of a turn: RIG_NO_STOP loses those.
func stopHook() bool {
	told, err := io.ReadAll(os.Stdin)
	again, in, pipe := os.Pipe()
	if errors.Join(err, pipe) != nil {
		panic(errors.Join(err, pipe))
	}
	go func() { // ends when the hook has read it, or with the process
		_, _ = in.Write(told)
		_ = in.Close()
	}()
	os.Stdin = again
	return bytes.Contains(told, []byte(`"Stop"`))
}

// rig is a world for workers: a home, a tmux server, fake clients, and a fleet over them.
type rig struct {
	*testing.T
	dir   string // short, since it holds sockets
	home  string
	work  string
	env   map[string]string
	notes *notes
}

// notes is what a fleet told a person.
type notes struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.String()
}

// patience is for everything that comes by itself; nothing waits for it to pass.
const patience = 60 * time.Second

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	return newQuietRig(t)
}

// newQuietRig is a rig for a test that changes the environment of this process, and so runs alone.
func newQuietRig(t *testing.T) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "csd")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), notes: &notes{}}
	for _, d := range []string{r.home, r.work, filepath.Join(dir, "bin")} {
		r.must(os.Mkdir(d, 0o700))
	}
	fakeharness.Install(t, filepath.Join(dir, "bin"))
	fakeharness.SeedClaude(t, r.home, r.work)
	r.must(os.MkdirAll(filepath.Join(r.home, ".claude"), 0o700))
	r.must(os.WriteFile(filepath.Join(r.home, ".claude", ".claude-session-driver-consent"), nil, 0o600))
	r.env = map[string]string{
		"HOME": r.home, "PATH": filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "TMUX_TMPDIR": dir, "CSD_WORKER_DIR": filepath.Join(dir, "workers"),
		"SHELL": "/bin/sh", "LANG": "C.UTF-8", "TERM": "xterm-256color", "TMPDIR": dir, "IS_SANDBOX": "1",
		"GORACE": os.Getenv("GORACE"), "CSD_SUBMIT_TIMEOUT": "30", "CSD_SUBMIT_RETRY_INTERVAL": "0.5", "CSD_REGISTER_TIMEOUT": "30",
	}
	t.Cleanup(func() {
		r.with("TMUX_TMPDIR", dir) // a test may have changed it
		clients, _ := r.tmux("list-panes", "-a", "-F", "#{pane_pid}").Output()
		_ = r.tmux("kill-server").Run() // there may be none
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, word := range strings.Fields(string(clients)) { // they write until they end
			pid, _ := strconv.Atoi(word)
			r.must(proc.WaitExit(ctx, pid))
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// with sets variables of the caller, such as a knob of the fake client; in pairs.
func (r *rig) with(pairs ...string) *rig {
	for p := range slices.Chunk(pairs, 2) {
		r.env[p[0]] = p[1]
	}
	return r
}

func (r *rig) environ() (list []string) {
	for name, value := range r.env {
		list = append(list, name+"="+value)
	}
	return list
}

// fleet is the workers as a call of csd sees them now.
func (r *rig) fleet() *csd.Fleet {
	r.Helper()
	exe, err := os.Executable()
	r.must(err)
	env := maps.Clone(r.env)
	f, err := csd.Open(csd.Options{Getenv: func(name string) string { return env[name] }, Environ: r.environ(), Exe: exe, Notes: r.notes})
	r.must(err)
	return f
}

func (r *rig) tmux(words ...string) *exec.Cmd {
	cmd := exec.Command("tmux", words...)
	cmd.Env = r.environ()
	return cmd
}

// endServer ends the tmux server. The kill-server command ends before its server has, which would take the next one for
// its own.
func (r *rig) endServer() {
	r.Helper()
	out, err := r.tmux("display-message", "-p", "#{pid}").Output()
	r.must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	r.must(err)
	r.must(r.tmux("kill-server").Run())
	r.must(proc.WaitExit(r.Context(), pid))
}

// elsewhere is the caller in another place, where tmux talks to another server. back is the first place.
func (r *rig) elsewhere(name string) (back func()) {
	r.Helper()
	other, here := filepath.Join(r.dir, name), r.env["TMUX_TMPDIR"]
	if os.Mkdir(other, 0o700) == nil {
		r.Cleanup(func() {
			cmd := r.tmux("kill-server")
			cmd.Env = append(cmd.Env, "TMUX_TMPDIR="+other)
			_ = cmd.Run() // there may be none
		})
	}
	r.with("TMUX_TMPDIR", other)
	return func() { r.with("TMUX_TMPDIR", here) }
}

// launch starts a worker that must start.
func (r *rig) launch(kind, name string) *csd.Worker {
	r.Helper()
	_, err := r.fleet().Launch(r.Context(), csd.LaunchOptions{Name: name, Dir: r.work, Harness: kind})
	r.must(err)
	return r.worker(name)
}

// remembering launches a worker that is told a word to remember, and returns its session id.
func (r *rig) remembering(kind, name, word string) (id string) {
	r.Helper()
	r.launch(kind, name)
	r.converse(name, "REMEMBER "+word)
	id, err := r.worker(name).SessionID()
	r.must(err)
	return id
}

func (r *rig) worker(name string) *csd.Worker {
	r.Helper()
	w, err := r.fleet().Worker(name)
	r.must(err)
	return w
}

// converse says something to a worker that must answer.
func (r *rig) converse(name, prompt string) string {
	r.Helper()
	answer, err := r.worker(name).Converse(r.Context(), prompt, csd.ConverseOptions{Timeout: patience})
	r.must(err)
	return answer.Text
}

func (r *rig) state(name string) string {
	r.Helper()
	s, err := r.worker(name).Status(r.Context(), false)
	r.must(err)
	return s.State
}

// events are those of a worker so far.
func (r *rig) events(name string) (list []event.Event) {
	r.Helper()
	path, err := r.worker(name).EventsFile()
	r.must(err)
	for line, err := range event.Forward(path, 0) {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		r.must(err)
		e, err := event.Parse(line.Raw)
		r.must(err)
		list = append(list, e)
	}
	return list
}

func (r *rig) count(name string, what event.Name) (n int) {
	r.Helper()
	for _, e := range r.events(name) {
		if e.Name == what {
			n++
		}
	}
	return n
}

// eventually waits for what another process does and nothing announces.
func (r *rig) eventually(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("waited in vain for %s", what)
		}
	}
}

// client is the process of a worker's client.
func (r *rig) client(name string) int {
	r.Helper()
	out, err := r.tmux("display-message", "-p", "-t", "="+name+":", "#{pane_pid}").Output()
	r.must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	r.must(err)
	return pid
}

// files are the paths below the workers' folder.
func (r *rig) files() (list []string) {
	r.Helper()
	root := r.env["CSD_WORKER_DIR"]
	r.must(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if path == root && errors.Is(err, os.ErrNotExist) {
			return nil // no worker was ever launched
		}
		if err != nil {
			return err
		}
		if rel, _ := filepath.Rel(root, path); !d.IsDir() {
			list = append(list, rel)
		}
		return nil
	}))
	return list
}

func (r *rig) sessions() []string {
	out, err := r.tmux("list-sessions", "-F", "#{session_name}").Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

// fails checks how a call failed.
func (r *rig) fails(err error, kind csd.Kind, words string) {
	r.Helper()
	if err == nil || csd.KindOf(err) != kind || !strings.Contains(err.Error(), words) {
		r.Errorf("kind %d, %v; want %d and %q", csd.KindOf(err), err, kind, words)
	}
}

func (r *rig) writeJSON(path string, v any) {
	r.Helper()
	b, err := json.Marshal(v)
	r.must(err)
	r.must(os.MkdirAll(filepath.Dir(path), 0o700))
	r.must(os.WriteFile(path, b, 0o600))
}

// hints checks what a failed call tells a user to do.
func (r *rig) hints(err error, words string) {
	r.Helper()
	var ours *csd.Error
	if !errors.As(err, &ours) || !strings.Contains(ours.Hint, words) {
		r.Errorf("%v has no hint with %q: %+v", err, words, ours)
	}
}
