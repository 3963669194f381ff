package realclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/internal/modelstub"
)

// A harness is one client as a worker of csd.
type harness struct {
	name string
	// prepare writes what the user of that client has, and returns variables and arguments for it.
	prepare func(t *testing.T, h *Home, url string) (env map[string]string, args []string)
	shell   func(command string, background bool) modelstub.Tool
	// background says that the client has commands in the background.
	background bool
	// lateID says that a worker has no id before its first prompt.
	lateID bool
	// refusal is an answer of the model that ends a turn at once.
	refusal modelstub.Reply
}

var harnesses = []harness{
	{
		name: "claude", background: true, shell: bash,
		refusal: modelstub.Reply{Status: 429, Message: "the stub refuses", Header: http.Header{"X-Should-Retry": {"false"}}},
		prepare: func(t *testing.T, h *Home, url string) (map[string]string, []string) {
			h.WriteJSON(t, filepath.Join(h.User, ".claude.json"), map[string]any{"hasCompletedOnboarding": true})
			return map[string]string{
				"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": apiKey, "IS_SANDBOX": "1", "CLAUDE_CODE_TMPDIR": h.Tmp,
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
				// What a surrounding session leaves (F22): the worker must not take it for its own.
				"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDE_CODE_SESSION_ID": "11111111-2222-4333-8444-555555555555",
			}, nil
		},
	},
	{
		name: "codex", background: true, lateID: true, refusal: modelstub.Reply{Status: 400, Message: "the stub refuses"},
		shell: func(command string, background bool) modelstub.Tool {
			wait := 10_000
			if background {
				wait = 250
			}
			return modelstub.Tool{Name: "exec_command", Input: map[string]any{"cmd": command, "yield_time_ms": wait}}
		},
		prepare: func(t *testing.T, h *Home, url string) (map[string]string, []string) {
			return map[string]string{"STUB_KEY": apiKey, "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}, []string{
				"-c", `model_provider="stub"`, "-c", `model_providers.stub={name="stub",base_url="` + url + `/v1",wire_api="responses",env_key="STUB_KEY"}`,
				"-c", "features.plugins=false",
			}
		},
	},
	{
		name: "pi", refusal: modelstub.Reply{Status: 400, Message: "the stub refuses"},
		shell: func(command string, _ bool) modelstub.Tool {
			return modelstub.Tool{Name: "bash", Input: map[string]any{"command": command}}
		},
		prepare: func(t *testing.T, h *Home, url string) (map[string]string, []string) {
			agent := filepath.Join(h.User, ".pi", "agent")
			h.WriteJSON(t, filepath.Join(agent, "models.json"), map[string]any{"providers": map[string]any{"stub": map[string]any{
				"baseUrl": url + "/v1", "api": "openai-completions", "apiKey": apiKey,
				"models": []any{map[string]any{"id": "stub-model", "contextWindow": 200000, "maxTokens": 8000}},
			}}})
			h.WriteJSON(t, filepath.Join(agent, "settings.json"), map[string]any{"defaultProvider": "stub", "defaultModel": "stub-model", "retry": map[string]any{"enabled": false}})
			return map[string]string{"PI_OFFLINE": "1"}, nil
		},
	},
}

// fleet is the world of csd in a test: a home, a model, a tmux server in a network without a way out.
type fleet struct {
	t     *testing.T
	net   *Network
	home  *Home
	model *modelstub.Server
	env   []string
	args  []string // for the client
	kind  harness
}

func newFleet(t *testing.T, kind harness) *fleet {
	t.Helper()
	program := Find(t, kind.name)
	if err := buildCSD(); err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, net: NewNetwork(t), home: NewHome(t), kind: kind}
	l, err := f.net.Listen()
	f.must(err)
	f.model, err = modelstub.Start(l)
	f.must(err)
	t.Cleanup(f.model.Close)
	more, args := kind.prepare(t, f.home, f.model.URL())
	f.args = args
	more["CSD_"+strings.ToUpper(kind.name)+"_BIN"] = program
	more["CSD_WORKER_DIR"] = filepath.Join(f.home.Dir, "workers")
	more["TMUX_TMPDIR"] = f.home.Dir
	more["CSD_SUBMIT_TIMEOUT"] = "60"
	more["CSD_REGISTER_TIMEOUT"] = "60"
	more["CSD_START_TIMEOUT_MS"] = "90000"
	f.env = f.home.Env(more)
	f.serve()
	return f
}

