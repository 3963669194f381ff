package hook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/hook"
	"github.com/sessevents/sessevents/csd/store"
)

// program is a csd that has the hook alone. It is built without the race detector, under which five hundred of them
// would take some gigabytes.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "csd-hook-test")
	if err != nil {
		return "", err
	}
	programDir = dir
	exe := filepath.Join(dir, "csd")
	out, err := exec.Command("go", "build", "-o", exe, "./testdata/csd").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return exe, err
})

var programDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

func exeOf(t testing.TB) string {
	t.Helper()
	exe, err := program()
	must(t, err)
	return exe
}

// process is a call of the hook as a process of its own. Its output is to be empty.
func process(t testing.TB, stdin io.Reader, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(exeOf(t), append([]string{hook.Word}, args...)...)
	cmd.Stdin = stdin
	return cmd
}

// inFile is text that is there at once, however busy the machine is: a hook does not wait long for a pipe.
func inFile(t testing.TB, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "said")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	f, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// silent runs cmd, which has to end within five seconds, with status 0 and without a word.
func silent(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if took := time.Since(begun); err != nil || len(out) > 0 || took > 5*time.Second {
		t.Errorf("after %v: %v, it said %q", took, err, out)
	}
}

// TestF28_FiveHundredHooksAtOnce leave 500 whole lines, short ones, some of more than a page and some of a megabyte;
// what is longer leaves a line that says so.
func TestF28_FiveHundredHooksAtOnce(t *testing.T) {
	r := rootOf(t)
	m := launched(t, r, id1)
	const n = 500
	size := func(i int) int {
		switch {
		case i%100 == 7:
			return 3 << 20
		case i%25 == 3:
			return 900_000
		case i%3 == 0:
			return 6000
		}
		return 10
	}
	calls := make([]*exec.Cmd, n)
	for i := range calls {
		text := strings.Repeat(string(rune('a'+i%26)), size(i))
		in := inFile(t, said("PreToolUse", id1, fmt.Sprintf(`,"tool_use_id":"%d","tool_name":"Write","tool_input":{"content":"%s"}`, i, text)))
		calls[i] = process(t, in, "claude", r.Path(), "w")
	}
	var all sync.WaitGroup
	for _, cmd := range calls {
		all.Go(func() { silentSlow(t, cmd) })
	}
	all.Wait()
	seen := map[string]bool{}
	for line, err := range event.Forward(r.EventsFile(m), 0) {
		must(t, err)
		e, err := event.Parse(line.Raw)
		must(t, err)
		var in struct {
			Content   string
			Truncated bool
		}
		must(t, json.Unmarshal(e.ToolInput, &in))
		var i int
		_, err = fmt.Sscan(e.ToolUseID, &i)
		must(t, err)
		whole := len(in.Content) == size(i) && strings.Trim(in.Content, string(rune('a'+i%26))) == ""
		if long := size(i) > event.MaxInput; long != in.Truncated || !long && !whole {
			t.Errorf("call %d: %d bytes, truncated %v", i, len(in.Content), in.Truncated)
		}
		seen[e.ToolUseID] = true
	}
	if lines, err := event.Lines(r.EventsFile(m), 1<<40); err != nil || len(seen) != n || lines != n {
		t.Errorf("%d calls in %d lines, %v", len(seen), lines, err)
	}
}

// TestF61_AHundredFirstHooksRegisterOneWorker.
func TestF61_AHundredFirstHooksRegisterOneWorker(t *testing.T) {
	r := rootOf(t)
	must(t, r.Mark("w", "codex"))
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			silentSlow(t, process(t, strings.NewReader(said("SessionStart", id1, "")), "codex", r.Path(), "w"))
		})
	}
	all.Wait()
	metas, broken, err := r.All()
	if err != nil || len(metas) != 1 || len(broken) != 0 || len(events(t, r)) != 100 {
		t.Errorf("%+v, %+v, %v, %d events", metas, broken, err, len(events(t, r)))
	}
	for _, name := range files(t, r.Path()) {
		if strings.Contains(name, ".tmp") || strings.HasPrefix(name, "locks/") {
			t.Errorf("%s is left", name)
		}
	}
}

func silentSlow(t testing.TB, cmd *exec.Cmd) {
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v, it said %q", err, out)
	}
}

func TestF29_NothingIsSaidWhateverComes(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	stop := said("Stop", id1, "")
	for _, stdin := range []string{"", "garbage", stop + stop, stop, `{"a":`} {
		silent(t, process(t, strings.NewReader(stdin), "claude", r.Path(), "w"))
	}
	silent(t, process(t, strings.NewReader(stop)))
	exe := exeOf(t)
	for _, words := range []string{`exec "$@" <&-`, `exec "$@" <&- >&- 2>&-`, `exec "$@" </dev/null`, `exec "$@" <"$0"`, `exec "$@" </`} {
		silent(t, exec.Command("sh", "-c", words, exe, exe, hook.Word, "claude", r.Path(), "w"))
	}
	if got := events(t, r); len(got) != 2 {
		t.Errorf("%d events", len(got))
	}
}

