package rundir

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/proc"
)

func env(pairs ...string) Getenv {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// private returns a folder whose parents nobody else can change: t.TempDir's own parent is open to all where the
// umask is 0.
func private(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSE7_1_TheFirstUsableFolderIsTaken(t *testing.T) {
	dir := private(t)
	own := "session-events-" + strconv.Itoa(os.Geteuid())
	all := []string{
		"SESSION_EVENTS_DIR", dir + "/own/deep", "XDG_RUNTIME_DIR", dir + "/xdg", "CLAUDE_CODE_TMPDIR", dir + "/claude", "TMPDIR", dir + "/tmp",
	}
	for i, want := range []string{dir + "/own/deep", dir + "/xdg/session-events", dir + "/claude/" + own, dir + "/tmp/" + own} {
		got, _, err := Open(env(all[2*i:]...))
		if err != nil || got != want {
			t.Errorf("from %s on: %q, %v; want %q", all[2*i], got, err, want)
		}
		if info, err := os.Lstat(want); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v; want mode 0700", want, info.Mode(), err)
		}
	}
}

func TestSE7_1_AnUnusableFolderIsPassedOverWithItsReason(t *testing.T) {
	dir := private(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(dir+"/file", nil, 0o600))
	must(os.Mkdir(dir+"/real", 0o700))
	must(os.Symlink(dir+"/real", dir+"/link"))
	must(os.Mkdir(dir+"/open", 0o777))
	must(os.Chmod(dir+"/open", 0o777))
	tests := map[string]struct{ path, reason string }{
		"relative":                  {"events", "events is not an absolute path"},
		"a link":                    {dir + "/link", "is a link or a file"},
		"a file":                    {dir + "/file", "not a directory"},
		"in a folder open to all":   {dir + "/open/events", "open on the way can be changed by others"},
		"behind a file":             {dir + "/file/events", "not a directory"},
		"behind a link in the open": {dir + "/open/../link", "is a link or a file"},
	}
	if os.Geteuid() == 0 {
		must(os.Mkdir(dir+"/other", 0o700))
		must(os.Chown(dir+"/other", 65534, -1))
		must(os.Symlink(dir+"/real", dir+"/otherlink"))
		must(os.Lchown(dir+"/otherlink", 65534, -1))
		tests["of another user"] = struct{ path, reason string }{dir + "/other", "belongs to user 65534"}
		tests["under another user's folder"] = struct{ path, reason string }{dir + "/other/events", "other on the way belongs to user 65534"}
		tests["behind another user's link"] = struct{ path, reason string }{dir + "/otherlink/events", "otherlink on the way belongs to user 65534"}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, tried, err := Open(env("SESSION_EVENTS_DIR", tt.path, "XDG_RUNTIME_DIR", dir+"/next"))
			if err != nil || got != dir+"/next/session-events" {
				t.Errorf("took %q, %v; want the next folder", got, err)
			}
			if strings.Contains(tt.reason, "on the way") {
				if _, err := os.Stat(tt.path); err == nil {
					t.Error("the folder was made in a place that is not trusted")
				}
			}
			if len(tried) != 1 || !strings.Contains(tried[0].Error(), tt.reason) {
				t.Errorf("reasons %v; want one with %q", tried, tt.reason)
			}
		})
	}
}

func TestSE7_1_AWiderModeIsNarrowed(t *testing.T) {
	dir := private(t) + "/events"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(env("SESSION_EVENTS_DIR", dir)); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestSE5_1_TheOwnerIsWhoListensOnTheInbox(t *testing.T) {
	inbox := filepath.Join(t.TempDir(), "1.sock") // a name that lies about the pid
	l, err := net.Listen("unix", inbox)
	if err != nil {
		t.Fatal(err)
	}
	vars := env("CLAUDE_CODE_MESSAGING_SOCKET", inbox, "CLAUDE_PID", "1")
	owner, err := Session(vars)
	token, _ := proc.StartToken(os.Getpid())
	if err != nil || owner != (Owner{PID: os.Getpid(), Start: token, Inbox: inbox}) {
		t.Errorf("owner %+v, %v; want this process", owner, err)
	}
	if !owner.Alive() {
		t.Error("the owner is this process, and said to be gone")
	}
	if owner.Start += "1"; owner.Alive() {
		t.Error("a process of another start is taken for the owner")
	}
	l.Close()
	if owner, err = Session(vars); err != nil || owner.PID != 1 {
		t.Errorf("nobody listens: owner %+v, %v; want CLAUDE_PID", owner, err)
	}
	if _, err = Session(env("CLAUDE_CODE_MESSAGING_SOCKET", inbox)); err == nil {
		t.Error("an owner without a listener and without CLAUDE_PID")
	}
	if _, err = Session(env()); !errors.Is(err, ErrNoInbox) {
		t.Errorf("no variable: %v, want ErrNoInbox", err)
	}
}

func TestSE5_1_AFileSinkRefusesItsOwnPidAndABadId(t *testing.T) {
	for _, id := range []string{"", "Upper", "a.b", "../x", strings.Repeat("a", 41), "a b"} {
		if _, err := FileSink(id, 0); err == nil {
			t.Errorf("id %q was taken", id)
		}
	}
	for _, pid := range []int{os.Getpid(), -1, 1 << 30} {
		if _, err := FileSink("codex-12", pid); err == nil {
			t.Errorf("pid %d was taken", pid)
		}
	}
	if owner, err := FileSink("codex-12", os.Getppid()); err != nil || !owner.Alive() {
		t.Errorf("owner %+v, %v", owner, err)
	}
}

func TestSE7_2_FileNames(t *testing.T) {
	session, err := Of("/run", Owner{PID: 4242, Start: "77", Inbox: "/x"}, "log-events")
	if want := (Files{"/run/4242.log-events.sock", "/run/4242-77.log-events.state.json", "/run/4242-77.log-events.events.jsonl", "/run/4242-77.log-events.log"}); err != nil || session != want {
		t.Errorf("%+v, %v", session, err)
	}
	sink, err := Of("/run", Owner{ID: "codex-12", PID: 9, Start: "7"}, "log-events")
	if want := (Files{"/run/codex-12.log-events.sock", "/run/codex-12.log-events.state.json", "/run/codex-12.log-events.events.jsonl", "/run/codex-12.log-events.log"}); err != nil || sink != want {
		t.Errorf("%+v, %v", sink, err)
	}
	if _, err := Of("/"+strings.Repeat("d", 100), Owner{ID: "x"}, "y"); err == nil {
		t.Error("a path that no socket can have was taken")
	}
}
