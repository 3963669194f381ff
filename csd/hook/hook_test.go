package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/hook"
	"github.com/sessevents/sessevents/csd/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

var at = time.Date(2026, 11, 30, 16, 20, 24, 0, time.UTC)

func now() time.Time { return at }

func noEnv(string) string { return "" }

func rootOf(t testing.TB) *store.Root {
	t.Helper()
	dir := t.TempDir()
	r, err := store.Open(func(string) string { return dir })
	must(t, err)
	must(t, r.Make())
	return r
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// launched registers a worker w of claude, as its launch does.
func launched(t testing.TB, r *store.Root, id string) store.Meta {
	t.Helper()
	must(t, r.Put(store.Meta{TmuxName: "w", SessionID: id, CWD: "/home/u", Harness: "claude"}))
	m, err := r.Find("w")
	must(t, err)
	return m
}

func run(r *store.Root, harness, stdin string) {
	hook.Run(context.Background(), []string{harness, r.Path(), "w"}, strings.NewReader(stdin), noEnv, now)
}

// events are the lines of worker w; none where there is no file.
func events(t testing.TB, r *store.Root) []event.Event {
	t.Helper()
	m, err := r.Find("w")
	must(t, err)
	var all []event.Event
	for line, err := range event.Forward(r.EventsFile(m), 0) {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		must(t, err)
		e, err := event.Parse(line.Raw)
		must(t, err)
		all = append(all, e)
	}
	return all
}

func files(t testing.TB, dir string) (all []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != dir {
			all = append(all, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}))
	return all
}

// TestWhatEachClientSaysBecomesEvents: recorded calls of the real clients, and the lines they leave. A call for which
// there is no event leaves an empty line in the golden file.
func TestWhatEachClientSaysBecomesEvents(t *testing.T) {
	for _, client := range []string{"claude", "codex", "pi"} {
		said, err := os.ReadFile(filepath.Join("testdata", client, "hooks.jsonl"))
		must(t, err)
		var got bytes.Buffer
		for in := range strings.Lines(string(said)) {
			var call struct {
				ID string `json:"session_id"`
			}
			must(t, json.Unmarshal([]byte(in), &call))
			r := rootOf(t)
			if client == "claude" {
				launched(t, r, call.ID)
			} else {
				must(t, r.Mark("w", client))
			}
			run(r, client, in)
			data, err := os.ReadFile(filepath.Join(r.Path(), call.ID+".events.jsonl"))
			if errors.Is(err, os.ErrNotExist) {
				data, err = []byte("\n"), nil
			}
			must(t, err)
			got.Write(data)
		}
		golden := filepath.Join("testdata", client, "events.jsonl")
		if *update {
			must(t, os.WriteFile(golden, got.Bytes(), 0o644))
			continue
		}
		want, err := os.ReadFile(golden)
		must(t, err)
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", client, got.Bytes(), want)
		}
	}
}

func said(name, id, more string) string {
	return `{"hook_event_name":"` + name + `","session_id":"` + id + `","transcript_path":"/home/u/` + id + `.jsonl","cwd":"/home/u"` + more + `}`
}

const (
	id1 = "0c5ef6d6-0eb1-4659-9bac-698d54c46c31"
	id2 = "0c5ef6d6-0eb1-4659-9bac-698d54c46c32"
)

func TestF32_ANewSessionIsFollowed(t *testing.T) {
	for _, begin := range []struct{ name, more string }{
		{"SessionStart", `,"source":"clear"`}, {"UserPromptSubmit", `,"prompt":"the start was missed"`},
	} {
		r := rootOf(t)
		first := launched(t, r, id1)
		run(r, "claude", said("SessionStart", id1, `,"source":"startup"`))
		run(r, "claude", said(begin.name, id2, begin.more))
		run(r, "claude", said("Stop", id2, ""))
		m, err := r.Find("w")
		if err != nil || m.SessionID != id2 || m.TranscriptPath != "/home/u/"+id2+".jsonl" || r.EventsFile(m) != r.EventsFile(first) {
			t.Errorf("%s: %+v, %v", begin.name, m, err)
		}
		if got := events(t, r); len(got) != 3 || got[0].SessionID != id1 || got[2].SessionID != id2 || got[2].Worker != "w" {
			t.Errorf("%s: %+v", begin.name, got)
		}
	}
}