// serve starts the tmux server that csd will find, in the network without a way out.
func (f *fleet) serve() {
	f.t.Helper()
	dir := filepath.Join(f.home.Dir, fmt.Sprintf("tmux-%d", os.Getuid()))
	f.must(os.Mkdir(dir, 0o700))
	socket := filepath.Join(dir, "default")
	cmd := exec.Command("tmux", "-D", "-S", socket, "-f", "/dev/null")
	cmd.Env, cmd.Dir = f.home.Env(nil), f.home.Work
	f.must(f.net.Start(cmd))
	f.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run() // it may have ended
		_ = cmd.Wait()
	})
	f.eventually("the tmux server", func() bool { _, err := os.Stat(socket); return err == nil })
}

func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) eventually(what string, ok func() bool) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), turnTimeout)
	defer cancel()
	if err := eventually(ctx, what, func() (bool, error) { return ok(), nil }); err != nil {
		f.t.Fatal(err)
	}
}

// buildCSD builds the csd of this tree and its hook, for the first test that needs them.
var buildCSD = onceBuilt("./cmd/csd", "./cmd/csd-hook")

// ran is what a call of csd came to.
type ran struct {
	out, err string
	code     int
}

// command is a call of a program of csd's.
func (f *fleet) command(program string, words ...string) *exec.Cmd {
	cmd := exec.Command(program, words...)
	cmd.Env, cmd.Dir = f.env, f.home.Work
	return cmd
}

func (f *fleet) csd() string { return filepath.Join(programs, "csd") }

func (f *fleet) shim() string { return filepath.Join(f.home.Dir, "workers", "bin", "w") }

// call runs csd, or a shim, with stdin.
func (f *fleet) call(stdin, program string, words ...string) ran {
	f.t.Helper()
	cmd := f.command(program, words...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		f.t.Fatal(err)
	}
	return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// worker calls the worker's shim.
func (f *fleet) worker(words ...string) ran { f.t.Helper(); return f.call("", f.shim(), words...) }

// ok is the output of a call of the worker's shim that must succeed.
func (f *fleet) ok(words ...string) string {
	f.t.Helper()
	r := f.worker(words...)
	if r.code != 0 {
		f.t.Fatalf("%.100q: exit %d\n%s%s", words, r.code, r.out, r.err)
	}
	return r.out
}

// is checks what a call of the worker's shim printed.
func (f *fleet) is(want string, words ...string) {
	f.t.Helper()
	if got := f.ok(words...); got != want {
		f.t.Errorf("%.100q printed %q, want %q", words, got, want)
	}
}

// TestWorkers is what the contract says of a worker, with each real client, from the launch to the last process.
func TestWorkers(t *testing.T) {
	t.Parallel()
	for _, kind := range harnesses {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, kind)
			f.launches()
			f.converses()
			f.usesTools()
			f.takesLongPrompts()
			f.fails()
			f.isInterrupted()
			if kind.background {
				f.worksInTheBackground()
			}
			f.isListed()
			f.isKeptAndAdopted()
			f.dies()
			f.net.RequireNone(t)
		})
	}
}

// launches: consent first, then the shim on stdout and the panel on stderr.
func (f *fleet) launches() {
	f.t.Helper()
	words := append([]string{"launch", "--harness", f.kind.name, "w", f.home.Work, "--"}, f.args...)
	if r := f.call("", f.csd(), words...); r.code != 1 || !strings.Contains(r.err, "grant-consent") {
		f.t.Fatalf("a launch without consent: %+v", r)
	}
	if r := f.call("yes\n", f.csd(), "grant-consent"); r.code != 0 {
		f.t.Fatalf("consent: %+v", r)
	}
	r := f.call("", f.csd(), words...)
	if r.code != 0 || r.out != f.shim()+"\n" {
		f.t.Fatalf("launch: %+v", r)
	}
	for _, want := range []string{"Worker launched.", "tmux", "session_id", "cwd", "events", "reproduce:", "--harness " + f.kind.name} {
		if !strings.Contains(r.err, want) && (f.kind.name != "claude" || !strings.HasPrefix(want, "--harness")) {
			f.t.Errorf("the panel has no %q:\n%s", want, r.err)
		}
	}
	shim, err := os.ReadFile(f.shim())
	f.must(err)
	if n := strings.Count(string(shim), "\n"); n != 3 {
		f.t.Errorf("the shim has %d lines:\n%s", n, shim)
	}
	if f.kind.lateID {
		if r := f.worker("status"); r.code != 1 || !strings.Contains(r.err, "no worker known as 'w'") {
			f.t.Errorf("status before the first prompt: %+v", r)
		}
	} else {
		f.is("idle\n", "status")
	}
	if r := f.call("", f.csd(), words...); r.code != 1 || !strings.Contains(r.err, "exists") {
		f.t.Errorf("a second launch of the name: %+v", r)
	}
}

