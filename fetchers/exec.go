package fetchers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/internal/procgroup"
)

var execTable = Fetcher{
	Name: "exec",
	Help: "what a command prints and how it ends",
	Options: []Option{
		{Name: "command", Type: Strings, Template: Plain, Help: "the program and its arguments; no shell sees them, and each `${}` stays within its argument"},
		{Name: "shell", Type: String, Template: NoTemplate, Help: "a text for /bin/sh; what the target holds is in variables, target.path in $TARGET_PATH"},
		{Name: "cwd", Type: String, Template: Plain, Help: "the folder to run in; `~/` is the home folder"},
		{Name: "env", Type: Map, Template: Plain, Env: true, Help: "variables added to those of the daemon"},
		{Name: "stdin", Type: String, Template: Plain, Help: "what the command reads; without it nothing"},
		{Name: "accept", Type: Ints, Default: []int64{0}, Help: "the exit codes that are data; any other fails the poll"},
		{Name: "parse", Type: Word, Words: []string{"auto", "json", "jsonl", "text", "lines"}, Default: "auto", Help: "how stdout is read; auto: an object or a list of JSON, else text. Text ends before its last newlines"},
		{Name: "maxBytes", Type: Size, Default: int64(10 * megabyte), Min: 1, Max: gigabyte, Help: "the most that stdout may hold; a command that prints more is ended"},
		timeoutOption,
	},
	Content: "stdout",
	Doc: []Member{
		{"exit", "the exit code, one of accept"},
		{"stdout", "what was printed, in the form of parse; null where another code than 0 comes without JSON"},
		{"stderr", "the first 64 KB of the other output; it also goes to the daemon log"},
		{"duration", "seconds from start to end"},
	},
	Check: checkExec,
}

func checkExec(o map[string]any) error {
	if err := exactlyOne("command", "shell")(o); err != nil {
		return err
	}
	if c := options(o).list("command"); len(c) > 0 && c[0] == "" {
		return failf("invalid", "the program of command is empty")
	}
	for name := range options(o).dict("env") {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return failf("invalid", "env: %q cannot be the name of a variable", name)
		}
	}
	for _, n := range options(o).numbers("accept") {
		if n < 0 || n > 255 {
			return failf("invalid", "accept: an exit code is 0 to 255, not %d", n)
		}
	}
	return nil
}

const (
	// stderrKept bounds what is kept of stderr for the document, stderrLogged what of it goes to the log.
	stderrKept   = 64 * kilobyte
	stderrLogged = 20 // lines
	// endGrace is how long a command may take to end itself once its time is over.
	endGrace = 500 * time.Millisecond
	// drainGrace is how long the pipes are read on after the command has ended: a process that left the group may
	// hold them for ever.
	drainGrace = 250 * time.Millisecond
)

func (s *Set) exec(parent context.Context, r Request) (Answer, error) {
	o := options(r.Options)
	ctx, cancel := context.WithTimeout(parent, o.timeout())
	defer cancel()
	run, err := runCommand(ctx, o, r)
	if run != nil {
		logStderr(r, run)
	}
	if err != nil {
		return Answer{}, failure(parent, err, r.Secrets)
	}
	out, err := parseOutput(o.text("parse"), run.stdout.bytes(), run.exit, r.Narrow.document().Member("stdout"))
	if err != nil {
		return Answer{}, failure(parent, fmt.Errorf("%s: %w", run.name, err), r.Secrets)
	}
	return Answer{Doc: map[string]any{
		"exit":     run.exit,
		"stdout":   out,
		"stderr":   strings.ToValidUTF8(string(run.stderr.bytes()), "\ufffd"),
		"duration": run.duration.Seconds(),
	}}, nil
}

// command is one run of a command.
type command struct {
	name           string
	stdout, stderr *pipe
	exit           int
	duration       time.Duration
}

