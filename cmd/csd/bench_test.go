package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/internal/proc"
)

// The benchmarks here measure csd as its user meets it, as whole processes, on generated data: a fleet of live tmux
// sessions, an events file of 100 MB, a transcript of 200 MB. Beside each stands a plain tool that does the least
// work, in turns with it. They need Linux and tmux.

// benchFleet is a tmux server with workers whose client does nothing.
type benchFleet struct {
	b    *testing.B
	bin  string
	dir  string
	env  []string
	root *store.Root
}

func newBenchFleet(b *testing.B, workers int) *benchFleet {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("needs /proc")
	}
	dir, err := os.MkdirTemp("", "csdb")
	if err != nil {
		b.Fatal(err)
	}
	f := &benchFleet{b: b, dir: dir, bin: filepath.Join(dir, "csd")}
	f.env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + dir, "CSD_WORKER_DIR=" + filepath.Join(dir, "workers"), "LANG=C.UTF-8"}
	b.Cleanup(func() {
		_ = f.tmux("kill-server").Run() // it may not run
		_ = os.RemoveAll(dir)           // what the sessions' ends still write is below a temporary folder
	})
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", dir, ".", "../csd-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is installed
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	f.root, err = store.Open(func(name string) string {
		for _, e := range f.env {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	})
	f.must(err)
	for i := range workers {
		f.must(f.tmux("-f", "/dev/null", "new-session", "-d", "-s", workerName(i), "-x", "80", "-y", "24", "exec sleep 100000",
			";", "set-option", "-F", "-t", "="+workerName(i)+":", "@csd_pane", "#{pane_id}").Run())
	}
	socket, err := f.tmux("display-message", "-p", "#{socket_path}").Output()
	f.must(err)
	panes, err := f.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_pid}").Output()
	f.must(err)
	for line := range strings.Lines(string(panes)) {
		name, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
		f.register(name, pid, strings.TrimSpace(string(socket)))
	}
	return f
}

func workerName(i int) string { return fmt.Sprintf("bw%04d", i) }

func (f *benchFleet) must(err error) {
	f.b.Helper()
	if err != nil {
		f.b.Fatal(err)
	}
}

func (f *benchFleet) tmux(words ...string) *exec.Cmd {
	cmd := exec.Command("tmux", words...)
	cmd.Env = f.env
	return cmd
}

// register makes a worker of a session, idle after a turn, with the live state that Claude Code keeps.
func (f *benchFleet) register(name, pid, socket string) {
	f.b.Helper()
	number, err := strconv.Atoi(pid)
	f.must(err)
	token, err := proc.StartToken(number)
	f.must(err)
	config := filepath.Join(f.dir, ".claude")
	m := store.Meta{
		TmuxName: name, SessionID: fmt.Sprintf("%08x-0000-4000-8000-%012x", number, number), CWD: f.dir, Harness: "claude", StartedAt: time.Now(),
		Invocation: []string{"launch", name, f.dir}, TmuxSocket: socket, ConfigDir: config,
	}
	f.must(f.root.Put(m))
	m, err = f.root.Find(name)
	f.must(err)
	for _, e := range []event.Name{event.SessionStart, event.UserPromptSubmit, event.Stop} {
		f.must(event.Append(f.root.EventsFile(m), event.Event{Name: e, At: time.Now(), Worker: name, Harness: "claude", SessionID: m.SessionID, TurnID: "t"}))
	}
	live, err := json.Marshal(map[string]any{"pid": number, "procStart": token, "sessionId": m.SessionID, "status": "idle", "statusUpdatedAt": time.Now().UnixMilli()})
	f.must(err)
	f.must(os.MkdirAll(filepath.Join(config, "sessions"), 0o700))
	f.must(os.WriteFile(filepath.Join(config, "sessions", pid+".json"), live, 0o600))
}

// cost is what a process took.
type cost struct {
	wall, cpu time.Duration
	rss       int64 // KiB
}