// converses twice, and the second turn remembers the first.
func (f *fleet) converses() {
	f.t.Helper()
	f.model.Add(modelstub.Reply{Text: "I will keep 4711 in mind."}, modelstub.Reply{Text: "It was 4711."})
	f.is("I will keep 4711 in mind.\n", "converse", "the number is 4711\nkeep it", "90")
	f.is("It was 4711.\n", "converse", "- which number?", "90")
	if _, err := f.model.Wait(f.t.Context(), func(r modelstub.Request) bool {
		return r.Says("which number?") && slices.ContainsFunc(r.Messages, func(m modelstub.Message) bool { return strings.Contains(m.Text, "the number is 4711\nkeep it") })
	}); err != nil {
		f.t.Error(err)
	}
	f.is("idle\n", "status")
}

// usesTools: the call is seen while it runs, and the turn can be read.
func (f *fleet) usesTools() {
	f.t.Helper()
	gate := filepath.Join(f.home.Work, "gate")
	f.must(syscall.Mkfifo(gate, 0o600))
	f.model.Add(
		modelstub.Reply{Text: "I count.", Tools: []modelstub.Tool{f.kind.shell("cat "+gate+"; seq 1 30", false)}},
		modelstub.Reply{Text: "Thirty lines."},
	)
	follow := f.command(f.shim(), "read-events", "--last", "0", "--follow")
	events, err := follow.StdoutPipe()
	f.must(err)
	follow.Stderr = os.Stderr
	f.must(follow.Start())
	f.ok("send", "count to thirty")
	lines := json.NewDecoder(events)
	for {
		var e struct {
			Event string `json:"event"`
			Tool  string `json:"tool"`
			Input struct {
				Command string `json:"command"`
			} `json:"tool_input"`
		}
		if err := lines.Decode(&e); err != nil {
			f.t.Fatalf("follow: %v", err)
		}
		if e.Event == "pre_tool_use" {
			if e.Tool != "Bash" || !strings.Contains(e.Input.Command, "seq 1 30") {
				f.t.Errorf("pre_tool_use %+v", e)
			}
			break
		}
	}
	f.is("working\n", "status")
	before := strings.Count(f.ok("read-events"), "\n")
	f.must(os.WriteFile(gate, nil, 0)) // the command goes on
	stop := f.ok("wait-for-turn", "90", "--after-line", fmt.Sprint(before))
	if !strings.Contains(stop, `"event":"stop"`) || strings.Contains(stop, "error") {
		f.t.Errorf("wait-for-turn printed %s", stop)
	}
	f.must(follow.Process.Signal(syscall.SIGINT))
	_, _ = io.Copy(io.Discard, io.MultiReader(lines.Buffered(), events))
	if err := follow.Wait(); err != nil {
		f.t.Errorf("an interrupted follow: %v", err)
	}
	short, full := f.ok("read-turn"), f.ok("read-turn", "--full")
	if !strings.Contains(short, "**Tool: Bash**") || !strings.Contains(short, "lines total)") || strings.Contains(short, "\n30\n") || !strings.Contains(short, "Thirty lines.") {
		f.t.Errorf("read-turn printed\n%s", short)
	}
	if !strings.Contains(full, "\n30\n") || strings.Contains(full, "lines total)") {
		f.t.Errorf("read-turn --full printed\n%s", full)
	}
}