// runCommand runs what the options name to its end, or ends it with ctx. With an error the command is nil or holds
// what it wrote to stderr.
func runCommand(ctx context.Context, o options, r Request) (*command, error) {
	cmd, err := prepare(o, r)
	if err != nil {
		return nil, err
	}
	run := &command{name: cmd.Args[0]}
	if o.has("shell") {
		run.name = "shell"
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	streams, err := openStreams(o, cmd)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", run.name, err)
	}
	defer streams.close()
	run.stdout, run.stderr = streams.out, streams.err
	began := time.Now()
	group, err := procgroup.Start(cmd)
	streams.started()
	if err != nil {
		return nil, startError(run.name, err)
	}
	wait := streams.pump()

	var why error
	select {
	case <-group.Exited():
	case <-streams.out.full:
		why = failf("too-large", "%s printed more than %d bytes", run.name, o.number("maxBytes"))
	case <-ctx.Done():
		why = ctx.Err()
		if errors.Is(why, context.DeadlineExceeded) {
			why = failf("timeout", "%s has not ended after %s", run.name, time.Since(began).Round(time.Millisecond))
		}
	}
	grace := endGrace
	if run.stdout.isFull() { // it cannot say anything that counts any more
		grace = 0
	}
	state, err := group.End(grace)
	run.duration = time.Since(began)
	streams.drain(drainGrace)
	wait()
	switch {
	case why != nil:
		return run, why
	case err != nil:
		return run, fmt.Errorf("run %s: %w", run.name, err)
	case run.stdout.isFull():
		return run, failf("too-large", "%s printed more than %d bytes", run.name, o.number("maxBytes"))
	}
	return run, run.judge(state, o.numbers("accept"))
}

// judge takes an exit code that the spec accepts for data.
func (c *command) judge(state *os.ProcessState, accept []int64) error {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return failf("signal", "%s was ended by a signal: %s", c.name, status.Signal())
	}
	c.exit = state.ExitCode()
	if !slices.Contains(accept, int64(c.exit)) {
		return failf("exit", "%s ended with exit code %d", c.name, c.exit)
	}
	return nil
}

func startError(name string, err error) error {
	word := wordFor(err)
	if errors.Is(err, syscall.ENOEXEC) {
		word = "permission"
	}
	return &Error{Word: word, Err: fmt.Errorf("run %s: %w", name, bare(err))}
}

// bare takes the operation and the path off an error of the os package: the caller names them in its own words.
func bare(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		return lookup.Err
	}
	return err
}

// prepare makes the command of the options.
func prepare(o options, r Request) (*exec.Cmd, error) {
	argv := o.list("command")
	if script := o.text("shell"); script != "" {
		argv = []string{"/bin/sh", "-c", script}
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, failf("invalid", "the command is empty")
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if cwd := o.text("cwd"); cwd != "" {
		dir, err := absolute(cwd)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(dir)
		if err != nil {
			return nil, fmt.Errorf("run %s in %s: %w", argv[0], dir, bare(err))
		}
		if !info.IsDir() {
			return nil, failf("invalid", "run %s in %s: not a folder", argv[0], dir)
		}
		cmd.Dir = dir
	}
	cmd.Env = environment(os.Environ(), o.dict("env"), r.Env, o.has("shell"))
	return cmd, nil
}

// quietly keeps programs from asking anyone. There is no terminal either: the command has a session of its own.
var quietly = []string{
	"GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "GH_PROMPT_DISABLED=1", "SSH_ASKPASS_REQUIRE=never",
	"DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1",
}

// environment is that of the daemon, without the key to its session's inbox, with what the spec adds.
func environment(own []string, added, target map[string]string, shell bool) []string {
	env := make([]string, 0, len(own)+len(quietly)+len(added)+len(target))
	for _, e := range own {
		if !strings.HasPrefix(e, "CLAUDE_CODE_MESSAGING_TOKEN=") {
			env = append(env, e)
		}
	}
	env = append(env, quietly...)
	if shell {
		for name, v := range target {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range added {
		env = append(env, name+"="+v)
	}
	return env // of two of one name the last counts
}

// logStderr gives the first lines of stderr to the daemon log.
func logStderr(r Request, run *command) {
	if r.Log == nil {
		return
	}
	n := 0
	for line := range strings.Lines(string(run.stderr.bytes())) {
		line = plain(Redact(strings.TrimRight(line, "\r\n"), r.Secrets), 300)
		if strings.TrimSpace(line) == "" {
			continue
		}
		if n++; n > stderrLogged {
			break
		}
		r.Log(fmt.Sprintf("%s: %s", run.name, line))
	}
	if total := run.stderr.total(); n > stderrLogged || total > stderrKept {
		r.Log(fmt.Sprintf("%s: %d bytes on stderr in all", run.name, total))
	}
}