func TestF32_ACompactionIsNoIdleWorker(t *testing.T) {
	r := rootOf(t)
	m := launched(t, r, id1)
	run(r, "claude", said("UserPromptSubmit", id1, `,"prompt":"x"`))
	run(r, "claude", said("SessionStart", id1, `,"source":"compact"`))
	got := events(t, r)
	if len(got) != 2 || got[1].Source != event.SourceCompact {
		t.Fatalf("%+v", got)
	}
	if s, err := event.Of(r.EventsFile(m)); err != nil || s.State != event.Working {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestAnotherSessionsToolsAreNotedAndChangeNothing: a client may run others beside its own.
func TestAnotherSessionsToolsAreNotedAndChangeNothing(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	run(r, "claude", said("PreToolUse", id2, `,"tool_name":"Bash"`))
	m, err := r.Find("w")
	if got := events(t, r); err != nil || m.SessionID != id1 || len(got) != 1 || got[0].SessionID != id2 {
		t.Errorf("%+v, %v, %+v", m, err, got)
	}
}

func TestF31_WhoIsNoWorkerLeavesNoFile(t *testing.T) {
	for name, prepare := range map[string]func(r *store.Root) error{
		"nothing is known": func(*store.Root) error { return nil },
		"another worker": func(r *store.Root) error {
			return r.Put(store.Meta{TmuxName: "other", SessionID: id1, Harness: "claude"})
		},
		"of another harness":         func(r *store.Root) error { return r.Put(store.Meta{TmuxName: "w", SessionID: id1, Harness: "pi"}) },
		"marked for another harness": func(r *store.Root) error { return r.Mark("w", "codex") },
	} {
		r := rootOf(t)
		must(t, prepare(r))
		before := files(t, r.Path())
		run(r, "claude", said("SessionStart", id1, ""))
		if left := files(t, r.Path()); strings.Join(left, " ") != strings.Join(before, " ") {
			t.Errorf("%s: %v, before %v", name, left, before)
		}
	}
	dir := filepath.Join(t.TempDir(), "none")
	hook.Run(context.Background(), []string{"claude", dir, "w"}, strings.NewReader(said("Stop", id1, "")), noEnv, now)
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the hook made a root: %v", err)
	}
}

func TestF31_AStoppedWorkerGetsNoFilesAgain(t *testing.T) {
	for _, harness := range []string{"claude", "codex"} {
		r := rootOf(t)
		if harness == "claude" {
			launched(t, r, id1)
		} else {
			must(t, r.Mark("w", harness))
		}
		run(r, harness, said("SessionStart", id1, ""))
		m, err := r.Find("w")
		must(t, err, r.Remove("w", &m))
		run(r, harness, said("SessionEnd", id1, ""))
		run(r, harness, said("SessionStart", id2, ""))
		for _, left := range files(t, r.Path()) {
			if left != "locks" && left != "names" {
				t.Errorf("%s: %s came back", harness, left)
			}
		}
	}
}

func TestF61_AMarkedWorkerRegistersItself(t *testing.T) {
	r := rootOf(t)
	must(t, r.Mark("w", "codex"), r.PutState("w", store.State{Pending: &store.Meta{Invocation: []string{"--harness", "codex"}, CWD: "/home/u/real", StartedAt: at}}))
	getenv := func(name string) string {
		return map[string]string{"TMUX": "/tmp/a,b/default,12,0", "SECRET": "s3cret"}[name]
	}
	call := func(stdin string) {
		hook.Run(context.Background(), []string{"codex", r.Path(), "w", "unused"}, strings.NewReader(stdin), getenv, now)
	}
	call(said("SessionStart", id1, `,"source":"startup"`))
	m, err := r.Find("w")
	if err != nil || m.SessionID != id1 || m.Harness != "codex" || m.TmuxSocket != "/tmp/a,b/default" || m.CWD != "/home/u/real" || len(m.Invocation) != 2 || m.TranscriptPath == "" || !m.StartedAt.Equal(at) {
		t.Errorf("%+v, %v", m, err)
	}
	// It never overwrites a newer meta.
	m.CWD = "/changed"
	must(t, r.Put(m))
	call(said("SessionStart", id1, ""))
	if m, err = r.Find("w"); err != nil || m.CWD != "/changed" || len(events(t, r)) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	for _, name := range files(t, r.Path()) {
		if data, err := os.ReadFile(filepath.Join(r.Path(), name)); err == nil && bytes.Contains(data, []byte("s3cret")) {
			t.Errorf("%s holds what was in the environment", name)
		}
	}
}

func TestAPromptIsKnownByItsDigest(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	long := strings.Repeat("wörd\t", 5000)
	quoted, err := json.Marshal("\n\n<pasted_content id=\"8808\">\n" + strings.ReplaceAll(long, "\t", "    ") + "\n</pasted_content id=\"8808\">\n")
	must(t, err)
	run(r, "claude", said("UserPromptSubmit", id1, `,"prompt":`+string(quoted)))
	got := events(t, r)
	if len(got) != 1 || got[0].PromptSHA256 != event.Digest(long) || len([]rune(got[0].Prompt)) != event.MaxText || !strings.HasPrefix(got[0].Prompt, "wörd") {
		t.Fatalf("%d events, %.100q", len(got), got[0].Prompt)
	}
	if want := len(strings.ReplaceAll(long, "\t", "    ")); got[0].PromptBytes != want {
		t.Errorf("%d bytes, want %d", got[0].PromptBytes, want)
	}
}

func TestF35_APromptToABusyClientIsQueued(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	for _, call := range []string{
		said("UserPromptSubmit", id1, `,"prompt_id":"a","prompt":"1"`), said("PreToolUse", id1, `,"prompt_id":"a"`),
		said("UserPromptSubmit", id1, `,"prompt_id":"a","prompt":"2"`), said("Stop", id1, `,"prompt_id":"a"`),
		said("UserPromptSubmit", id1, `,"prompt_id":"b","prompt":"3"`), // b is interrupted; no hook says so
		said("UserPromptSubmit", id1, `,"prompt_id":"c","prompt":"4"`),
	} {
		run(r, "claude", call)
	}
	var queued []string
	for _, e := range events(t, r) {
		if e.Queued {
			queued = append(queued, e.Prompt)
		}
	}
	if strings.Join(queued, " ") != "2" {
		t.Errorf("queued: %v", queued)
	}
}

func TestF41_ANotificationIsNoPersonsPrompt(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	run(r, "claude", said("UserPromptSubmit", id1, `,"prompt":"<task-notification>\n<task-id>b1bthtr5n</task-id>\n<status>failed</status>\n<summary>x</summary>\n</task-notification>"`))
	run(r, "claude", said("Stop", id1, `,"background_tasks":[{"id":"b2","type":"shell","status":"running","description":"d","command":"sleep 9"},{"id":7},"x"]`))
	got := events(t, r)
	if len(got) != 2 || got[0].Notification == nil || *got[0].Notification != (event.Notification{TaskID: "b1bthtr5n", Status: "failed"}) {
		t.Errorf("%+v", got)
	}
	if want := (event.Task{ID: "b2", Type: "shell", Status: "running", Description: "d", Command: "sleep 9"}); len(got[1].BackgroundTasks) != 1 || got[1].BackgroundTasks[0] != want {
		t.Errorf("%+v", got[1].BackgroundTasks)
	}
}

// TestF41_TheTerminalsOfCodexComeFromItsRollout, which is read on from where the last hook was.
func TestF41_TheTerminalsOfCodexComeFromItsRollout(t *testing.T) {
	r := rootOf(t)
	must(t, r.Mark("w", "codex"))
	rollout := filepath.Join(t.TempDir(), "rollout.jsonl")
	running := func() string {
		run(r, "codex", `{"hook_event_name":"Stop","session_id":"`+id1+`","turn_id":"t","transcript_path":"`+rollout+`"}`)
		all := events(t, r)
		var ids []string
		for _, task := range all[len(all)-1].BackgroundTasks {
			if task.Type != "shell" || task.Status != "running" {
				t.Errorf("%+v", task)
			}
			ids = append(ids, task.ID+" "+task.Command)
		}
		return strings.Join(ids, ", ")
	}
	run(r, "codex", said("SessionStart", id1, ""))
	add := func(lines ...string) {
		f, err := os.OpenFile(rollout, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
		must(t, err, f.Close())
	}
	if got := running(); got != "" {
		t.Errorf("without a rollout: %s", got)
	}
	begun := func(call, number, command string) []string {
		return []string{
			`{"timestamp":"2026-11-30T16:07:39Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"` + command + `\"}","call_id":"` + call + `"}}`,
			`{"timestamp":"2026-11-30T16:07:42Z","type":"response_item","payload":{"type":"function_call_output","call_id":"` + call + `","output":"Chunk ID: 7fd22c\nWall time: 1.0102 seconds\nProcess running with session ID ` + number + `\nOriginal token count: 0\nOutput:\n"}}`,
		}
	}
	add(begun("call_13", "58690", "sleep 987")...)
	if got := running(); got != "call_13 sleep 987" {
		t.Errorf("one: %s", got)
	}
	add(begun("call_17", "97634", "top")...)
	if got := running(); got != "call_13 sleep 987, call_17 top" {
		t.Errorf("two: %s", got)
	}
	state, err := r.State("w")
	must(t, err)
	if info, err := os.Stat(rollout); err != nil || state.TerminalsOffset != info.Size() || state.Transcript != rollout {
		t.Errorf("%+v, %v", state, err)
	}
	add(`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_13","process_id":"58690","status":"failed","exit_code":143}}}`)
	if got := running(); got != "call_17 top" {
		t.Errorf("the first one ended: %s", got)
	}
	// A rollout of which far too much is unread is left to csd's own commands.
	must(t, r.PutState("w", store.State{}), os.Truncate(rollout, 40<<20))
	if got := running(); got != "" {
		t.Errorf("too much to read: %s", got)
	}
}

func TestF39_EveryFailureHasOneOfOurWords(t *testing.T) {
	for _, row := range []struct {
		harness, call string
		want          event.Failure
	}{
		{"claude", said("StopFailure", id1, `,"error":"rate_limit","last_assistant_message":"API Error: 429"`), event.Failure{Type: "rate_limit", Message: "API Error: 429"}},
		{"claude", said("StopFailure", id1, `,"error":"oauth_org_not_allowed"`), event.Failure{Type: "authentication_failed", Message: "oauth_org_not_allowed"}},
		{"claude", said("StopFailure", id1, `,"error":"word of tomorrow"`), event.Failure{Type: "unknown", Message: "word of tomorrow"}},
		{"pi", said("stop", id1, `,"stop_reason":"error","error":"500 stub says 500"`), event.Failure{Type: "server_error", Message: "500 stub says 500"}},
		{"pi", said("stop", id1, `,"stop_reason":"error","error":"429"`), event.Failure{Type: "rate_limit", Message: "429"}},
		{"pi", said("stop", id1, `,"stop_reason":"error","error":"401 no"`), event.Failure{Type: "authentication_failed", Message: "401 no"}},
		{"pi", said("stop", id1, `,"stop_reason":"error","error":"400: no"`), event.Failure{Type: "invalid_request", Message: "400: no"}},
		{"pi", said("stop", id1, `,"stop_reason":"error","error":"Model is Overloaded"`), event.Failure{Type: "overloaded", Message: "Model is Overloaded"}},
		{"pi", said("stop", id1, `,"stop_reason":"error","error":"terminated"`), event.Failure{Type: "server_error", Message: "terminated"}},
		{"pi", said("stop", id1, `,"stop_reason":"error"`), event.Failure{Type: "unknown"}},
	} {
		r := rootOf(t)
		must(t, r.Put(store.Meta{TmuxName: "w", SessionID: id1, Harness: row.harness}))
		run(r, row.harness, row.call)
		got := events(t, r)
		if len(got) != 1 || got[0].Name != event.Stop || got[0].Error == nil || *got[0].Error != row.want || got[0].LastAssistantMessage != "" {
			t.Errorf("%s: %+v", row.call, got)
		}
	}
}

func TestF40_AnInterruptionIsAStop(t *testing.T) {
	for harness, call := range map[string]string{"codex": said("Interrupt", id1, `,"turn_id":"t"`), "pi": said("stop", id1, `,"turn_id":"t","stop_reason":"aborted","error":"Operation aborted"`)} {
		r := rootOf(t)
		must(t, r.Mark("w", harness))
		run(r, harness, call)
		if got := events(t, r); len(got) != 1 || got[0].Name != event.Stop || !got[0].Interrupted || got[0].Error != nil || got[0].TurnID != "t" {
			t.Errorf("%s: %+v", harness, got)
		}
	}
}

// TestF29_GarbageChangesNothing, and F03: neither do words that are no names.
func TestF29_GarbageChangesNothing(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	before := strings.Join(files(t, r.Path()), " ")
	for _, stdin := range []string{
		"", "garbage", "{", "[]", "null", `"x"`, "7", "{}", said("Stop", "", ""), said("Stop", "../../x", ""), said("Nonsense", id1, ""), said("stop", id1, ""),
		said("PostToolUse", id1, ""), strings.TrimSuffix(said("Stop", id1, ""), "}"), `{"hook_event_name":"Stop","session_id":7}`, "\x00\x01\x02", strings.Repeat("[", 100_000),
	} {
		run(r, "claude", stdin)
	}
	for _, args := range [][]string{
		{},
		{"claude"},
		{"claude", r.Path()},
		{"claude", r.Path(), "../w"},
		{"claude", r.Path(), ""},
		{"emacs", r.Path(), "w"},
		{"claude", "relative", "w"},
		{"claude", r.Path(), "w", "Stop", "more"},
		{"claude", "/dev/null", "w"},
	} {
		hook.Run(context.Background(), args, strings.NewReader(said("Stop", id1, "")), noEnv, now)
	}
	if after := strings.Join(files(t, r.Path()), " "); after != before {
		t.Errorf("files %s, before %s", after, before)
	}
}

func TestAMemberOfAnotherTypeIsLeftOut(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	run(r, "claude", "\xef\xbb\xbf "+said("PreToolUse", id1, `,"pid":"x","prompt":7,"tool_name":"Bash","tool_input":"text"`))
	if got := events(t, r); len(got) != 1 || got[0].Tool != "Bash" || string(got[0].ToolInput) != "{}" {
		t.Errorf("%+v", got)
	}
}

func TestTheEventMayBeAWordOfTheCall(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	hook.Run(context.Background(), []string{"claude", r.Path(), "w", "SessionEnd"}, strings.NewReader(`{"session_id":"`+id1+`"}`), noEnv, now)
	if got := events(t, r); len(got) != 1 || got[0].Name != event.SessionEnd {
		t.Errorf("%+v", got)
	}
}

// openPipe is a pipe with text in it that nobody closes.
func openPipe(t *testing.T, text string) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { must(t, write.Close(), read.Close()) })
	_, err = write.WriteString(text)
	must(t, err)
	return read
}