// TestF29_NoRoomForALine: a limit on the size of files is met with a signal first, and then with an error.
func TestF29_NoRoomForALine(t *testing.T) {
	r := rootOf(t)
	m := launched(t, r, id1)
	must(t, event.Append(r.EventsFile(m), event.Event{Name: event.SessionStart, CWD: strings.Repeat("x", 1000)}))
	before, err := os.ReadFile(r.EventsFile(m))
	must(t, err)
	cmd := exec.Command("sh", "-c", `ulimit -f 2; exec "$@"`, "sh", exeOf(t), hook.Word, "claude", r.Path(), "w")
	cmd.Stdin = strings.NewReader(said("Stop", id1, `,"last_assistant_message":"`+strings.Repeat("x", 5000)+`"`))
	silent(t, cmd)
	after, err := os.ReadFile(r.EventsFile(m))
	if err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file has %d bytes, before %d, %v", len(after), len(before), err)
	}
}

func TestF30_AProcessWhosePipeStaysOpenEnds(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	t.Run("of", func(t *testing.T) {
		for name, stdin := range map[string]string{"a whole value": said("Stop", id1, ""), "half a value": `{"half":`, "nothing": ""} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				read, write, err := os.Pipe()
				must(t, err)
				_, err = write.WriteString(stdin)
				must(t, err)
				silent(t, process(t, read, "claude", r.Path(), "w"))
				must(t, write.Close(), read.Close())
			})
		}
	})
	if got := events(t, r); len(got) != 1 {
		t.Errorf("%d events", len(got))
	}
}

// TestAHookOutlivesItsTerminal: the end of a session is told while its terminal is being taken away.
func TestAHookOutlivesItsTerminal(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	cmd := process(t, nil, "claude", r.Path(), "w")
	in, err := cmd.StdinPipe()
	must(t, err, cmd.Start())
	// A process that has read a first part of its input has its signals in order.
	half := said("SessionEnd", id1, strings.Repeat(" ", 1<<20)+`,"reason":"other"`)
	_, err = io.WriteString(in, half[:1<<20])
	must(t, err)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGXFSZ} {
		must(t, cmd.Process.Signal(s))
	}
	_, err = io.WriteString(in, half[1<<20:])
	must(t, err, in.Close(), cmd.Wait())
	if got := events(t, r); len(got) != 1 || got[0].Reason != "other" {
		t.Errorf("%+v", got)
	}
}

// TestAWorkerThatIsStoppedMeanwhileStaysStopped: hooks run while all files of the worker are removed.
func TestAWorkerThatIsStoppedMeanwhileStaysStopped(t *testing.T) {
	r := rootOf(t)
	m := launched(t, r, id1)
	var all sync.WaitGroup
	for i := range 40 {
		name, id := "PreToolUse", id1
		if i%4 == 0 {
			name, id = "SessionStart", id2
		}
		cmd := process(t, inFile(t, said(name, id, "")), "claude", r.Path(), "w")
		all.Go(func() { silentSlow(t, cmd) })
		if i == 20 {
			must(t, r.Remove("w", &m))
		}
	}
	all.Wait()
	for _, left := range files(t, r.Path()) {
		if strings.Contains(left, "0c5ef6d6") || strings.HasSuffix(left, "/w") {
			t.Errorf("%s is left", left)
		}
	}
}

// TestANestedCodexIsNotTheWorker: a codex in the shell of a codex has the same hooks.
func TestANestedCodexIsNotTheWorker(t *testing.T) {
	if _, err := os.Readlink("/proc/self/exe"); err != nil {
		t.Skip("the process table does not tell programs here")
	}
	exe := exeOf(t)
	for _, row := range []struct {
		words []string
		want  string
	}{
		{[]string{"client", `"$HOOK_EXE" hook codex "$HOOK_ROOT" w`}, id2},
		{[]string{"client", `"$HOOK_EXE" client '"$HOOK_EXE" hook codex "$HOOK_ROOT" w'`}, id1},
	} {
		r := rootOf(t)
		must(t, r.Put(store.Meta{TmuxName: "w", SessionID: id1, Harness: "codex"}))
		cmd := exec.Command(exe, row.words...)
		cmd.Env = append(os.Environ(), "HOOK_EXE="+exe, "HOOK_ROOT="+r.Path())
		cmd.Stdin = strings.NewReader(said("SessionStart", id2, ""))
		silentSlow(t, cmd)
		if m, err := r.Find("w"); err != nil || m.SessionID != row.want {
			t.Errorf("%s: the worker has session %s, want %s, %v", row.words, m.SessionID, row.want, err)
		}
	}
}

// BenchmarkHookProcess measures one call, from exec to exit: its CPU time is the contract's, at most 10 ms.
func BenchmarkHookProcess(b *testing.B) {
	r := rootOf(b)
	launched(b, r, id1)
	stdin := said("PreToolUse", id1, `,"tool_name":"Bash","tool_input":{"command":"ls"}`)
	var cpu time.Duration
	var memory int64
	for b.Loop() {
		cmd := process(b, strings.NewReader(stdin), "claude", r.Path(), "w")
		must(b, cmd.Run())
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		memory = max(memory, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(memory), "maxrss")
}
