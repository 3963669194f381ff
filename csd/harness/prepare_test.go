package harness

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/internal/proc"
)

// newWorker is a worker of an operator with an empty home, whose clients are all /bin/true, or what env says.
func newWorker(t *testing.T, env map[string]string, args ...string) Worker {
	t.Helper()
	dir := t.TempDir()
	vars := map[string]string{
		"HOME": filepath.Join(dir, "home"), "PATH": os.Getenv("PATH"), "CSD_WORKER_DIR": filepath.Join(dir, "root"),
		"CSD_CLAUDE_BIN": "true", "CSD_CODEX_BIN": "true", "CSD_PI_BIN": "true",
	}
	for name, value := range env {
		vars[name] = value
	}
	getenv := func(name string) string { return vars[name] }
	root, err := store.Open(getenv)
	if err == nil {
		err = root.Make()
	}
	if err != nil {
		t.Fatal(err)
	}
	w := Worker{
		Name: "w", CWD: filepath.Join(dir, "work"), SessionID: "5a0e6f3c-9c1d-4b7e-8f2a-0123456789ab", Home: root.Home("w"),
		HookExe: "/opt/it's csd", Root: root, Args: args, Getenv: getenv,
	}
	for name, value := range vars {
		w.Environ = append(w.Environ, name+"="+value)
	}
	return w
}

func prepare(t *testing.T, client string, w Worker) Start {
	t.Helper()
	h, err := For(client)
	if err != nil {
		t.Fatal(err)
	}
	start, err := h.Prepare(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return start
}

// TestF22_NothingOfASurroundingSessionIsInherited; what a person sets is.
func TestF22_NothingOfASurroundingSessionIsInherited(t *testing.T) {
	w := newWorker(t, map[string]string{
		"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "x", "CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDE_CODE_SSE_PORT": "1",
		"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_MESSAGING_TOKEN": "secret", "GIT_EDITOR": "true", "CODEX_THREAD_ID": "x", "CODEX_CI": "1",
		"NO_COLOR": "1", "PAGER": "cat", "TMUX": "x", "TMUX_PANE": "%9", "TERM": "dumb", "CSD_TMUX_NAME": "outer", "CSD_EXE": "/outer",
		"CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "5",
		"GH_PAGER": "less", "PWD": "/elsewhere",
	})
	for _, client := range Names() {
		env := map[string]string{}
		for _, pair := range prepare(t, client, w).Launch.Env {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		for _, gone := range []string{
			"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_ENTRYPOINT",
			"CLAUDE_CODE_MESSAGING_TOKEN", "GIT_EDITOR", "CODEX_THREAD_ID", "CODEX_CI", "NO_COLOR", "PAGER", "TMUX", "TMUX_PANE", "TERM",
			"CLAUDE_CODE_USE_BEDROCK",
		} {
			if value, ok := env[gone]; ok {
				t.Errorf("%s inherits %s=%s", client, gone, value)
			}
		}
		for name, value := range map[string]string{
			"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "5", "GH_PAGER": "less",
			"PWD": w.CWD, "CSD_TMUX_NAME": "w", "CSD_WORKER_DIR": w.Root.Path(),
		} {
			if env[name] != value {
				t.Errorf("%s has %s=%q, want %q", client, name, env[name], value)
			}
		}
	}
}

// TestAPersonsOwnSettingsStay: they are a client's only inside that client.
func TestAPersonsOwnSettingsStay(t *testing.T) {
	w := newWorker(t, map[string]string{"GIT_EDITOR": "true", "NO_COLOR": "1"})
	env := prepare(t, "claude", w).Launch.Env
	if !slices.Contains(env, "GIT_EDITOR=true") || !slices.Contains(env, "NO_COLOR=1") {
		t.Errorf("%q", env)
	}
}

func TestF23_ClaudeCannotAskAPerson(t *testing.T) {
	w := newWorker(t, nil, "--model", "opus")
	argv := prepare(t, "claude", w).Launch.Argv
	at := slices.Index(argv, "--disallowed-tools")
	if at < 0 || argv[at+1] != "AskUserQuestion" || !strings.HasPrefix(argv[at+2], "--") || !slices.Equal(argv[len(argv)-2:], w.Args) {
		t.Errorf("%q", argv)
	}
}

// TestClaudeSettingsOfTheUserAreJoined: of two --settings the client reads one.
func TestClaudeSettingsOfTheUserAreJoined(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]},"model":"opus"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--settings", file, "--verbose"}, {"--verbose", "--settings=" + file}} {
		argv := prepare(t, "claude", newWorker(t, nil, args...)).Launch.Argv
		var all []string
		for i, arg := range argv {
			if arg == "--settings" {
				all = append(all, argv[i+1])
			} else if strings.HasPrefix(arg, "--settings=") {
				t.Errorf("%q", arg)
			}
		}
		var got struct {
			Model string
			Skip  bool `json:"skipDangerousModePermissionPrompt"`
			Hooks map[string][]struct {
				Hooks []struct{ Command string }
			}
		}
		if len(all) != 1 || json.Unmarshal([]byte(all[0]), &got) != nil {
			t.Fatalf("%q", argv)
		}
		stop := got.Hooks["Stop"]
		if !got.Skip || got.Model != "opus" || len(stop) != 2 || stop[0].Hooks[0].Command != "mine" || len(got.Hooks["SessionEnd"]) != 1 {
			t.Errorf("%s", all[0])
		}
		if want := `GOMAXPROCS=1 exec '/opt/it'\''s csd' hook claude `; !strings.HasPrefix(stop[1].Hooks[0].Command, want) {
			t.Errorf("command %q", stop[1].Hooks[0].Command)
		}
		if !slices.Contains(argv, "--verbose") {
			t.Errorf("%q", argv)
		}
	}
}

