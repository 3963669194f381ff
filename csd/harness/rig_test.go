package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
	"github.com/sessevents/sessevents/internal/modelstub"
	"github.com/sessevents/sessevents/internal/realclient"
)

// TestMain makes this binary stand for csd where a client or a pane calls it: as a hook it notes what came, as a pane's
// process it becomes the client.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "hook":
			noteHook(os.Args[3], os.Args[4])
			return
		case "exec":
			fmt.Fprintln(os.Stderr, become(os.Args[2]))
			os.Exit(127)
		}
	}
	os.Exit(m.Run())
}

// noteHook appends what a hook was told to the notes of its worker, in one write.
func noteHook(root, name string) {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(root, name+".notes"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(strings.TrimSpace(string(b)) + "\n") // a test that misses it fails
	_ = f.Close()
}

func become(file string) error {
	l, err := store.ReadLaunch(file)
	if err != nil {
		return err
	}
	for _, name := range []string{"TMUX", "TMUX_PANE", "TERM"} {
		l.Env = append(l.Env, name+"="+os.Getenv(name))
	}
	if err := os.Chdir(l.Dir); err != nil {
		return err
	}
	return syscall.Exec(l.Argv[0], l.Argv, l.Env)
}

// A client on a loaded machine takes its time.
const (
	startTime = 90 * time.Second
	turnTime  = 90 * time.Second
)

// rig is one worker of a real client with its model, in a network without a way out.
type rig struct {
	Harness
	t      *testing.T
	net    *realclient.Network
	home   *realclient.Home
	model  *modelstub.Server
	root   *store.Root
	server *tmux.Server
	w      Worker
	env    map[string]string
	start  Start
	pane   tmux.Pane
	marks  int // the notes of earlier starts
}

// newRig starts a model and a tmux server. more are variables of the caller's environment.
func newRig(t *testing.T, name string) *rig {
	t.Helper()
	realclient.Find(t, name)
	r := &rig{t: t, net: realclient.NewNetwork(t), home: realclient.NewHome(t), env: map[string]string{}}
	l, err := r.net.Listen()
	r.must(err)
	r.model, err = modelstub.Start(l)
	r.must(err)
	t.Cleanup(r.model.Close)
	r.Harness, err = For(name)
	r.must(err)
	r.setenv("CSD_"+strings.ToUpper(name)+"_BIN", realclient.Find(t, name))
	r.setenv("CSD_WORKER_DIR", filepath.Join(r.home.Dir, "root"))
	r.root, err = store.Open(r.getenv)
	r.must(err)
	r.must(r.root.Make())
	exe, err := os.Executable()
	r.must(err)
	r.w = Worker{Name: "w", CWD: r.home.Work, HookExe: exe, Root: r.root, Home: r.root.Home("w")}
	r.serve()
	return r
}

// serve starts the tmux server in the network; it ends with the test.
func (r *rig) serve() {
	r.t.Helper()
	r.server = &tmux.Server{Socket: filepath.Join(r.home.Dir, "tmux"), Env: r.home.Env(nil)}
	cmd := exec.Command("tmux", "-D", "-S", r.server.Socket, "-f", "/dev/null")
	cmd.Env, cmd.Dir = r.home.Env(nil), r.home.Work
	var said strings.Builder
	cmd.Stderr = &said
	r.must(r.net.Start(cmd))
	end := watchServer(r.t, r.server.Socket)
	r.t.Cleanup(func() {
		end()
		_ = cmd.Wait() // however it ended
	})
	r.eventually("the tmux server", func() bool { _, err := os.Stat(r.server.Socket); return err == nil })
}

// watchServer starts a process that ends a tmux server when end is called, or when this process is gone: a test that
// runs into its timeout is killed without its cleanups.
func watchServer(t *testing.T, socket string) (end func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `cat >/dev/null; exec tmux -S "$0" kill-server 2>/dev/null`, socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // no Ctrl-C for it
	hold, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("watch over tmux: %v", err)
	}
	return func() {
		_ = hold.Close() // the pipe ends with us at the latest
		_ = cmd.Wait()   // it fails where the server has ended before
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) setenv(name, value string) { r.env[name] = value }

func (r *rig) environ() []string { return r.home.Env(r.env) }

func (r *rig) getenv(name string) string {
	for _, pair := range r.environ() {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// worker is the worker with the environment as it is set by now.
func (r *rig) worker() Worker {
	r.w.Getenv, r.w.Environ = r.getenv, r.environ()
	return r.w
}

// launch starts a new session, as csd does it, and returns when it takes prompts.
func (r *rig) launch() {
	r.t.Helper()
	start, err := r.Prepare(r.t.Context(), r.worker())
	r.must(err)
	r.must(r.run(start))
}

// run starts the client and waits until it is ready.
func (r *rig) run(start Start) error {
	r.t.Helper()
	r.start, r.marks = start, len(r.notes())
	file, err := r.root.WriteLaunch(r.w.Name, start.Launch)
	r.must(err)
	ctx, cancel := context.WithTimeout(r.t.Context(), startTime)
	defer cancel()
	n := tmux.NewSession{Name: r.w.Name, Dir: start.Launch.Dir, Argv: []string{r.w.HookExe, "exec", file}}
	r.pane, err = r.server.New(ctx, n)
	r.must(err)
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Logf("the screen at the end:\n%s", strings.Join(visible(r.screen()), "\n"))
		}
	})
	return r.Ready(ctx, r.worker(), r)
}

// The rig is the Screen of its worker.

func (r *rig) Pane(ctx context.Context) (tmux.Pane, error) { return r.server.Pane(ctx, r.w.Name) }

