package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/cmd/internal/script"
)

const cliDocs = "../../docs/cli.md"

// TestDocsShowWhatTheProgramPrints runs the commands of docs/cli.md.
func TestDocsShowWhatTheProgramPrints(t *testing.T) {
	script.CheckPage(t, cliDocs, 20, newDocShell(t).run)
}

// TestTheFirstSpecIsWhatHappens follows docs/first-spec.md from its first command to its last, in an empty folder. The
// file of its third step grows when the first poll is over, however slow the machine is.
func TestTheFirstSpecIsWhatHappens(t *testing.T) {
	const page = "../../docs/first-spec.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shell := newDocShell(t)
	saved := regexp.MustCompile("(?s)Save this as `([a-z-]+\\.yaml)`:\n\n```yaml\n(.*?)```").FindSubmatch(text)
	if saved == nil {
		t.Fatal("the page has no spec to save")
	}
	if err := os.WriteFile(filepath.Join(shell.dir, string(saved[1])), saved[2], 0o600); err != nil {
		t.Fatal(err)
	}
	grow := ""
	script.CheckPage(t, page, 20, func(command string) string {
		if later, isLater := strings.CutPrefix(command, "(sleep 1; "); isLater {
			grow = strings.TrimSuffix(later, ") &")
			return ""
		}
		if grow != "" {
			command = fmt.Sprintf(`%s | while IFS= read -r line; do printf '%%s\n' "$line"; if [ "$line" = "  cursor: 6" ]; then %s; fi; done`, command, grow)
			grow = ""
		}
		out := shell.run(command)
		out = regexp.MustCompile(`(?m)^(  stat) \(\d+\w+\)$`).ReplaceAllString(out, "$1 (1ms)")
		out = regexp.MustCompile(`\{"ctime":"[^"]*",.*("size":\d+),.*\}`).ReplaceAllString(out, `{"ctime":"2026-10-12T14:03:20Z", … ,$1, … }`)
		return regexp.MustCompile(`recorded \d{4}-\d\d-\d\d`).ReplaceAllString(out, "recorded 2026-10-12")
	})
}

// docShell runs commands in a folder of its own and makes the same of what they print each time.
type docShell struct {
	t    *testing.T
	dir  string
	env  []string
	code int // of the last command
}

func newDocShell(t *testing.T) *docShell {
	run, err := os.MkdirTemp("", "se") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	dir := t.TempDir()
	return &docShell{t: t, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + os.TempDir(), "SESSION_EVENTS_DIR=" + run, "NO_COLOR=1",
	}}
}

func (s *docShell) run(command string) string {
	// $? is the last command's, as in one shell.
	background, isBackground := strings.CutSuffix(command, " &")
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", fmt.Sprintf("(exit %d); %s", s.code, command))
	if isBackground {
		cmd = exec.CommandContext(s.t.Context(), "sh", "-c", "exec "+background)
	}
	cmd.Dir, cmd.Env = s.dir, s.env
	if isBackground {
		return s.normal(s.start(cmd, background))
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if s.code = 0; errors.As(err, &exit) {
		s.code = exit.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	return s.normal(string(out))
}

// start starts a command in the background and returns what it prints at first: a daemon its four lines, everything
// else one.
func (s *docShell) start(cmd *exec.Cmd, command string) string {
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(out)
	n := 1
	if strings.Contains(command, " daemon") {
		n = 4
	}
	var b strings.Builder
	for range n {
		line, err := lines.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			s.t.Fatalf("%s: %v; it printed:\n%s", command, err, b.String())
		}
	}
	return b.String()
}

// varying are the parts of the output that are others in each run, and what stands for them.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-10-12T14:03:20Z"},
	{regexp.MustCompile(`\b(daemon|pid) \d+\b`), "$1 4711"},
	{regexp.MustCompile(`"pid": \d+`), `"pid": 4711`},
	{regexp.MustCompile(`, up \d\S*s\b`), ", up 1m20s"},
	{regexp.MustCompile(`last \d+s ago, next (in \d+s|now)`), "last 2s ago, next in 3s"},
	{regexp.MustCompile(`PID +TARGETS`), "PID   TARGETS"},
	{regexp.MustCompile(`(file sink [a-z-]+) +\d+ +`), "$1  4711  "},
	{regexp.MustCompile(`\d+s ago +(in \d+s|now) +-`), "2s ago     in 3s      -"},
}

func (s *docShell) normal(out string) string {
	run := strings.TrimPrefix(s.env[3], "SESSION_EVENTS_DIR=")
	out = strings.NewReplacer(run, "/run/user/1000/session-events", s.dir, "/home/ann/app").Replace(out)
	for _, v := range varying {
		out = v.pattern.ReplaceAllString(out, v.with)
	}
	return out
}
