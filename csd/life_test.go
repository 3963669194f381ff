package csd_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd"
	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/internal/proc"
)

// TestF01_PrefixesAreOtherWorkers: api is gone, api-2 lives; nothing that is done to api reaches api-2.
func TestF01_PrefixesAreOtherWorkers(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "api")
	r.launch("claude", "api-2")
	r.must(r.tmux("kill-session", "-t", "=api").Run())
	if s := r.state("api"); s != csd.Gone {
		t.Errorf("status %s", s)
	}
	_, err := r.worker("api").Send(t.Context(), "hello")
	r.fails(err, csd.Failed, "is gone")
	done, err := r.worker("api").Stop(t.Context(), csd.StopOptions{})
	if err != nil || done.Was {
		t.Errorf("%+v, %v", done, err)
	}
	if got := r.converse("api-2", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
	_, err = r.fleet().Worker("api")
	r.fails(err, csd.Failed, "no worker known as 'api'")
}

// TestF12_TmuxThatCannotBeAsked: nothing is removed, and a worker is found by the socket that it was started on.
func TestF12_TmuxThatCannotBeAsked(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	other := filepath.Join(r.dir, "other")
	r.must(os.Mkdir(other, 0o700))
	here := r.env["TMUX_TMPDIR"]
	r.with("TMUX_TMPDIR", other) // another server, which does not run
	names, files, err := r.fleet().Prune(t.Context())
	if err != nil || len(names)+len(files) != 0 {
		t.Errorf("%v %v %v", names, files, err)
	}
	if s := r.state("w"); s != csd.Idle {
		t.Errorf("status %s", s)
	}
	r.with("TMUX_TMPDIR", here)
	socket, err := r.tmux("display-message", "-p", "#{socket_path}").Output()
	r.must(err)
	path := strings.TrimSpace(string(socket))
	r.must(os.Rename(path, path+".away"))
	foreign, err := net.Listen("unix", path) // some other program has the name now
	r.must(err)
	go func() {
		for {
			c, err := foreign.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	_, _, err = r.fleet().Prune(t.Context())
	r.fails(err, csd.Failed, "cannot be asked")
	_, err = r.worker("w").Status(t.Context(), false)
	if err == nil {
		t.Error("a worker of which nothing is known has a status")
	}
	r.must(foreign.Close())
	r.must(os.Rename(path+".away", path))
	if got := r.converse("w", "hello"); got != "Echo: hello" {
		t.Errorf("%q", got)
	}
}

// TestF13_StopLeavesNoProcess: tools in sessions of their own, a client that does not want to end, and one that ignores
// signals.
func TestF13_StopLeavesNoProcess(t *testing.T) {
	for _, stubborn := range []string{"", "1", "hard"} {
		t.Run("noexit="+stubborn, func(t *testing.T) {
			r := newRig(t).with("FAKE_NOEXIT", stubborn)
			r.launch("claude", "w")
			pidfile := filepath.Join(r.dir, "pid")
			r.converse("w", "BG echo $$ >"+pidfile+"; exec sleep 1000\nANSWER ok")
			var pid int
			r.eventually("the tool", func() bool {
				b, _ := os.ReadFile(pidfile)
				pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
				return pid > 0
			})
			done, err := r.worker("w").Stop(t.Context(), csd.StopOptions{})
			r.must(err)
			if !done.Was || done.Asked != (stubborn == "") || len(done.Survivors) > 0 {
				t.Errorf("%+v", done)
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the tool lives: %v", err)
			}
			if files, sessions := r.files(), r.sessions(); len(files)+len(sessions) != 0 {
				t.Errorf("left behind: %v %v", files, sessions)
			}
		})
	}
}

// TestStop_EndsWhatAWorkerThatIsGoneLeftRunning: its session was killed by hand, and a command that it ran in the
// background goes on.
func TestStop_EndsWhatAWorkerThatIsGoneLeftRunning(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	r.launch("claude", "other")
	tools := map[string]int{}
	for _, name := range []string{"w", "other"} {
		pidfile := filepath.Join(r.dir, name+".pid")
		r.converse(name, "BG setsid sh -c 'echo $$ >"+pidfile+"; exec sleep 1000'\nANSWER ok")
		r.eventually("the tool of "+name, func() bool {
			b, _ := os.ReadFile(pidfile)
			tools[name], _ = strconv.Atoi(strings.TrimSpace(string(b)))
			return tools[name] > 0
		})
	}
	lives := func(name string) bool { // a zombie does not, and kill(2) would find one
		_, err := proc.StartToken(tools[name])
		return err == nil
	}
	r.must(r.tmux("kill-session", "-t", "=w").Run())
	if !lives("w") {
		t.Fatal("the tool ended with the session")
	}
	done, err := r.worker("w").Stop(t.Context(), csd.StopOptions{})
	r.must(err)
	if len(done.Killed) == 0 || len(done.Survivors) > 0 || lives("w") {
		t.Errorf("%+v", done)
	}
	if !lives("other") {
		t.Error("the tool of another worker ended")
	}
	_, err = r.worker("other").Stop(t.Context(), csd.StopOptions{})
	r.must(err)
	if lives("other") {
		t.Error("the tool lives")
	}
}

// TestStop_SparesWhatIsNotTheWorkers: a tmux server that a worker happened to start, with another worker in it.
func TestStop_SparesWhatIsNotTheWorkers(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "a")
	other := filepath.Join(r.dir, "other")
	r.must(os.Mkdir(other, 0o700))
	r.converse("a", "TOOL TMUX= TMUX_TMPDIR="+other+" tmux new-session -d -s mine sleep 1000\nANSWER ok")
	_, err := r.worker("a").Stop(t.Context(), csd.StopOptions{})
	r.must(err)
	r.with("TMUX_TMPDIR", other)
	t.Cleanup(func() { _ = r.tmux("kill-server").Run() })
	if got := r.sessions(); len(got) != 1 || got[0] != "mine" {
		t.Errorf("sessions %v", got)
	}
}

// TestF32_TheSessionIDChanges: the worker is followed, with all of its events in one file.
func TestF32_TheSessionIDChanges(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	r.converse("w", "hello")
	old, err := r.worker("w").SessionID()
	r.must(err)
	events, err := r.worker("w").EventsFile()
	r.must(err)
	r.must(r.tmux("send-keys", "-t", "=w:", "-l", "/clear").Run())
	r.must(r.tmux("send-keys", "-t", "=w:", "Enter").Run())
	r.eventually("another session", func() bool { id, _ := r.worker("w").SessionID(); return id != old })
	if got := r.converse("w", "again"); got != "Echo: again" {
		t.Errorf("%q", got)
	}
	if now, _ := r.worker("w").EventsFile(); now != events || r.count("w", event.Stop) != 2 {
		t.Errorf("events %s, were %s", now, events)
	}
}

// TestF33_AdoptDoesNotBelieveAnEarlierLife: a session_start of before is no start.
func TestF33_AdoptDoesNotBelieveAnEarlierLife(t *testing.T) {
	r := newRig(t)
	id := r.remembering("claude", "w", "blue")
	r.must(r.tmux("kill-session", "-t", "=w").Run())
	r.eventually("the end", func() bool { return r.state("w") == csd.Gone })
	before := len(r.events("w"))
	r.with("FAKE_EXIT", "3")
	_, err := r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w", Dir: r.work}, SessionID: id})
	r.fails(err, csd.Failed, "3")
	if got := len(r.events("w")); got < before {
		t.Errorf("a failed adoption lost events: %d of %d", got, before)
	}
	delete(r.env, "FAKE_EXIT")
	_, err = r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w", Dir: r.work}, SessionID: id})
	r.must(err)
	if got := r.converse("w", "RECALL"); got != "Recalled: blue" {
		t.Errorf("%q", got)
	}
}

// TestF34_AFailedAdoptionLeavesTheRestoredPane: a shell stands there again.
func TestF34_AFailedAdoptionLeavesTheRestoredPane(t *testing.T) {
	r := newRig(t)
	id := r.remembering("claude", "w", "blue")
	r.endServer()
	r.must(os.RemoveAll(r.env["CSD_WORKER_DIR"])) // as a reboot does (F58)
	r.must(r.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-c", r.work).Run())
	r.must(r.tmux("split-window", "-d", "-t", "=w:").Run())

	r.with("FAKE_EXIT", "3")
	o := csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w", Dir: r.work}, SessionID: id}
	_, err := r.fleet().Adopt(t.Context(), o)
	r.fails(err, csd.Failed, "3")
	out, err := r.tmux("list-panes", "-s", "-t", "=w", "-F", "#{pane_dead} #{pane_current_command}").Output()
	if err != nil || string(out) != "0 sh\n0 sh\n" {
		t.Errorf("panes: %q, %v", out, err)
	}
	_, err = r.fleet().Worker("w")
	r.fails(err, csd.Failed, "no worker known")

	delete(r.env, "FAKE_EXIT")
	l, err := r.fleet().Adopt(t.Context(), o)
	r.must(err)
	if !l.InPlace || r.converse("w", "RECALL") != "Recalled: blue" {
		t.Errorf("%+v", l)
	}
	out, err = r.tmux("list-panes", "-s", "-t", "=w", "-F", "#{pane_current_command}").Output()
	if err != nil || !strings.Contains(string(out), "sh\n") || strings.Count(string(out), "\n") != 2 {
		t.Errorf("the layout is not kept: %q, %v", out, err)
	}
	_, err = r.fleet().Adopt(t.Context(), o)
	r.fails(err, csd.Failed, "runs")
}

func TestAdopt_RefusesWhatCannotBe(t *testing.T) {
	r := newRig(t)
	adopt := func(id string) error {
		_, err := r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w", Dir: r.work}, SessionID: id})
		return err
	}
	r.fails(adopt("../../etc"), csd.Usage, "is no session id")
	r.fails(adopt("11111111-2222-4333-8444-555555555555"), csd.Failed, "11111111-2222-4333-8444-555555555555")
	if files, sessions := r.files(), r.sessions(); len(files)+len(sessions) != 0 {
		t.Errorf("left behind: %v %v", files, sessions)
	}
}

func TestReadTurn_And_ReadEvents(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	w := r.worker("w")
	r.fails(w.ReadTurn(&bytes.Buffer{}, false), csd.Failed, "worker w")
	r.converse("w", "TOOL seq 1 9\nANSWER counted")
	var short, full bytes.Buffer
	r.must(w.ReadTurn(&short, false))
	r.must(w.ReadTurn(&full, true))
	if !strings.Contains(short.String(), "... (9 lines total)") || !strings.Contains(full.String(), "\n9\n") || !strings.HasSuffix(full.String(), "counted\n\n") {
		t.Errorf("%s\n%s", short.String(), full.String())
	}
	var all, last, typed, none bytes.Buffer
	r.must(w.ReadEvents(t.Context(), &all, csd.EventsOptions{Last: -1}))
	r.must(w.ReadEvents(t.Context(), &last, csd.EventsOptions{Last: 1}))
	r.must(w.ReadEvents(t.Context(), &typed, csd.EventsOptions{Last: 1, Type: "pre_tool_use"}))
	r.must(w.ReadEvents(t.Context(), &none, csd.EventsOptions{Last: 0}))
	if strings.Count(all.String(), "\n") != 4 || !strings.HasSuffix(all.String(), last.String()) || !strings.Contains(typed.String(), `"seq 1 9"`) || none.Len() > 0 {
		t.Errorf("%s\n%s\n%s\n%s", all.String(), last.String(), typed.String(), none.String())
	}
	r.fails(w.ReadEvents(t.Context(), &all, csd.EventsOptions{Type: "stop_it", Follow: true}), csd.Usage, "no event")
}

// lineSink hands on each line that is written to it.
type lineSink chan string

func (l lineSink) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l <- line
	}
	return len(p), nil
}