// takesLongPrompts: 64 KiB of all kinds of letters.
func (f *fleet) takesLongPrompts() {
	f.t.Helper()
	var b strings.Builder
	for i := 0; b.Len() < 64<<10; i++ {
		fmt.Fprintf(&b, "line %d with 'quotes', \"double\", $dollar, `ticks`, ümläut and 漢字\n", i)
	}
	b.WriteString("the last word is MARK")
	f.model.Add(modelstub.Reply{Text: "Long."})
	r := f.call(b.String(), f.shim(), "converse", "-", "90")
	if r.code != 0 || r.out != "Long.\n" {
		f.t.Fatalf("converse: %+v", r)
	}
	if _, err := f.model.Wait(f.t.Context(), func(r modelstub.Request) bool { return r.Says(b.String()) }); err != nil {
		f.t.Errorf("the model was not given the whole prompt: %.300v", err)
	}
}

// fails: an error of the API ends the turn at once, with exit code 3 and its words.
func (f *fleet) fails() {
	f.t.Helper()
	f.model.Add(f.kind.refusal)
	if r := f.worker("converse", "this fails", "90"); r.code != 3 || !strings.Contains(r.err, "the stub refuses") || r.out != "" {
		f.t.Errorf("converse: %+v", r)
	}
	f.is("idle\n", "status")
	if last := f.ok("read-events", "--type", "stop", "--last", "1"); !strings.Contains(last, `"error":{`) {
		f.t.Errorf("the stop event is %s", last)
	}
	f.model.Add(modelstub.Reply{Text: "Better."})
	f.is("Better.\n", "converse", "once more", "90")
}

// isInterrupted: a person at the keyboard breaks a turn off.
func (f *fleet) isInterrupted() {
	f.t.Helper()
	hold := make(chan struct{})
	f.model.Add(modelstub.Reply{Text: "never", Until: hold})
	f.ok("send", "think about it")
	if _, err := f.model.Wait(f.t.Context(), func(r modelstub.Request) bool { return r.Says("think about it") }); err != nil {
		f.t.Fatal(err)
	}
	before := strings.Count(f.ok("read-events"), "\n")
	f.must(f.tmux("send-keys", "-t", "=w:", "Escape").Run())
	stop := f.ok("wait-for-turn", "60", "--after-line", fmt.Sprint(before))
	if !strings.Contains(stop, `"event":"stop"`) || !strings.Contains(stop, `"interrupted":true`) {
		f.t.Errorf("wait-for-turn printed %s", stop)
	}
	close(hold)
	f.is("idle\n", "status")
	f.model.Add(modelstub.Reply{Text: "Here again."})
	f.is("Here again.\n", "converse", "are you there?", "90")
}

func (f *fleet) tmux(words ...string) *exec.Cmd { return f.command("tmux", words...) }

// worksInTheBackground: a command that outlives its turn is in the events, and in the list.
func (f *fleet) worksInTheBackground() {
	f.t.Helper()
	f.model.Add(
		modelstub.Reply{Tools: []modelstub.Tool{f.kind.shell("echo up; sleep 600", true)}},
		modelstub.Reply{Text: "It runs."},
	)
	f.is("It runs.\n", "converse", "start it", "90")
	if last := f.ok("read-events", "--type", "stop", "--last", "1"); !strings.Contains(last, `"background_tasks":[{`) || !strings.Contains(last, "sleep 600") {
		f.t.Errorf("the stop event is %s", last)
	}
	f.is("idle\n", "status")
}

// row is a worker in `csd list --json`.
type row struct {
	Name       string    `json:"name"`
	Harness    string    `json:"harness"`
	SessionID  string    `json:"session_id"`
	State      string    `json:"state"`
	Since      time.Time `json:"since"`
	Turns      int       `json:"turns"`
	Background []struct {
		ID, Type, Status, Command string
	} `json:"background"`
	LastActivity time.Time `json:"last_activity"`
	Worktree     *struct {
		Head  string
		Dirty int
	} `json:"worktree"`
}

func (f *fleet) list(words ...string) (rows []row) {
	f.t.Helper()
	r := f.call("", f.csd(), append([]string{"list", "--json"}, words...)...)
	if r.code != 0 {
		f.t.Fatalf("list: %+v", r)
	}
	f.must(json.Unmarshal([]byte(r.out), &rows))
	return rows
}