func TestArgumentsThatAreCsdsOwnAreRefused(t *testing.T) {
	for _, c := range []struct {
		client string
		args   []string
	}{
		{"claude", []string{"--resume", "x"}},
		{"claude", []string{"-p"}},
		{"claude", []string{"--session-id=x"}},
		{"claude", []string{"--settings"}},
		{"claude", []string{"--settings", "{broken"}},
		{"codex", []string{"-C", "/"}},
		{"codex", []string{"--cd=/"}},
		{"pi", []string{"--session=x"}},
		{"pi", []string{"--mode", "rpc"}},
	} {
		h, err := For(c.client)
		if err != nil {
			t.Fatal(err)
		}
		var refused *ArgError
		if _, err := h.Prepare(t.Context(), newWorker(t, nil, c.args...)); !errors.As(err, &refused) {
			t.Errorf("%s %q: %v", c.client, c.args, err)
		}
	}
}

// TestF18_AMissingClientIsNamed, with the variable that may name another.
func TestF18_AMissingClientIsNamed(t *testing.T) {
	for _, client := range Names() {
		variable := "CSD_" + strings.ToUpper(client) + "_BIN"
		for _, bin := range []string{"/no/such/file", "no-such-program", t.TempDir()} {
			h, err := For(client)
			if err != nil {
				t.Fatal(err)
			}
			var missing *MissingError
			if _, err := h.Prepare(t.Context(), newWorker(t, map[string]string{variable: bin})); !errors.As(err, &missing) || !strings.Contains(missing.Hint(), variable) {
				t.Errorf("%s=%s: %v", variable, bin, err)
			}
		}
	}
	if _, err := For("emacs"); err == nil || !strings.Contains(err.Error(), "claude, codex, pi") {
		t.Errorf("%v", err)
	}
}

// TestModelsComeFromTheEnvironment: CSD_CODEX_MODEL and CSD_PI_MODEL.
func TestModelsComeFromTheEnvironment(t *testing.T) {
	w := newWorker(t, nil)
	prepare(t, "codex", w)
	if got := mustRead(t, filepath.Join(w.Home, "config.toml")); !strings.HasPrefix(got, `model = "gpt-5.5"`) {
		t.Errorf("%s", got)
	}
	if argv := prepare(t, "pi", w).Launch.Argv; slices.Contains(argv, "--model") {
		t.Errorf("%q", argv)
	}
	w = newWorker(t, map[string]string{"CSD_CODEX_MODEL": `a "new" one`, "CSD_PI_MODEL": "some/model"})
	prepare(t, "codex", w)
	if got := mustRead(t, filepath.Join(w.Home, "config.toml")); !strings.HasPrefix(got, `model = "a \"new\" one"`) {
		t.Errorf("%s", got)
	}
	argv := prepare(t, "pi", w).Launch.Argv
	if i := slices.Index(argv, "--model"); i < 0 || argv[i+1] != "some/model" {
		t.Errorf("%q", argv)
	}
}