// run runs a command to its end, which may come by a timeout of its own.
func (f *benchFleet) run(name string, words ...string) cost {
	f.b.Helper()
	cmd := exec.Command(name, words...)
	cmd.Env = f.env
	start := time.Now()
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != exitTimeout {
		f.b.Fatalf("%s %s: %v", name, strings.Join(words, " "), err)
	}
	return costOf(cmd, start)
}

func costOf(cmd *exec.Cmd, start time.Time) cost {
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss}
}

// against measures csd in turns with a plain tool.
func (f *benchFleet) against(b *testing.B, peer []string, words ...string) {
	f.b = b
	var own, other []cost
	for b.Loop() {
		own = append(own, f.run(f.bin, words...))
		other = append(other, f.run(peer[0], peer[1:]...))
	}
	report(b, own)
	b.ReportMetric(middle(own, wall)/middle(other, wall), "wall/peer")
	b.ReportMetric(middle(other, wall), "peer-wall-ms")
}

func wall(c cost) time.Duration { return c.wall }
func cpu(c cost) time.Duration  { return c.cpu }

// middle is the median in milliseconds.
func middle(costs []cost, of func(cost) time.Duration) float64 {
	var list []time.Duration
	for _, c := range costs {
		list = append(list, of(c))
	}
	slices.Sort(list)
	return float64(list[len(list)/2]) / float64(time.Millisecond)
}

func report(b *testing.B, costs []cost) {
	rss := int64(0)
	for _, c := range costs {
		rss = max(rss, c.rss)
	}
	b.ReportMetric(middle(costs, wall), "wall-ms")
	b.ReportMetric(middle(costs, cpu), "cpu-ms")
	b.ReportMetric(float64(rss)/1024, "rss-MB")
	b.ReportMetric(0, "ns/op")
}

var (
	tmuxSessions = []string{"tmux", "list-sessions"}
	tmuxPanes    = []string{"tmux", "list-panes", "-a"}
)

// BenchmarkFleet: what a controller asks most, with 1, 50 and 500 live workers.
func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{1, 50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newBenchFleet(b, n)
			b.Run("help", func(b *testing.B) { f.against(b, []string{"tmux", "-V"}, "help") })
			b.Run("status", func(b *testing.B) { f.against(b, tmuxSessions, "--worker", workerName(n-1), "status") })
			b.Run("list", func(b *testing.B) { f.against(b, tmuxPanes, "list") })
			b.Run("list-one", func(b *testing.B) { f.against(b, tmuxPanes, "list", workerName(n-1)) })
		})
	}
}

// BenchmarkLargeFiles: the end of an events file of 100 MB and of a transcript of 200 MB, and somebody who waits for
// more.
func BenchmarkLargeFiles(b *testing.B) {
	f := newBenchFleet(b, 1)
	name := workerName(0)
	m, err := f.root.Find(name)
	f.must(err)
	events := f.root.EventsFile(m)
	f.fill(events, 100<<20, func(i int) string {
		return fmt.Sprintf(`{"event":"pre_tool_use","ts":"2026-01-01T00:00:00Z","worker":%q,"session_id":%q,"tool":"Bash","tool_input":{"command":"%s"}}`,
			name, m.SessionID, strings.Repeat("x", 500+i%500))
	}, fmt.Sprintf(`{"event":"stop","ts":"2026-01-01T00:00:00Z","worker":%q,"session_id":%q,"turn_id":"t"}`, name, m.SessionID))
	m.TranscriptPath = filepath.Join(f.dir, "transcript.jsonl")
	f.must(f.root.Put(m))
	f.fill(m.TranscriptPath, 200<<20, func(i int) string {
		if i%50 == 0 {
			return fmt.Sprintf(`{"type":"user","uuid":"u%d","promptId":"p%d","origin":{"kind":"human"},"message":{"role":"user","content":"prompt %d"}}`, i, i, i)
		}
		return fmt.Sprintf(`{"type":"assistant","uuid":"a%d","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"%s"}],"stop_reason":"end_turn"}}`, i, i, strings.Repeat("word ", 400))
	}, `{"type":"user","uuid":"u","promptId":"p","origin":{"kind":"human"},"message":{"role":"user","content":"the last prompt"}}`,
		`{"type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"the last answer"}],"stop_reason":"end_turn"}}`)
	tail := []string{"tail", "-n", "5", events}
	b.Run("status", func(b *testing.B) { f.against(b, tmuxSessions, "--worker", name, "status") })
	b.Run("read-events-last-5", func(b *testing.B) { f.against(b, tail, "--worker", name, "read-events", "--last", "5") })
	b.Run("read-events-stop-last-5", func(b *testing.B) {
		f.against(b, tail, "--worker", name, "read-events", "--type", "stop", "--last", "5")
	})
	b.Run("read-turn", func(b *testing.B) {
		f.against(b, []string{"tail", "-n", "5", m.TranscriptPath}, "--worker", name, "read-turn")
	})
	b.Run("wait-for-turn-idle-10s", func(b *testing.B) { f.idle(b, "--worker", name, "wait-for-turn", "60") })
	b.Run("follow-idle-10s", func(b *testing.B) { f.idle(b, "--worker", name, "read-events", "--last", "0", "--follow") })
}