func (f *fleet) isListed() {
	f.t.Helper()
	rows := f.list()
	if len(rows) != 1 {
		f.t.Fatalf("list: %+v", rows)
	}
	w := rows[0]
	if w.Name != "w" || w.Harness != f.kind.name || w.State != "idle" || w.Turns < 7 || w.Since.IsZero() || w.LastActivity.IsZero() || w.Worktree != nil {
		f.t.Errorf("list: %+v", w)
	}
	if f.kind.background && (len(w.Background) != 1 || !strings.Contains(w.Background[0].Command, "sleep 600")) {
		f.t.Errorf("in the background: %+v", w.Background)
	}
	if id := f.ok("session-id"); strings.TrimSpace(id) != w.SessionID {
		f.t.Errorf("session-id printed %s, list %s", id, w.SessionID)
	}
	if r := f.call("", f.csd(), "list"); !strings.HasPrefix(r.out, "STATUS\tHARNESS\tTMUX\tSESSION_ID\tSHIM\tCWD\nidle\t"+f.kind.name+"\tw\t") {
		f.t.Errorf("list: %+v", r)
	}
	if text := f.ok("handoff"); !strings.Contains(text, "attach") {
		f.t.Errorf("handoff printed %s", text)
	}
}

// isKeptAndAdopted: stop ends every process, and the session can be taken up again.
func (f *fleet) isKeptAndAdopted() {
	f.t.Helper()
	id := strings.TrimSpace(f.ok("session-id"))
	f.is("Stopped w ("+id+")\n", "stop", "--keep")
	if left := f.left(); len(left) > 0 {
		f.t.Errorf("after stop there are %v", left)
	}
	if _, err := os.Stat(f.shim()); !errors.Is(err, os.ErrNotExist) {
		f.t.Errorf("the shim is there after stop: %v", err)
	}
	if rows := f.list("--all"); len(rows) != 0 {
		f.t.Errorf("list: %+v", rows)
	}
	words := append([]string{"adopt", "--harness", f.kind.name, "w", f.home.Work, id, "--"}, f.args...)
	if r := f.call("", f.csd(), words...); r.code != 0 || r.out != f.shim()+"\n" {
		f.t.Fatalf("adopt: %+v", r)
	}
	f.model.Add(modelstub.Reply{Text: "Still 4711."})
	f.is("Still 4711.\n", "converse", "the number?", "90")
	if _, err := f.model.Wait(f.t.Context(), func(r modelstub.Request) bool {
		return r.Says("the number?") && slices.ContainsFunc(r.Messages, func(m modelstub.Message) bool { return strings.Contains(m.Text, "the number is 4711\nkeep it") })
	}); err != nil {
		f.t.Error(err)
	}
	f.is(id+"\n", "session-id")
}

// left are the processes of the home but for tmux and this test's own.
func (f *fleet) left() (list []Process) {
	for _, p := range f.home.Processes() {
		if !strings.Contains(p.Command, "tmux") {
			list = append(list, p)
		}
	}
	return list
}

// dies: the tmux session is killed; the worker is gone, and prune removes what it left.
func (f *fleet) dies() {
	f.t.Helper()
	waits := f.command(f.shim(), "wait-for-turn", "90")
	var out bytes.Buffer
	waits.Stdout = &out
	f.must(waits.Start())
	f.must(f.tmux("kill-session", "-t", "=w").Run())
	_ = waits.Wait()
	if code := waits.ProcessState.ExitCode(); code != 0 && code != 1 || code == 0 && !strings.Contains(out.String(), "session_end") {
		f.t.Errorf("a wait that the worker's end ends: exit %d, %s", code, out.String())
	}
	f.is("gone\n", "status")
	if rows := f.list("--all"); len(rows) != 1 || rows[0].State != "gone" {
		f.t.Errorf("list --all: %+v", rows)
	}
	if r := f.call("", f.csd(), "prune"); r.code != 0 || r.out != "Pruned 1: w\n" {
		f.t.Errorf("prune: %+v", r)
	}
	if rows := f.list("--all"); len(rows) != 0 {
		f.t.Errorf("list --all after prune: %+v", rows)
	}
	f.eventually("the end of every process", func() bool { return len(f.left()) == 0 })
}
