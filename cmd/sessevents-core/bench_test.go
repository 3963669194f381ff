package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
)

// The benchmarks here measure the program as its user meets it: whole processes, and a daemon of its own. They need
// Linux, for what /proc tells; ratios against `bun -e 0` need SESSEVENTS_BUN to name a bun.

// built is the program, built with its second one beside it.
func built(b *testing.B) string {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("needs /proc")
	}
	dir := b.TempDir() + string(filepath.Separator)
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", dir, "../sessevents", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is installed
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return dir + "sessevents"
}

// daemon starts a file-sink daemon on log-events that polls by itself once an hour.
func daemon(b *testing.B, bin string) (env []string, socket string, pid int) {
	b.Helper()
	dir := b.TempDir()
	env = append(os.Environ(), "SESSION_EVENTS_DIR="+dir)
	cmd := exec.Command(bin, "--spec", "log-events", "daemon", "--id", "bench", "--interval", "3600")
	cmd.Env, cmd.Stderr = env, os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	socket = filepath.Join(dir, "bench.log-events.sock")
	for {
		if _, err := control.Ask(context.Background(), socket, control.Request{Op: control.Status}); err == nil {
			return env, socket, cmd.Process.Pid
		}
	}
}

// spent runs a command and returns its wall time and its CPU time.
func spent(b *testing.B, env []string, name string, args ...string) (wall, cpu time.Duration) {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = env
	start := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2]) / float64(time.Millisecond)
}

// BenchmarkCommands measures client commands as whole processes, in turns with `bun -e 0`: what a tool on bun pays
// before it does anything.
func BenchmarkCommands(b *testing.B) {
	bin := built(b)
	env, _, _ := daemon(b, bin)
	file := filepath.Join(b.TempDir(), "build.log")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	bun := os.Getenv("SESSEVENTS_BUN")
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		b.Fatal(err)
	}
	for name, words := range map[string][]string{
		"status":     {"--spec", "log-events", "status", "--id", "bench"},
		"watch":      {"--spec", "log-events", "watch", file, "--id", "bench"},
		"lint-small": {"lint", filepath.Join(examples, "log-events.yaml")},
		"lint-large": {"lint", filepath.Join(examples, "watch-github.yaml")},
	} {
		b.Run(name, func(b *testing.B) {
			var wall, cpu, bunWall, bunCPU []time.Duration
			for b.Loop() {
				w, c := spent(b, env, bin, words...)
				wall, cpu = append(wall, w), append(cpu, c)
				if bun != "" {
					w, c := spent(b, env, bun, "-e", "0")
					bunWall, bunCPU = append(bunWall, w), append(bunCPU, c)
				}
			}
			b.ReportMetric(median(wall), "wall-ms")
			b.ReportMetric(median(cpu), "cpu-ms")
			if bun != "" {
				b.ReportMetric(median(bunWall), "bun-wall-ms")
				b.ReportMetric(median(wall)/median(bunWall), "wall/bun")
				b.ReportMetric(median(cpu)/median(bunCPU), "cpu/bun")
			}
		})
	}
}

// BenchmarkDaemon measures a daemon with files to watch: memory and CPU while nothing happens, and what a poll costs
// in CPU and in bytes written.
func BenchmarkDaemon(b *testing.B) {
	bin := built(b)
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n, "-targets"), func(b *testing.B) {
			_, socket, pid := daemon(b, bin)
			dir := b.TempDir()
			for i := range n {
				file := filepath.Join(dir, fmt.Sprintf("file-%04d.log", i))
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					b.Fatal(err)
				}
				ask(b, socket, control.Request{Op: control.Watch, Words: []string{file}})
			}
			before, wrote, polls := ran(b, pid), written(b, pid), 0
			for b.Loop() {
				wrote += ask(b, socket, control.Request{Op: control.Poll}) // its answer is not a file
				polls++
			}
			b.ReportMetric(float64(ran(b, pid)-before)/float64(polls)/1e3, "cpu-µs/poll")
			b.ReportMetric(float64(written(b, pid)-wrote)/float64(polls), "written-B/poll")
			time.Sleep(2 * time.Second) // the collector's work after the last poll
			idle := ran(b, pid)
			time.Sleep(5 * time.Second)
			b.ReportMetric(float64(ran(b, pid)-idle)/5e6, "idle-cpu-ms/s")
			b.ReportMetric(float64(memory(b, pid))/1e6, "RSS-MB")
		})
	}
}

// BenchmarkWake measures the time from a line written to its event in the log. The daemon's interval is an hour: what
// makes it quick is the notice of the change.
func BenchmarkWake(b *testing.B) {
	_, socket, _ := daemon(b, built(b))
	file := filepath.Join(b.TempDir(), "build.log")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	ask(b, socket, control.Request{Op: control.Watch, Words: []string{file}})
	var took []time.Duration
	for b.Loop() {
		time.Sleep(1100 * time.Millisecond) // a target is polled at most once a second
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := f.WriteString("a line\n"); err != nil {
			b.Fatal(err)
		}
		ask(b, socket, control.Request{Op: control.Wait, Since: int64(len(took))})
		took = append(took, time.Since(start))
		f.Close()
	}
	b.ReportMetric(median(took), "median-ms")
}

// ask asks the daemon and returns how many bytes its answer had.
func ask(b *testing.B, socket string, r control.Request) int64 {
	b.Helper()
	answer, err := control.Ask(context.Background(), socket, r)
	if err != nil || answer.Error != "" {
		b.Fatalf("%s: %+v, %v", r.Op, answer, err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		b.Fatal(err)
	}
	return int64(len(data)) + 1
}

// ran is the time that the threads of a process have run, to the nanosecond.
func ran(b *testing.B, pid int) (sum int64) {
	b.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil {
			ns, _ := strconv.ParseInt(strings.Fields(string(data))[0], 10, 64)
			sum += ns
		}
	}
	return sum
}

// written is what a process has given to write, in bytes, to files and sockets.
func written(b *testing.B, pid int) int64 { return field(b, pid, "io", "wchar:") }

// memory is the resident set of a process, in bytes.
func memory(b *testing.B, pid int) int64 { return field(b, pid, "status", "VmRSS:") * 1024 }

func field(b *testing.B, pid int, file, name string) int64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := json.Number(strings.Fields(rest)[0]).Int64()
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("/proc/%d/%s has no %s", pid, file, name)
	return 0
}