// idle measures what a process that waits takes in ten seconds in which nothing happens, once it has come to wait.
func (f *benchFleet) idle(b *testing.B, words ...string) {
	f.b = b
	var costs []cost
	for b.Loop() {
		cmd := exec.Command(f.bin, words...)
		cmd.Env = f.env
		f.must(cmd.Start())
		time.Sleep(3 * time.Second) // the start, and the first look at a large file
		before := f.cpuOf(cmd.Process.Pid)
		time.Sleep(10 * time.Second) // what is measured
		taken := f.cpuOf(cmd.Process.Pid) - before
		f.must(cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		costs = append(costs, cost{10 * time.Second, taken, usage.Maxrss})
	}
	report(b, costs)
}

// cpuOf is the processor time of all threads of a process, in nanoseconds as the scheduler counts them.
func (f *benchFleet) cpuOf(pid int) (sum time.Duration) {
	f.b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	f.must(err)
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // that thread ended
		}
		f.must(err)
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		f.must(err)
		sum += time.Duration(ns)
	}
	return sum
}

// fill writes lines up to a size, and the last ones.
func (f *benchFleet) fill(path string, size int64, line func(i int) string, last ...string) {
	f.b.Helper()
	file, err := os.Create(path)
	f.must(err)
	w := bufio.NewWriterSize(file, 1<<20)
	for i, written := 0, int64(0); written < size; i++ {
		n, err := fmt.Fprintln(w, line(i))
		f.must(err)
		written += int64(n)
	}
	for _, l := range last {
		_, err := fmt.Fprintln(w, l)
		f.must(err)
	}
	f.must(w.Flush())
	f.must(file.Close())
}

// BenchmarkHook: one call of a hook, in turns with a shell that does nothing.
func BenchmarkHook(b *testing.B) {
	f := newBenchFleet(b, 1)
	name := workerName(0)
	m, err := f.root.Find(name)
	f.must(err)
	input := fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PreToolUse","cwd":"/","prompt_id":"t","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"x"}`, m.SessionID)
	call := func(name string, words ...string) cost {
		cmd := exec.Command(name, words...)
		cmd.Env, cmd.Stdin = append(f.env, "GOMAXPROCS=1"), strings.NewReader(input) // as the line does that clients are given
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		return costOf(cmd, start)
	}
	var own, shell []cost
	for b.Loop() {
		own = append(own, call(filepath.Join(f.dir, hookName), "hook", "claude", f.root.Path(), name))
		shell = append(shell, call("/bin/sh", "-c", "cat >/dev/null"))
	}
	report(b, own)
	b.ReportMetric(middle(own, wall)/middle(shell, wall), "wall/peer")
	b.ReportMetric(middle(shell, wall), "peer-wall-ms")
}
