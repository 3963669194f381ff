package fetchers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExecForms(t *testing.T) {
	a := newAsker(t, "exec")
	for _, c := range []struct {
		form, prints string
		want         any
	}{
		{"auto", "abc\n\n", "abc"},
		{"auto", `{"n": 9007199254740993}` + "\n", map[string]any{"n": 9007199254740993}},
		{"auto", "[1] and more", "[1] and more"},
		{"auto", "12\n", "12"},
		{"json", "12\n", 12},
		{"jsonl", "{\"a\":1}\n\n[2]\r\n", []any{map[string]any{"a": 1}, []any{2}}},
		{"jsonl", "", []any{}},
		{"text", "{\"a\":1}\n", `{"a":1}`},
		{"lines", "a\r\nb\n\nc", []any{"a", "b", "", "c"}},
		{"lines", "", []any{}},
	} {
		doc := a.doc(map[string]any{"command": []string{"printf", "%s", c.prints}, "parse": c.form})
		if !reflect.DeepEqual(doc["stdout"], c.want) || doc["exit"] != 0 {
			t.Errorf("%s of %q: %#v", c.form, c.prints, doc)
		}
	}
	for form, prints := range map[string]string{"json": "not", "jsonl": "{}\nnot\n"} {
		err := a.fails("parse", map[string]any{"command": []string{"printf", "%s", prints}, "parse": form})
		if strings.Contains(err.Error(), "{}") {
			t.Errorf("quotes the output: %v", err)
		}
	}
}

func TestC21_ExitCodesAndStderr(t *testing.T) {
	a := newAsker(t, "exec")
	a.fails("exit", map[string]any{"shell": "echo out; yes oops | head -c 10000000 >&2; exit 3"})
	if n := len(a.logs); n != stderrLogged+1 || a.logs[0] != "shell: oops" || a.logs[n-1] != "shell: 10000000 bytes on stderr in all" {
		t.Errorf("%d lines of log: %q", n, a.logs)
	}
	doc := a.doc(map[string]any{"shell": "echo warning >&2; echo out"})
	if doc["stdout"] != "out" || doc["stderr"] != "warning\n" {
		t.Errorf("%v", doc)
	}
	doc = a.doc(map[string]any{"command": []string{"grep", "x", "/dev/null"}, "accept": []int64{0, 1}, "parse": "lines"})
	if doc["exit"] != 1 || len(doc["stdout"].([]any)) != 0 {
		t.Errorf("%v", doc)
	}
	if doc = a.doc(map[string]any{"shell": "exit 4", "accept": []int64{4}, "parse": "json"}); doc["stdout"] != nil {
		t.Errorf("%v", doc)
	}
	a.fails("parse", map[string]any{"shell": "exit 0", "parse": "json"})
	a.fails("signal", map[string]any{"shell": "kill -9 $$"})
	a.fails("not-found", map[string]any{"command": []string{"no-such-command-here"}})
	a.fails("not-found", map[string]any{"command": []string{"/no/such/command"}})
	a.fails("not-found", map[string]any{"command": []string{"true"}, "cwd": "/no/such/folder"})
	plainFile := filepath.Join(t.TempDir(), "f")
	write(t, plainFile, "text")
	a.fails("permission", map[string]any{"command": []string{plainFile}})
	a.fails("invalid", map[string]any{"command": []string{"true"}, "cwd": plainFile})
}