// TestThePrivateFolderIsPrivate: logins lie there.
func TestThePrivateFolderIsPrivate(t *testing.T) {
	w := newWorker(t, nil)
	home := w.Getenv("HOME")
	writeFile(t, filepath.Join(home, ".codex", "auth.json"), `{"a":1}`)
	writeFile(t, filepath.Join(home, ".pi", "agent", "auth.json"), `{"b":1}`)
	writeFile(t, filepath.Join(home, ".pi", "agent", "models.json"), `{}`)
	writeFile(t, filepath.Join(home, ".pi", "agent", "bin", "fd"), "")
	prepare(t, "codex", w)
	prepare(t, "pi", w)
	err := filepath.WalkDir(w.Home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode()&os.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Home, "bin", "fd")); err != nil {
		t.Errorf("the programs of pi are not there: %v", err)
	}
	if got := mustRead(t, filepath.Join(w.Home, "auth.json")); got != `{"b":1}` {
		t.Errorf("login %s", got)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCodexBinaryIsFoundBehindItsWrapper, as npm lays it out: beside the package or in it. Anything else is left alone.
func TestCodexBinaryIsFoundBehindItsWrapper(t *testing.T) {
	target, ok := codexTargets[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		t.Skip("no such client for this platform")
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "node_modules", "@openai", "codex")
	script := filepath.Join(root, "bin", "codex.js")
	writeFile(t, script, "#!/usr/bin/env node\n")
	writeFile(t, filepath.Join(root, "package.json"), "{}")
	link := filepath.Join(dir, "codex")
	if err := os.Symlink(script, link); err != nil {
		t.Fatal(err)
	}
	if got, more := codexBinary(link); got != link || len(more) != 0 {
		t.Errorf("without a native program: %s, %v", got, more)
	}
	native := func(base string) string {
		path := filepath.Join(base, "vendor", target.triple, "bin", "codex")
		writeFile(t, path, "")
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inside := native(root)
	if got, more := codexBinary(link); got != inside || more["CODEX_MANAGED_PACKAGE_ROOT"] != root {
		t.Errorf("%s, %v", got, more)
	}
	beside := native(filepath.Join(dir, "node_modules", "@openai", target.pkg))
	if got, _ := codexBinary(link); got != beside {
		t.Errorf("%s, want %s", got, beside)
	}
	if got, more := codexBinary("/bin/sh"); got != "/bin/sh" || len(more) != 0 {
		t.Errorf("%s, %v", got, more)
	}
}

// TestClaudeLiveStateIsOfThisProcess: its file stays when the client is killed, and numbers come back.
func TestClaudeLiveStateIsOfThisProcess(t *testing.T) {
	token, err := proc.StartToken(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := store.Meta{ConfigDir: dir}
	file := filepath.Join(dir, "sessions", strconv.Itoa(os.Getpid())+".json")
	say := func(pid int, token, rest string) (Live, bool) {
		writeFile(t, file, `{"pid":`+strconv.Itoa(pid)+`,"sessionId":"s","procStart":"`+token+`",`+rest+`}`)
		return claude{}.Live(t.Context(), os.Getpid(), m)
	}
	if live, ok := say(os.Getpid(), token, `"status":"waiting","waitingFor":"permission prompt","statusUpdatedAt":1796069337908`); !ok ||
		live.State != Waiting || live.WaitingFor != "permission" || live.SessionID != "s" || live.Since.Unix() != 1796069337 {
		t.Errorf("%+v, %v", live, ok)
	}
	if live, ok := say(os.Getpid(), token, `"status":"waiting","waitingFor":"dialog open"`); !ok || live.WaitingFor != "dialog" {
		t.Errorf("%+v, %v", live, ok)
	}
	if live, ok := say(os.Getpid(), token, `"status":"some new word"`); ok {
		t.Errorf("%+v", live)
	}
	if live, ok := say(os.Getpid()+1, token, `"status":"idle"`); ok {
		t.Errorf("another's: %+v", live)
	}
	if runtime.GOOS == "linux" {
		if live, ok := say(os.Getpid(), token+"0", `"status":"idle"`); ok {
			t.Errorf("an earlier process of this number: %+v", live)
		}
	}
	if live, ok := say(os.Getpid(), token, `"status":`); ok {
		t.Errorf("half a file: %+v", live)
	}
	if live, ok := (claude{}).Live(t.Context(), os.Getpid(), store.Meta{}); ok {
		t.Errorf("nowhere: %+v", live)
	}
}

// TestHookCommand: every shell that a client may take reads the line as it is meant.
func TestHookCommand(t *testing.T) {
	dir := t.TempDir()
	root, err := store.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "it's a $(hook)")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\nprintf '%s|' \"$GOMAXPROCS\" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	line := hookCommand(Worker{Name: "w", HookExe: exe, Root: root}, "claude")
	for _, shell := range []string{"sh", "dash", "bash", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil && shell != "sh" {
			continue
		}
		out, err := exec.Command(shell, "-c", line).Output()
		if want := "1|hook|claude|" + dir + "|w|"; err != nil || string(out) != want {
			t.Errorf("%s: %v, %q", shell, err, out)
		}
	}
}
