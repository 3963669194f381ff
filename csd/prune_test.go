package csd_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/internal/proc"
)

// TestPrune removes what is gone, keeps what lives, and sweeps what nobody owns (F55).
func TestPrune(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "lives")
	r.launch("claude", "dies")
	r.must(r.tmux("kill-session", "-t", "=dies").Run())
	root := r.env["CSD_WORKER_DIR"]
	for name, text := range map[string]string{"aaaaaaaa-0000.meta": "garbage", "bbbbbbbb-0000.meta": "[]", "cccccccc-0000.events.jsonl": "{}\n"} {
		r.must(os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	list, err := r.fleet().List(t.Context(), csd.ListOptions{All: true})
	if err != nil || len(list) != 2 || list[0].Name != "dies" || list[0].State != csd.Gone || list[1].State != csd.Idle {
		t.Errorf("%+v, %v", list, err)
	}
	names, files, err := r.fleet().Prune(t.Context())
	if err != nil || len(names) != 1 || names[0] != "dies" || len(files) != 3 {
		t.Errorf("%v %v %v", names, files, err)
	}
	for _, f := range r.files() {
		if strings.Contains(f, "dies") || strings.Contains(f, "0000") {
			t.Errorf("left behind: %s", f)
		}
	}
	if got := r.converse("lives", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	if names, files, err := r.fleet().Prune(t.Context()); err != nil || len(names)+len(files) != 0 {
		t.Errorf("a second time: %v %v %v", names, files, err)
	}
}

// TestPrune_EndsWhatToolsLeftRunning of a worker whose client was killed, and says so; nothing of another worker.
func TestPrune_EndsWhatToolsLeftRunning(t *testing.T) {
	for _, kind := range []string{"claude", "codex", "pi"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t).asUser(kind)
			tools := map[string]int{}
			for _, name := range []string{"w", "lives"} {
				r.launch(kind, name)
				pidfile := filepath.Join(r.dir, name+".pid")
				_, err := r.worker(name).Send(t.Context(), "TOOL echo $$ >"+pidfile+"; exec sleep 1000")
				r.must(err)
				r.eventually("the tool of "+name, func() bool {
					b, _ := os.ReadFile(pidfile)
					tools[name], _ = strconv.Atoi(strings.TrimSpace(string(b)))
					return tools[name] > 0
				})
			}
			lives := func(name string) bool {
				_, err := proc.StartToken(tools[name])
				return err == nil
			}
			r.must(syscall.Kill(r.client("w"), syscall.SIGKILL))
			r.eventually("the end", func() bool { return r.state("w") == csd.Gone })
			if _, err := proc.Environ(os.Getpid()); err != nil {
				t.Skip(err)
			}
			if !lives("w") {
				t.Fatal("the tool ended with the client")
			}
			names, _, err := r.fleet().Prune(t.Context())
			if err != nil || len(names) != 1 || names[0] != "w" {
				t.Errorf("%v, %v", names, err)
			}
			if lives("w") || !lives("lives") {
				t.Errorf("the tool of the gone worker lives: %t; that of the other: %t", lives("w"), lives("lives"))
			}
			if want := "ended what worker w had left running: "; !strings.Contains(r.notes.String(), want) || !strings.Contains(r.notes.String(), strconv.Itoa(tools["w"])) {
				t.Errorf("notes: %s", r.notes)
			}
		})
	}
}

// TestPrune_LeavesAClientThatRuns outside of its session: it would be known to no command.
func TestPrune_LeavesAClientThatRuns(t *testing.T) {
	if _, err := proc.Environ(os.Getpid()); err != nil {
		t.Skip(err)
	}
	r := newRig(t)
	r.launch("claude", "w")
	r.launch("claude", "v")
	client := r.client("w")
	r.must(r.tmux("rename-session", "-t", "=w", "mine").Run())
	id, err := r.worker("v").SessionID()
	r.must(err)
	r.must(os.WriteFile(filepath.Join(r.env["CSD_WORKER_DIR"], id+".meta"), []byte("garbage"), 0o600)) // then its server is not known
	back := r.elsewhere("other")
	names, _, err := r.fleet().Prune(t.Context())
	if err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
	for _, name := range []string{"w", "v"} {
		if !strings.Contains(r.notes.String(), "worker "+name+" stays: its client runs still") {
			t.Errorf("notes: %s", r.notes)
		}
	}
	back()
	if got := r.sessions(); len(got) != 2 {
		t.Errorf("sessions %v", got)
	}
	r.must(r.tmux("rename-session", "-t", "=mine", "w").Run())
	if r.client("w") != client || r.converse("w", "hello") != "Echo: hello" {
		t.Error("the worker was touched")
	}
}

// TestF12_PruneAsksTheServerOfAnUnknownHarness, as a later version may have.
func TestF12_PruneAsksTheServerOfAnUnknownHarness(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	id, err := r.worker("w").SessionID()
	r.must(err)
	path := filepath.Join(r.env["CSD_WORKER_DIR"], id+".meta")
	meta, err := os.ReadFile(path)
	r.must(err)
	r.must(os.WriteFile(path, []byte(strings.Replace(string(meta), `"claude"`, `"later"`, 1)), 0o600))
	defer r.elsewhere("other")()
	names, files, err := r.fleet().Prune(t.Context())
	if err != nil || len(names)+len(files) != 0 {
		t.Errorf("%v, %v, %v", names, files, err)
	}
}

// TestF59_PruneReturnsALogin that the worker renewed before it was killed; a launch of its name does too.
func TestF59_PruneReturnsALogin(t *testing.T) {
	r := newRig(t)
	operator := filepath.Join(r.home, ".codex", "auth.json")
	login := func(at string) map[string]any {
		return map[string]any{"auth_mode": "chatgpt", "tokens": map[string]any{"access_token": at}, "last_refresh": at}
	}
	renewed := ""
	for how, clear := range map[string]func(){
		"prune":  func() { _, _, err := r.fleet().Prune(t.Context()); r.must(err) },
		"launch": func() { r.launch("claude", "w") },
	} {
		r.writeJSON(operator, login("2026-11-30T10:00:00Z"))
		r.launch("codex", "w")
		r.writeJSON(filepath.Join(r.env["CSD_WORKER_DIR"], "homes", "w", "auth.json"), login("2026-11-30T11:00:00Z"))
		r.must(r.tmux("kill-session", "-t", "=w").Run())
		clear()
		b, err := os.ReadFile(operator)
		r.must(err)
		if renewed = string(b); !strings.Contains(renewed, "T11:00:00Z") {
			t.Errorf("%s lost the login: %s", how, renewed)
		}
		if how == "launch" {
			_, err := r.worker("w").Stop(t.Context(), csd.StopOptions{})
			r.must(err)
		}
	}
}