func TestC22_EndlessOutput(t *testing.T) {
	a := newAsker(t, "exec")
	began := time.Now()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a.fails("too-large", map[string]any{"command": []string{"yes"}, "maxBytes": int64(megabyte)})
	a.fails("too-large", map[string]any{"command": []string{"cat", "/dev/zero"}, "maxBytes": int64(megabyte)})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16*megabyte {
		t.Errorf("two outputs of at most a megabyte took %d bytes", took)
	}
	a.fails("too-large", map[string]any{"command": []string{"printf", "12345"}, "maxBytes": int64(4)})
	if doc := a.doc(map[string]any{"command": []string{"printf", "12345"}, "maxBytes": int64(5)}); doc["stdout"] != "12345" {
		t.Errorf("%v", doc)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestC23_ArgumentsMeetNoShell(t *testing.T) {
	a := newAsker(t, "exec")
	args := []string{"; rm -rf ~", "--upload-pack=x", "$(id)", "a b\nc", "", "*"}
	doc := a.doc(map[string]any{"command": append([]string{"printf", "<%s>"}, args...)})
	if want := "<" + strings.Join(args, "><") + ">"; doc["stdout"] != want {
		t.Errorf("got %q, want %q", doc["stdout"], want)
	}
}

func TestC23_Environment(t *testing.T) {
	t.Setenv("CLAUDE_CODE_MESSAGING_TOKEN", "inbox key")
	t.Setenv("KEPT", "kept")
	a := newAsker(t, "exec")
	a.request.Env = map[string]string{"TARGET_PATH": "$(id) `id` \"x"}
	doc := a.doc(map[string]any{
		"shell": `printf '%s|' "$TARGET_PATH" "$KEPT" "$ADDED" "$GIT_TERMINAL_PROMPT" "${CLAUDE_CODE_MESSAGING_TOKEN-none}"; test -n "$HOME$PATH"; wc -c; tty`,
		"env":   map[string]string{"ADDED": "added", "KEPT": "overridden"}, "accept": []int64{1}, "parse": "lines",
	})
	if got := fmt.Sprint(doc["stdout"]); got != "[$(id) `id` \"x|overridden|added|0|none|0 not a tty]" {
		t.Errorf("%s", got)
	}
	if doc := a.doc(map[string]any{"command": []string{"sh", "-c", "echo ${TARGET_PATH-none}"}}); doc["stdout"] != "none" {
		t.Errorf("%v", doc)
	}
	if _, err := os.Stat("/dev/tty"); err == nil {
		a.fails("exit", map[string]any{"shell": "read x < /dev/tty"})
	}
	if doc := a.doc(map[string]any{"command": []string{"cat"}, "stdin": "typed"}); doc["stdout"] != "typed" {
		t.Errorf("%v", doc)
	}
	big := strings.Repeat("x", 1<<20) // more than a pipe holds, to one who does not read
	if doc := a.doc(map[string]any{"command": []string{"true"}, "stdin": big}); doc["exit"] != 0 {
		t.Errorf("%v", doc)
	}
}

func TestExecTimeoutEndsTheWholeGroup(t *testing.T) {
	a := newAsker(t, "exec")
	pids := filepath.Join(t.TempDir(), "pids")
	for name, script := range map[string]string{
		"a child in the background": "sleep 100 & echo $! >> %[1]s; echo $$ >> %[1]s; sleep 100",
		"SIGTERM is ignored":        "trap '' TERM; sleep 100 & echo $! >> %[1]s; echo $$ >> %[1]s; while :; do sleep 1; done",
	} {
		write(t, pids, "")
		began := time.Now()
		a.fails("timeout", map[string]any{"shell": fmt.Sprintf(script, pids), "timeout": 300 * time.Millisecond})
		if d := time.Since(began); d > 2300*time.Millisecond {
			t.Errorf("%s: took %s", name, d)
		}
		wantEnded(t, pids, 2)
	}
}

func TestC25_ACommandThatIsStoppedEndsWithItsTime(t *testing.T) {
	a := newAsker(t, "exec")
	began := time.Now()
	if err := a.fails("timeout", map[string]any{"shell": "kill -STOP $$", "timeout": 100 * time.Millisecond}); !strings.Contains(err.Error(), "shell has not ended after ") {
		t.Error(err)
	}
	if d := time.Since(began); d > 2100*time.Millisecond {
		t.Errorf("took %s", d)
	}
}

func TestExecChildInAnotherSessionHoldsThePipe(t *testing.T) {
	a := newAsker(t, "exec")
	pids := filepath.Join(t.TempDir(), "pids")
	hold := fmt.Sprintf("setsid sleep 30 & echo $! > %s; echo said; ", pids)
	defer func() {
		for _, pid := range readPIDs(t, pids) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	began := time.Now()
	doc := a.doc(map[string]any{"shell": hold})
	if d := time.Since(began); d > 2*time.Second || doc["stdout"] != "said" {
		t.Errorf("took %s: %v", d, doc)
	}
	for _, pid := range readPIDs(t, pids) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	began = time.Now()
	a.fails("timeout", map[string]any{"shell": hold + "sleep 30", "timeout": 300 * time.Millisecond})
	if d := time.Since(began); d > 2300*time.Millisecond {
		t.Errorf("took %s", d)
	}
}

func TestExecLeavesNothingBehindWhenItEndsWell(t *testing.T) {
	a := newAsker(t, "exec")
	pids := filepath.Join(t.TempDir(), "pids")
	write(t, pids, "")
	doc := a.doc(map[string]any{"shell": fmt.Sprintf("sleep 100 & echo $! >> %s; echo done", pids)})
	if doc["stdout"] != "done" {
		t.Errorf("%v", doc)
	}
	wantEnded(t, pids, 1)
}

func TestExecStopsWithThePoll(t *testing.T) {
	a := newAsker(t, "exec")
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	ready := filepath.Join(dir, "ready")
	must(t, syscall.Mkfifo(ready, 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := a.askCtx(ctx, map[string]any{"shell": fmt.Sprintf("echo $$ > %s; echo > %s; sleep 100", pids, ready)})
		done <- err
	}()
	_, err := os.ReadFile(ready)
	must(t, err)
	cancel()
	if err := <-done; err != context.Canceled {
		t.Error(err)
	}
	wantEnded(t, pids, 1)
}

func TestExecRedactsSecrets(t *testing.T) {
	a := newAsker(t, "exec")
	a.request.Secrets = []string{"hunter2"}
	a.fails("exit", map[string]any{"shell": "echo token $TOKEN >&2; exit 1", "env": map[string]string{"TOKEN": "hunter2"}})
	if len(a.logs) != 1 || a.logs[0] != "shell: token [redacted]" {
		t.Errorf("%q", a.logs)
	}
	if err := a.fails("not-found", map[string]any{"command": []string{"/none/hunter2"}}); strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

func readPIDs(t *testing.T, path string) []int {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	var pids []int
	for _, word := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(word)
		must(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// wantEnded waits until none of the processes runs: they are killed, but their new parent has to reap them.
func wantEnded(t *testing.T, path string, n int) {
	t.Helper()
	pids := readPIDs(t, path)
	if len(pids) != n {
		t.Fatalf("%d processes were started: %v", n, pids)
	}
	deadline := time.Now().Add(2 * time.Second)
	for _, pid := range pids {
		for running(pid) {
			if time.Now().After(deadline) {
				t.Errorf("process %d still runs", pid)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
