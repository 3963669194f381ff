package realclient

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"
)

// Home is the private world of one client: every folder that it would take from the user or the machine.
type Home struct {
	// Dir holds all the others. Its name is short, because names of sockets are short.
	Dir string
	// User is HOME, Work the folder that the client works in, Run XDG_RUNTIME_DIR, Tmp TMPDIR.
	User, Work, Run, Tmp string
}

// NewHome makes an empty home. At the end of the test it ends what still runs with this home in its environment,
// which is a fault of the test, and removes the folders.
func NewHome(t testing.TB) *Home {
	t.Helper()
	dir, err := os.MkdirTemp("", "rc")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // clients resolve their folders, and show what they got
		t.Fatal(err)
	}
	h := &Home{
		Dir: dir, User: filepath.Join(dir, "home"), Work: filepath.Join(dir, "work"),
		Run: filepath.Join(dir, "run"), Tmp: filepath.Join(dir, "tmp"),
	}
	for _, d := range []string{h.User, h.Work, h.Run, h.Tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		h.endAll(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the home of a client: %v", err)
		}
	})
	return h
}

// Env is the whole environment of a program in this home, with more added: nothing comes from outside but the
// search path.
func (h *Home) Env(more map[string]string) []string {
	env := map[string]string{
		"HOME": h.User, "XDG_RUNTIME_DIR": h.Run, "TMPDIR": h.Tmp, "PWD": h.Work,
		"GORACE": os.Getenv("GORACE"), "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/bash", "USER": "tester",
	}
	for name, value := range more {
		env[name] = value
	}
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	sort.Strings(out)
	return out
}

// WriteJSON puts v into a file of the home, whose folders it makes.
func (h *Home) WriteJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	h.WriteFile(t, path, string(b)+"\n")
}

// WriteFile puts text into a file of the home, whose folders it makes.
func (h *Home) WriteFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// endAll kills what still has this home in its environment, a while after it was told to end.
func (h *Home) endAll(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	left := h.Processes()
	for len(left) > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond) // there is no event for the end of another's child
		left = h.Processes()
	}
	for _, p := range left {
		t.Errorf("left behind: process %d: %s", p.PID, p.Command)
		if proc, err := os.FindProcess(p.PID); err == nil {
			_ = proc.Kill() // it may end by itself just now
		}
	}
}

// Process is one process of a home.
type Process struct {
	PID     int
	Command string
}