func TestF30_AnOpenPipeIsReadAsFarAsTheValue(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	stdin := openPipe(t, said("Stop", id1, ""))
	begun := time.Now()
	hook.Run(t.Context(), []string{"claude", r.Path(), "w"}, stdin, noEnv, now)
	if took := time.Since(begun); len(events(t, r)) != 1 || took > 4*time.Second {
		t.Errorf("%d events after %v", len(events(t, r)), took)
	}
}

func TestF30_HalfAValueAndNoEnd(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	stdin := openPipe(t, `{"hook_event_name":"Stop","session_id":"`+id1+`"`)
	begun := time.Now()
	hook.Run(t.Context(), []string{"claude", r.Path(), "w"}, stdin, noEnv, now)
	if took := time.Since(begun); took > 5*time.Second || took < time.Second {
		t.Errorf("it took %v", took)
	}
	if got := events(t, r); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestF30_EndlessInputIsBounded(t *testing.T) {
	r := rootOf(t)
	launched(t, r, id1)
	head := strings.TrimSuffix(said("Stop", id1, `,"last_assistant_message":"`), `"}`)
	hook.Run(t.Context(), []string{"claude", r.Path(), "w"}, io.MultiReader(strings.NewReader(head), as{}), noEnv, now)
	if got := events(t, r); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// as is text without end.
type as struct{}

func (as) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

func FuzzHook(f *testing.F) {
	for _, client := range []string{"claude", "codex", "pi"} {
		lines, err := os.ReadFile(filepath.Join("testdata", client, "hooks.jsonl"))
		must(f, err)
		for line := range strings.Lines(string(lines)) {
			f.Add(client, []byte(line))
		}
	}
	f.Add("claude", []byte(said("UserPromptSubmit", id1, `,"prompt":"<task-notification><task-id>"`)))
	f.Fuzz(func(t *testing.T, harness string, stdin []byte) {
		r := rootOf(t)
		must(t, r.Put(store.Meta{TmuxName: "w", SessionID: id1, Harness: "claude"}))
		begun := time.Now()
		for _, h := range []string{harness, "claude"} {
			hook.Run(t.Context(), []string{h, r.Path(), "w"}, bytes.NewReader(stdin), noEnv, now)
		}
		if took := time.Since(begun); took > 9*time.Second { // as long as nobody holds a lock
			t.Errorf("it took %v", took)
		}
		for i, e := range events(t, r) {
			if !e.Name.Known() || e.Worker != "w" || i > 1 {
				t.Errorf("%q: %+v", stdin, e)
			}
		}
	})
}