// TestReadEvents_FollowSleepsUntilItsWorkerIsStopped: each event once, live, then the end.
func TestReadEvents_FollowSleepsUntilItsWorkerIsStopped(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	lines := make(lineSink, 100)
	done := make(chan error, 1)
	w := r.worker("w")
	go func() { done <- w.ReadEvents(context.Background(), lines, csd.EventsOptions{Last: 0, Follow: true}) }()
	r.converse("w", "hello")
	for _, want := range []string{"user_prompt_submit", "stop"} {
		select {
		case got := <-lines:
			if !strings.Contains(got, want) {
				t.Errorf("%q, want %s", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("no %s", want)
		}
	}
	_, err := r.worker("w").Stop(t.Context(), csd.StopOptions{})
	r.must(err)
	select {
	case err := <-done:
		r.must(err)
	case <-time.After(patience):
		t.Fatal("it follows a worker that was stopped")
	}
}

// TestList_OneBrokenWorkerHidesNobody: its events cannot be read, and the others are listed.
func TestList_OneBrokenWorkerHidesNobody(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "a")
	r.launch("claude", "b")
	path, err := r.worker("a").EventsFile()
	r.must(err)
	r.must(os.Remove(path))
	r.must(os.Mkdir(path, 0o700))
	list, err := r.fleet().List(t.Context(), csd.ListOptions{Detail: true})
	if err != nil || len(list) != 2 || list[0].State != csd.Unknown || list[1].State != csd.Idle {
		t.Errorf("%+v, %v", list, err)
	}
	if !strings.Contains(r.notes.String(), "worker a") {
		t.Errorf("notes: %s", r.notes)
	}
}

// TestReadEvents_FollowRepeatsNothingOfItsBacklog: what comes while the backlog is printed comes once.
func TestReadEvents_FollowRepeatsNothingOfItsBacklog(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	w := r.worker("w")
	path, err := w.EventsFile()
	r.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	out := writerFunc(func(p []byte) {
		for line := range strings.Lines(string(p)) {
			if got = append(got, line); len(got) == 1 { // one more while the backlog is on its way
				r.must(event.Append(path, event.Event{Name: event.PreToolUse, At: time.Now(), Worker: "w", ToolUseID: "meanwhile"}))
			}
			if strings.Contains(line, "meanwhile") {
				cancel()
			}
		}
	})
	r.must(w.ReadEvents(ctx, out, csd.EventsOptions{Last: -1, Follow: true}))
	if len(got) != 2 || !strings.Contains(got[0], "session_start") || !strings.Contains(got[1], "meanwhile") {
		t.Errorf("%q", got)
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestList_WorkTrees(t *testing.T) {
	r := newRig(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	git := func(words ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, words...)...)
		cmd.Dir, cmd.Env = r.work, append(r.environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "one")
	r.must(os.WriteFile(filepath.Join(r.work, "new file"), nil, 0o600))
	r.launch("claude", "w")
	list, err := r.fleet().List(t.Context(), csd.ListOptions{Detail: true})
	r.must(err)
	if w := list[0].Worktree; w == nil || w.Branch != "main" || len(w.Head) != 40 || w.Dirty != 1 {
		t.Errorf("%+v", w)
	}
}

func TestHandoff(t *testing.T) {
	r := newRig(t)
	r.launch("claude", "w")
	text, err := r.worker("w").Handoff(t.Context())
	if err != nil || !strings.Contains(text, "tmux attach -t =w\n") || !strings.Contains(text, "Ctrl-b d") {
		t.Errorf("%s, %v", text, err)
	}
	r.with("TMUX_TMPDIR", filepath.Join(r.dir, "bin"))
	text, err = r.worker("w").Handoff(t.Context())
	if err != nil || !strings.Contains(text, "tmux -S "+r.dir) {
		t.Errorf("%s, %v", text, err)
	}
}
