package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/store"
)

// lockHelper makes this test a process that holds the reservation of worker w in the root of its value, until it is
// killed.
const lockHelper = "CSD_STORE_TEST_RESERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockHelper); dir != "" {
		r, err := store.At(dir)
		if err == nil {
			_, err = r.Reserve("w")
		}
		fmt.Println(err)
		select {}
	}
	os.Exit(m.Run())
}

func rootOf(t testing.TB) *store.Root {
	t.Helper()
	r, err := store.Open(func(name string) string {
		if name == "CSD_WORKER_DIR" {
			return filepath.Join(t.TempDir(), "above", "root")
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	must(t, r.Make())
	return r
}

func worker(name, id string) store.Meta {
	return store.Meta{
		TmuxName: name, SessionID: id, CWD: "/c", Harness: "claude", StartedAt: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC),
		Invocation: []string{name, "/c", "--", "-x"}, TranscriptPath: "/t", TmuxSocket: "/s", ConfigDir: "/d",
	}
}

func files(t testing.TB, r *store.Root) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(r.Path(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != r.Path() {
			rel, _ := filepath.Rel(r.Path(), path)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestALookMakesNoFolder: one that is not there has nobody in it.
func TestALookMakesNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	r, err := store.Open(func(string) string { return dir })
	must(t, err)
	if metas, broken, err := r.All(); err != nil || len(metas)+len(broken) != 0 {
		t.Errorf("%v, %v, %v", metas, broken, err)
	}
	if orphans, err := r.Orphans(func(string) bool { return true }); err != nil || len(orphans) != 0 {
		t.Errorf("%v, %v", orphans, err)
	}
	var unknown *store.UnknownError
	if _, err := r.Find("w"); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	must(t, r.Make(), r.Make(), r.Put(worker("w", "11111111-2222-4333-8444-555555555555")))
}

func TestF57_TheRootIsOursAlone(t *testing.T) {
	dir := t.TempDir()
	open := func(name string) (*store.Root, error) {
		return store.Open(func(string) string { return filepath.Join(dir, name) })
	}
	wide, link, file := filepath.Join(dir, "wide"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	must(t, os.Mkdir(wide, 0o777), os.Chmod(wide, 0o777), os.Symlink(wide, link), os.WriteFile(file, nil, 0o600))
	r, err := open("wide")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(r.Path()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for name, want := range map[string]string{"link": "a symbolic link", "file": "file exists"} {
		if _, err := open(name); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "a file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if os.Geteuid() == 0 {
		foreign := filepath.Join(dir, "foreign")
		must(t, os.Mkdir(foreign, 0o700), os.Chown(foreign, 12345, 12345))
		if _, err := open("foreign"); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("foreign: %v", err)
		}
	}
	if _, err := store.At(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := store.At("relative"); err == nil {
		t.Error("a relative root is taken")
	}
}

func TestEveryFileIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	r := rootOf(t)
	m := worker("w", "0c5ef6d6-0001")
	must(t, r.Put(m), r.Mark("w", "pi"), r.PutState("w", store.State{Offset: 1}), r.WriteShim("w", "/bin/csd"), event.Append(r.EventsFile(m), event.Event{Name: event.Stop}))
	if _, err := r.WriteLaunch("w", store.Launch{Argv: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	release, err := r.Reserve("w")
	must(t, err)
	defer release()
	for _, name := range files(t, r) {
		info, err := os.Lstat(filepath.Join(r.Path(), name))
		must(t, err)
		if info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func TestF03_NamesAndIDs(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "Worker_1-x": true, "7": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "-x": false, "_x": false, "a.b": false, "a:b": false, "a/b": false, "..": false, "a b": false,
		"a'b": false, "$(x)": false, "é": false, "a\n": false,
	} {
		if store.ValidName(name) != want {
			t.Errorf("ValidName(%q) is %v", name, !want)
		}
		if want {
			continue
		}
		r := rootOf(t)
		_, reserve := r.Reserve(name)
		_, launch := r.WriteLaunch(name, store.Launch{Argv: []string{"x"}})
		_, state := r.State(name)
		for i, err := range []error{
			reserve, launch, state, r.Put(worker(name, "0c5ef6d6-0001")), r.Mark(name, "pi"), r.WriteShim(name, "/csd"),
			r.PutState(name, store.State{}), r.Remove(name, nil),
		} {
			if err == nil {
				t.Errorf("%q: step %d takes it", name, i)
			}
		}
		if left := files(t, r); len(left) > 0 {
			t.Errorf("%q left %v", name, left)
		}
	}
	for id, want := range map[string]bool{
		"0c5ef6d6-0eb1-4659-9bac-698d54c46c3c": true, "abcdefgh": true, "abcdefg": false, "-abcdefgh": false, "abcd/../efgh": false,
		"abcdefgh.x": false, strings.Repeat("a", 129): false, "": false,
	} {
		if store.ValidID(id) != want {
			t.Errorf("ValidID(%q) is %v", id, !want)
		}
	}
}

func TestAWorkerIsFoundByNameAndByID(t *testing.T) {
	r := rootOf(t)
	m := worker("w", "0c5ef6d6-0001")
	must(t, r.Put(worker("other", "0c5ef6d6-0002")), r.Put(m))
	m.EventsFile = "0c5ef6d6-0001.events.jsonl"
	for _, handle := range []string{"w", m.SessionID} {
		if got, err := r.Find(handle); err != nil || asJSON(t, got) != asJSON(t, m) {
			t.Errorf("%s: %+v, %v", handle, got, err)
		}
	}
	var unknown *store.UnknownError
	for _, handle := range []string{"x", "", "../w", "0c5ef6d6-0003"} {
		if got, err := r.Find(handle); !errors.As(err, &unknown) || err.Error() != "no worker known as '"+handle+"'" {
			t.Errorf("%s: %+v, %v", handle, got, err)
		}
	}
	index := filepath.Join(r.Path(), "names", "w")
	for what, wreck := range map[string]func() error{
		"lost":           func() error { return os.Remove(index) },
		"of another":     func() error { return errors.Join(os.Remove(index), os.Symlink("0c5ef6d6-0002", index)) },
		"of nobody":      func() error { return errors.Join(os.Remove(index), os.Symlink("0c5ef6d6-0009", index)) },
		"a path":         func() error { return errors.Join(os.Remove(index), os.Symlink("../0c5ef6d6-0001", index)) },
		"a file":         func() error { return errors.Join(os.Remove(index), os.WriteFile(index, []byte("x"), 0o600)) },
		"a false folder": func() error { return errors.Join(os.Remove(index), os.Mkdir(index, 0o700)) },
	} {
		must(t, wreck())
		if got, err := r.Find("w"); err != nil || got.SessionID != m.SessionID {
			t.Errorf("the index is %s: %+v, %v", what, got, err)
		}
		must(t, os.RemoveAll(index), r.Put(m))
	}
}

func asJSON(t testing.TB, m store.Meta) string {
	t.Helper()
	data, err := json.Marshal(m)
	must(t, err)
	return string(data)
}

func TestMembersThatAreNotKnownAreKept(t *testing.T) {
	r := rootOf(t)
	path := filepath.Join(r.Path(), "0c5ef6d6-0001.meta")
	must(t, os.WriteFile(path, []byte(`{"model":{"a":[1]},"tmux_name":"w","session_id":"0c5ef6d6-0001","cwd":"/c","harness":"codex","z":null}`), 0o600))
	m, err := r.Find("w")
	must(t, err)
	m.CWD = "/d"
	must(t, r.Put(m))
	data, err := os.ReadFile(path)
	must(t, err)
	if got, want := string(data), `{"tmux_name":"w","session_id":"0c5ef6d6-0001","cwd":"/d","harness":"codex","events_file":"0c5ef6d6-0001.events.jsonl","model":{"a":[1]},"z":null}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestF55_BrokenMetasAreToldApart(t *testing.T) {
	r := rootOf(t)
	must(t, r.Put(worker("b", "0c5ef6d6-0002")), r.Put(worker("a", "0c5ef6d6-0001")))
	broken := map[string]string{
		"0c5ef6d6-1001": "garbage", "0c5ef6d6-1002": "{}", "0c5ef6d6-1003": "[]", "0c5ef6d6-1004": `{"tmux_name":7,"session_id":"0c5ef6d6-1004","harness":"pi"}`,
		"0c5ef6d6-1005": "", "0c5ef6d6-1006": `{"tmux_name":"../x","session_id":"0c5ef6d6-1006","harness":"pi"}`,
		"0c5ef6d6-1007": `{"tmux_name":"x","session_id":"0c5ef6d6-9999","harness":"pi"}`, "0c5ef6d6-1008": strings.Repeat(" ", 2<<20),
		"../bad": `x`, "short": `{"tmux_name":"x","session_id":"short","harness":"pi"}`,
		"0c5ef6d6-1009": `{"tmux_name":"x","session_id":"0c5ef6d6-1009","harness":"pi","started_at":"never"}`,
		"0c5ef6d6-1010": "\x00\x00\x00",
	}
	delete(broken, "../bad")
	for id, content := range broken {
		must(t, os.WriteFile(filepath.Join(r.Path(), id+".meta"), []byte(content), 0o600))
	}
	must(t, syscall.Mkfifo(filepath.Join(r.Path(), "0c5ef6d6-2001.meta"), 0o600), os.Symlink("0c5ef6d6-0001.meta", filepath.Join(r.Path(), "0c5ef6d6-2002.meta")))
	metas, bad, err := r.All()
	if err != nil || len(metas) != 2 || metas[0].TmuxName != "a" || metas[1].TmuxName != "b" {
		t.Errorf("%+v, %v", metas, err)
	}
	if len(bad) != len(broken)+2 {
		t.Errorf("%d of %d are broken: %v", len(bad), len(broken)+2, bad)
	}
	for _, b := range bad {
		if b.Err == nil || b.File == "" {
			t.Errorf("%+v", b)
		}
	}
	var unknown *store.UnknownError
	if _, err := r.Find("x"); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	orphans, err := r.Orphans(func(string) bool { return false })
	must(t, err)
	if len(orphans) != 1 || len(orphans[0].Files) != len(bad) {
		t.Fatalf("%+v", orphans)
	}
	must(t, r.Sweep(orphans[0]))
	if metas, bad, err = r.All(); err != nil || len(metas) != 2 || len(bad) != 0 {
		t.Errorf("after the sweep: %v, %v, %v", metas, bad, err)
	}
}

// TestF56_AMetaIsNeverHalf: readers beside a writer see whole ones.
func TestF56_AMetaIsNeverHalf(t *testing.T) {
	r := rootOf(t)
	m := worker("w", "0c5ef6d6-0001")
	must(t, r.Put(m))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got, err := r.Find("w"); err != nil || got.CWD == "" {
					t.Errorf("%+v, %v", got, err)
					return
				}
			}
		})
	}
	for i := range 50 {
		m.CWD = "/" + strings.Repeat("x", i*1000)
		must(t, r.Put(m))
	}
	close(done)
	readers.Wait()
	for _, name := range files(t, r) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
}

func TestF32_ANewSessionKeepsTheEventsFile(t *testing.T) {
	r := rootOf(t)
	m := worker("w", "0c5ef6d6-0001")
	must(t, r.Put(m))
	m, err := r.Find("w")
	must(t, err)
	events := r.EventsFile(m)
	for _, id := range []string{"0c5ef6d6-0002", "0c5ef6d6-0003"} {
		old := m
		if m, err = r.Repoint(m, id, "/t/"+id); err != nil || m.SessionID != id || m.TranscriptPath != "/t/"+id || r.EventsFile(m) != events {
			t.Fatalf("%+v, %v", m, err)
		}
		var unknown *store.UnknownError
		if _, err := r.Find(old.SessionID); !errors.As(err, &unknown) {
			t.Errorf("the old session is still known: %v", err)
		}
		// Whoever comes later with the older meta changes nothing.
		if got, err := r.Repoint(old, "0c5ef6d6-0009", "/t"); err == nil && got.SessionID != id {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := r.Find("w"); err != nil || got.SessionID != id {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	// Another worker that is given the first session gets a file of its own.
	other := worker("other", "0c5ef6d6-0001")
	must(t, event.Append(events, event.Event{Name: event.Stop}), r.Put(other))
	if other, err = r.Find("other"); err != nil || r.EventsFile(other) == events {
		t.Errorf("two workers write %s, %v", events, err)
	}
	if _, err := r.Repoint(other, "../../x", ""); err == nil {
		t.Error("a path is taken for a session id")
	}
}

// TestF32_AKilledRepointLeavesOneWorker: the new meta and the old one are both there.
func TestF32_AKilledRepointLeavesOneWorker(t *testing.T) {
	r := rootOf(t)
	for _, current := range []string{"0c5ef6d6-0001", "0c5ef6d6-0002"} {
		must(t, r.Put(worker("w", current)))
		for _, id := range []string{"0c5ef6d6-0001", "0c5ef6d6-0002"} {
			data, err := json.Marshal(worker("w", id))
			must(t, err, os.WriteFile(filepath.Join(r.Path(), id+".meta"), data, 0o600))
		}
		metas, broken, err := r.All()
		if err != nil || len(metas) != 1 || metas[0].SessionID != current || len(broken) != 1 || broken[0].File == current+".meta" {
			t.Errorf("%+v, %+v, %v", metas, broken, err)
		}
	}
}

func TestAWorkerThatIsLaunchedAnewTakesItsName(t *testing.T) {
	r := rootOf(t)
	must(t, r.Put(worker("w", "0c5ef6d6-0001")), r.Put(worker("w", "0c5ef6d6-0002")))
	metas, broken, err := r.All()
	if err != nil || len(metas) != 1 || metas[0].SessionID != "0c5ef6d6-0002" || len(broken) != 0 {
		t.Errorf("%+v, %+v, %v", metas, broken, err)
	}
}

func TestTheShimHasThreeLinesAndCalls(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `it's "$(false)" here`)
	r, err := store.Open(func(string) string { return dir })
	must(t, err)
	must(t, r.Make())
	exe := filepath.Join(dir, "csd")
	must(t, os.WriteFile(exe, []byte("#!/bin/sh\nprintf '[%s]' \"$CSD_WORKER_DIR\" \"$@\"\n"), 0o700), r.WriteShim("w", exe), r.WriteShim("w", exe))
	text, err := os.ReadFile(r.Shim("w"))
	if err != nil || strings.Count(string(text), "\n") != 3 || !strings.HasPrefix(string(text), "#!/bin/sh\n") || text[len(text)-1] != '\n' {
		t.Errorf("%s, %v", text, err)
	}
	out, err := exec.Command(r.Shim("w"), "send", "two words", "").Output()
	if want := "[" + dir + "][--worker][w][send][two words][]"; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
	if err := r.WriteShim("w", "/a\nb"); err == nil {
		t.Error("a path with a line break is taken")
	}
}

func TestALaunchIsReadOnceAndByItsOwnerAlone(t *testing.T) {
	r := rootOf(t)
	want := store.Launch{Argv: []string{"x", "a\nb"}, Env: []string{"TOKEN=secret"}, Dir: "/d"}
	file, err := r.WriteLaunch("w", want)
	must(t, err)
	other, err := r.WriteLaunch("w", want)
	must(t, err)
	if file == other {
		t.Error("two launches share a file")
	}
	if got, err := store.ReadLaunch(file); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := store.ReadLaunch(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("read twice: %v", err)
	}
	must(t, os.Chmod(other, 0o644))
	if _, err := store.ReadLaunch(other); err == nil {
		t.Error("a launch that others can read is taken")
	}
	link := filepath.Join(r.Path(), "link")
	must(t, os.Chmod(other, 0o600), os.Symlink(other, link))
	if _, err := store.ReadLaunch(link); err == nil {
		t.Error("a link is followed")
	}
	must(t, os.WriteFile(other, []byte("{}"), 0o600))
	if _, err := store.ReadLaunch(other); err == nil {
		t.Error("a launch without a command is taken")
	}
}

func TestMarkers(t *testing.T) {
	r := rootOf(t)
	must(t, r.Mark("b", "pi"), r.Mark("a", "codex"), os.WriteFile(filepath.Join(r.Path(), "c.harness"), []byte("claude"), 0o600))
	_, _, got, err := r.Matching("")
	if want := []store.Marker{{"a", "codex"}, {"b", "pi"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if h, ok := r.MarkerOf("b"); !ok || h != "pi" {
		t.Errorf("%s, %v", h, ok)
	}
	if h, ok := r.MarkerOf("c"); ok {
		t.Errorf("c is marked %s", h)
	}
	if r.Mark("a", "claude") == nil {
		t.Error("claude is marked")
	}
}

func TestStateIsUpdatedByOneAtATime(t *testing.T) {
	r := rootOf(t)
	must(t, r.Mark("w", "codex"))
	var updates sync.WaitGroup
	for range 20 {
		updates.Go(func() {
			if err := r.UpdateState(t.Context(), "w", func(s *store.State) error { s.Offset++; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	updates.Wait()
	if s, err := r.State("w"); err != nil || s.Offset != 20 {
		t.Errorf("%+v, %v", s, err)
	}
	boom := errors.New("boom")
	if err := r.UpdateState(t.Context(), "w", func(s *store.State) error { s.Offset = 99; return boom }); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	s := store.State{Transcript: "/t", Offset: 3, Terminals: json.RawMessage(`[1]`), TerminalsOffset: 4, Tally: event.Tally{Offset: 5, Turns: 6}}
	must(t, r.PutState("w", s))
	if got, err := r.State("w"); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v", got, err)
	}
	must(t, os.WriteFile(filepath.Join(r.Path(), "w.seen"), []byte("garbage"), 0o600))
	if got, err := r.State("w"); err != nil || !reflect.DeepEqual(got, store.State{}) {
		t.Errorf("a state that is lost: %+v, %v", got, err)
	}
	must(t, r.Remove("w", nil))
	var unknown *store.UnknownError
	if err := r.UpdateState(t.Context(), "w", func(*store.State) error { return nil }); !errors.As(err, &unknown) || len(files(t, r)) > 3 {
		t.Errorf("a stopped worker: %v, %v", err, files(t, r))
	}
}

func TestF21_OneLaunchOfANameAtATime(t *testing.T) {
	r := rootOf(t)
	release, err := r.Reserve("w")
	must(t, err)
	if _, err := r.Reserve("w"); !errors.Is(err, store.ErrReserved) {
		t.Errorf("%v", err)
	}
	other, err := r.Reserve("other")
	must(t, err)
	other()
	if !r.Reserved("w") || r.Reserved("other") {
		t.Errorf("reserved: w %v, other %v", r.Reserved("w"), r.Reserved("other"))
	}
	release()
	if r.Reserved("w") {
		t.Error("still reserved")
	}
	// Of many at once one wins.
	var won sync.WaitGroup
	releases := make(chan func(), 50)
	for range 50 {
		won.Go(func() {
			if release, err := r.Reserve("w"); err == nil {
				releases <- release
			} else if !errors.Is(err, store.ErrReserved) {
				t.Error(err)
			}
		})
	}
	won.Wait()
	close(releases)
	if len(releases) != 1 {
		t.Fatalf("%d have the name", len(releases))
	}
	(<-releases)()
	if left, _ := os.ReadDir(filepath.Join(r.Path(), "locks")); len(left) > 0 {
		t.Errorf("locks are left: %v", left)
	}
}

func TestF21_AKilledLaunchReservesNothing(t *testing.T) {
	r := rootOf(t)
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), lockHelper+"="+r.Path())
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	said := make([]byte, 6)
	if n, err := out.Read(said); err != nil || string(said[:n]) != "<nil>\n" {
		t.Fatalf("%q, %v", said[:n], err)
	}
	if _, err := r.Reserve("w"); !errors.Is(err, store.ErrReserved) {
		t.Errorf("%v", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	release, err := r.Reserve("w")
	must(t, err)
	release()
}

func TestALockIsWaitedFor(t *testing.T) {
	r := rootOf(t)
	unlock, err := r.Lock(t.Context(), "w")
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Lock(ctx, "w"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	got := make(chan error, 1)
	go func() {
		unlock, err := r.Lock(t.Context(), "w")
		if err == nil {
			unlock()
		}
		got <- err
	}()
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	r := rootOf(t)
	must(t, r.Put(worker("stays", "0c5ef6d6-0002")))
	before := files(t, r)
	m := worker("w", "0c5ef6d6-0001")
	must(t, r.Put(m), r.Mark("w", "pi"), r.PutState("w", store.State{Offset: 1}), r.WriteShim("w", "/csd"), os.MkdirAll(filepath.Join(r.Home("w"), "sessions"), 0o700))
	if _, err := r.WriteLaunch("w", store.Launch{Argv: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	m, err := r.Find("w")
	must(t, err)
	must(t, event.Append(r.EventsFile(m), event.Event{Name: event.Stop}))
	// A hook gives it another session after the caller has looked.
	if _, err := r.Repoint(m, "0c5ef6d6-0003", "/t"); err != nil {
		t.Fatal(err)
	}
	must(t, os.WriteFile(filepath.Join(r.Path(), "locks", "w"), nil, 0o600)) // of a killed process
	must(t, r.Remove("w", &m), r.Remove("w", nil))
	left := slices.DeleteFunc(files(t, r), func(name string) bool { return name == "bin" || name == "homes" })
	if !slices.Equal(left, before) {
		t.Errorf("left %v, want %v", left, before)
	}
}

func TestOrphansAreWhatNoLiveWorkerNeeds(t *testing.T) {
	r := rootOf(t)
	must(t, os.MkdirAll(r.Home("homeless"), 0o700))
	for _, name := range []string{"live", "gone", "launching"} {
		id := "0c5ef6d6-" + name
		must(t, r.Put(worker(name, id)), r.WriteShim(name, "/csd"), event.Append(filepath.Join(r.Path(), id+".events.jsonl"), event.Event{Name: event.Stop}))
	}
	must(t, r.Mark("unregistered", "codex"), r.Mark("marked", "pi"), r.WriteShim("shimonly", "/csd"),
		event.Append(filepath.Join(r.Path(), "0c5ef6d6-stray.events.jsonl"), event.Event{Name: event.Stop}),
		os.WriteFile(filepath.Join(r.Path(), "0c5ef6d6-bad.meta"), []byte("x"), 0o600), os.WriteFile(filepath.Join(r.Path(), "notes.txt"), nil, 0o600))
	release, err := r.Reserve("launching")
	must(t, err)
	defer release()
	isGone := func(name string) bool { return name != "live" && name != "unregistered" && !r.Reserved(name) }
	orphans, err := r.Orphans(isGone)
	must(t, err)
	var got []string
	for _, o := range orphans {
		got = append(got, o.Name)
		got = append(got, o.Files...)
		must(t, r.Sweep(o))
	}
	slices.Sort(got)
	want := []string{"", "0c5ef6d6-bad.meta", "0c5ef6d6-stray.events.jsonl", "gone", "homeless", "marked", "shimonly"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, path := range []string{r.Shim("live"), r.Shim("launching"), r.EventsFile(worker("live", "0c5ef6d6-live")), filepath.Join(r.Path(), "unregistered.harness"), filepath.Join(r.Path(), "notes.txt")} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	if orphans, err = r.Orphans(isGone); err != nil || len(orphans) != 0 {
		t.Errorf("after the sweep: %+v, %v", orphans, err)
	}
}

func BenchmarkFindAmong500(b *testing.B) {
	r := rootOf(b)
	for i := range 500 {
		must(b, r.Put(worker(fmt.Sprintf("w%d", i), fmt.Sprintf("0c5ef6d6-%04d", i))))
	}
	for _, handle := range []string{"w250", "unknown"} {
		b.Run(handle, func(b *testing.B) {
			for b.Loop() {
				_, _ = r.Find(handle)
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := r.All(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