func (r *rig) Capture(ctx context.Context) (string, error) {
	return r.server.Capture(ctx, r.pane.Target(), 0)
}

func (r *rig) History(ctx context.Context, lines int) (string, error) {
	return r.server.Capture(ctx, r.pane.Target(), lines)
}

func (r *rig) Keys(ctx context.Context, keys ...string) error {
	return r.server.Keys(ctx, r.pane.Target(), keys...)
}

func (r *rig) Literal(ctx context.Context, text string) error {
	return r.server.Literal(ctx, r.pane.Target(), text)
}

func (r *rig) Started(context.Context) (bool, error) {
	return slices.ContainsFunc(r.notes()[r.marks:], func(n note) bool { return n.is("session_start") }), nil
}

func (r *rig) screen() string {
	text, err := r.Capture(context.Background())
	if err != nil {
		return err.Error()
	}
	return text
}

// note is what a hook was told, as far as it matters here.
type note struct {
	Event      string          `json:"hook_event_name"`
	SessionID  string          `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	TurnID     string          `json:"turn_id"`
	PromptID   string          `json:"prompt_id"`
	Prompt     string          `json:"prompt"`
	Queued     bool            `json:"queued"`
	Tool       string          `json:"tool_name"`
	ToolID     string          `json:"tool_use_id"`
	Input      json.RawMessage `json:"tool_input"`
	Last       string          `json:"last_assistant_message"`
	Reason     string          `json:"reason"`
	StopReason string          `json:"stop_reason"`
	Error      string          `json:"error"`
	Source     string          `json:"source"`
	PID        int             `json:"pid"`
	Mode       string          `json:"permission_mode"`
	Raw        string          `json:"-"`
}

// is compares without regard to how a client spells its events.
func (n note) is(event string) bool {
	return strings.EqualFold(n.Event, strings.ReplaceAll(event, "_", "")) || n.Event == event
}

func (r *rig) notes() []note {
	f, err := os.Open(filepath.Join(r.root.Path(), r.w.Name+".notes"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	r.must(err)
	defer f.Close()
	var out []note
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		n := note{Raw: lines.Text()}
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			r.t.Errorf("a hook was told %q: %v", lines.Text(), err)
		}
		out = append(out, n)
	}
	return out
}

// told are the notes of one event.
func (r *rig) told(event string) []note {
	var out []note
	for _, n := range r.notes() {
		if n.is(event) {
			out = append(out, n)
		}
	}
	return out
}

// waitTold waits for the n-th note of an event.
func (r *rig) waitTold(event string, n int) note {
	r.t.Helper()
	r.eventually(fmt.Sprintf("%s number %d", event, n), func() bool { return len(r.told(event)) >= n })
	return r.told(event)[n-1]
}

// eventually polls what another program does, which nothing announces here.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(turnTime)
	for !ok() {
		if time.Now().After(deadline) {
			var events []string
			for _, n := range r.notes() {
				events = append(events, n.Event)
			}
			r.t.Fatalf("waited for %s; the hooks were %s", what, strings.Join(events, " "))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// send pastes a prompt and submits it, as csd does it: Enter again while the text stands in the input box.
func (r *rig) send(prompt string) {
	r.t.Helper()
	n := len(r.told("user_prompt_submit"))
	r.paste(prompt)
	r.enter(prompt, func() bool { return len(r.told("user_prompt_submit")) > n })
}

func (r *rig) paste(prompt string) {
	r.t.Helper()
	text, err := r.Text(prompt)
	r.must(err)
	r.must(r.server.Paste(r.t.Context(), r.pane.Target(), []byte(text)))
	r.eventually(fmt.Sprintf("%.80q in the input box", prompt), func() bool { return r.InComposer(r.screen(), prompt) })
}

func (r *rig) enter(prompt string, taken func() bool) {
	r.t.Helper()
	var pressed time.Time
	r.eventually(fmt.Sprintf("the worker takes %.80q", prompt), func() bool {
		if !taken() && time.Since(pressed) > 2*time.Second && r.InComposer(r.screen(), prompt) {
			pressed = time.Now()
			r.must(r.Keys(r.t.Context(), "Enter"))
		}
		return taken()
	})
}

// asked waits until the model was asked about a prompt: its hook comes before that.
func (r *rig) asked(prompt string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), turnTime)
	defer cancel()
	_, err := r.model.Wait(ctx, func(q modelstub.Request) bool { return !q.Side && q.Says(prompt) })
	r.must(err)
}

// turn sends a prompt and waits for the stop of its turn.
func (r *rig) turn(prompt string) note {
	r.t.Helper()
	n := len(r.told("stop"))
	r.send(prompt)
	return r.waitTold("stop", n+1)
}

// remembers fails the test unless the model was told of an earlier prompt together with this one.
func (r *rig) remembers(prompt, earlier string) {
	r.t.Helper()
	for _, q := range r.model.Requests() {
		if q.Side || !q.Says(prompt) {
			continue
		}
		if slices.ContainsFunc(q.Messages, func(m modelstub.Message) bool { return strings.Contains(m.Text, earlier) }) {
			return
		}
	}
	r.t.Errorf("the model was not told of %q with %q", earlier, prompt)
}

// quit ends the client, and looks that nothing is left.
func (r *rig) quit() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), startTime)
	defer cancel()
	r.must(r.Quit(ctx, r))
	if gone, err := ended(ctx, r); !gone || err != nil {
		r.t.Errorf("after Quit: ended %v, %v", gone, err)
	}
	r.must(r.server.Kill(ctx, r.w.Name))
}
