// Package script is for the tests of the programs: the commands that the stories of testdata/script need beyond those of
// testscript, and the pages of the documentation that show what a program prints.
package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/itchyny/gojq"
	"github.com/rogpeppe/go-internal/testscript"
)

// Command is a command of a script.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// patience is how long a script waits for something that has to come: long, because a busy machine is not a fault.
const patience = 90 * time.Second

// Commands are the commands by name. inherited are the variables that a program in the background gets, as far as the
// script has set them. [SetUp] has to be called for each script.
//
//	exits CODE PROGRAM ARGS…    runs a program, which has to end with exactly this code
//	start NAME PROGRAM ARGS…    starts a program in the background; $NAME_PID is its process
//	printed NAME PATTERN        waits until NAME has printed a line like this, after the last one that was waited for
//	signal NAME INT|TERM|…      sends it a signal
//	ended NAME CODE             waits for its end with this code (killed: -1); NAME.out and NAME.err hold its words
//	like FILE WANT              compares a file with lines in which <pid>, <time>, <span>, <id> and … stand for what varies
//	jq FILE PROGRAM RESULTS…    runs a jq program on a file of JSON values and compares its results
func Commands(inherited []string) map[string]Command {
	return map[string]Command{
		"exits":   cmdExits,
		"start":   starter(inherited).start,
		"printed": cmdPrinted,
		"signal":  cmdSignal,
		"ended":   cmdEnded,
		"like":    cmdLike,
		"jq":      cmdJQ,
	}
}

// SetUp makes a script ready for the commands.
func SetUp(env *testscript.Env) { env.Values[processesKey{}] = map[string]*process{} }

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "exits CODE PROGRAM ARGS…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

type processesKey struct{}

// process is a program in the background, with all that it printed so far.
type process struct {
	cmd      *exec.Cmd
	out, err *output
	exited   chan struct{}
}

// output collects what a program prints and tells who waits for a line.
type output struct {
	mu   sync.Mutex
	more *sync.Cond
	text []byte
	seen int // how far it was waited for
	over bool
}

func newOutput() *output {
	o := &output{}
	o.more = sync.NewCond(&o.mu)
	return o
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b...)
	o.more.Broadcast()
	return len(b), nil
}

// end says that nothing more comes.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.more.Broadcast()
}

// await waits until pattern is found behind what was found last.
func (o *output) await(pattern *regexp.Regexp, limit time.Duration) error {
	late := false
	timer := time.AfterFunc(limit, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.more.Broadcast()
	})
	defer timer.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if at := pattern.FindIndex(o.text[o.seen:]); at != nil {
			o.seen += at[1]
			return nil
		}
		if o.over || late {
			return fmt.Errorf("%q was not printed; what was:\n%s", pattern, o.text)
		}
		o.more.Wait()
	}
}

// starter starts programs in the background, with these variables.
type starter []string

func (inherited starter) start(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "start NAME PROGRAM ARGS…")
	name, all := args[0], ts.Value(processesKey{}).(map[string]*process)
	need(ts, all[name] == nil, name+" runs already")
	program := args[1]
	for _, dir := range strings.Split(ts.Getenv("PATH"), ":") { // exec.Command would look into the test's own PATH
		if found, err := exec.LookPath(dir + "/" + program); err == nil && !strings.Contains(program, "/") {
			program = found
		}
	}
	p := &process{cmd: exec.Command(program, args[2:]...), out: newOutput(), err: newOutput(), exited: make(chan struct{})}
	p.cmd.Args[0] = args[1]
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Env = []string{}
	for _, v := range inherited {
		if value := ts.Getenv(v); value != "" {
			p.cmd.Env = append(p.cmd.Env, v+"="+value)
		}
	}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = p.out, p.err, time.Second
	ts.Check(p.cmd.Start())
	all[name] = p
	ts.Setenv(name+"_PID", strconv.Itoa(p.cmd.Process.Pid))
	go func() {
		_ = p.cmd.Wait()
		p.out.end()
		p.err.end()
		close(p.exited)
	}()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		ts.Logf("[%s]\n%s%s", name, p.out.text, p.err.text)
	})
}

func running(ts *testscript.TestScript, name string) *process {
	p := ts.Value(processesKey{}).(map[string]*process)[name]
	if p == nil {
		ts.Fatalf("nothing was started as %s", name)
	}
	return p
}

func cmdPrinted(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "printed NAME PATTERN")
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	ts.Check(running(ts, args[0]).out.await(pattern, patience))
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "signal NAME INT|TERM|KILL|STOP|CONT")
	signals := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
	}
	s, ok := signals[args[1]]
	need(ts, ok, "a signal that the script command knows")
	ts.Check(running(ts, args[0]).cmd.Process.Signal(s))
}

func cmdEnded(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "ended NAME CODE")
	name, p := args[0], running(ts, args[0])
	select {
	case <-p.exited:
	case <-time.After(patience):
		ts.Fatalf("%s has not ended; it has printed:\n%s%s", name, p.out.text, p.err.text)
	}
	delete(ts.Value(processesKey{}).(map[string]*process), name)
	ts.Check(os.WriteFile(ts.MkAbs(name+".out"), p.out.text, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(name+".err"), p.err.text, 0o600))
	if got := strconv.Itoa(p.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("%s ended with code %s, want %s; it has printed:\n%s%s", name, got, args[1], p.out.text, p.err.text)
	}
}

// placeholders stand for what is another in each run.
var placeholders = strings.NewReplacer(
	"<pid>", `[1-9][0-9]*`,
	"<time>", `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z`,
	"<id>", `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
	"<span>", `(?:[0-9]+[hms])+`,
	"…", `.*`,
)

// wanted makes the pattern of lines with placeholders; a line `…` stands for any number of lines.
func wanted(lines []string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range lines {
		if line == "…\n" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		b.WriteString(placeholders.Replace(regexp.QuoteMeta(line)))
	}
	return regexp.MustCompile(b.String())
}

func cmdLike(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "like FILE WANT")
	got := ts.ReadFile(args[0])
	want := os.Expand(ts.ReadFile(args[1]), ts.Getenv)
	lines := strings.SplitAfter(want, "\n")
	all := regexp.MustCompile(wanted(lines).String() + `\z`)
	if all.MatchString(got) {
		return
	}
	for i := range lines {
		if !wanted(lines[:i+1]).MatchString(got) {
			ts.Fatalf("%s is not like %s from its line %d on:\n\t%s\ngot:\n%s", args[0], args[1], i+1, lines[i], got)
		}
	}
	ts.Fatalf("%s has more than %s; got:\n%s", args[0], args[1], got)
}

func cmdJQ(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 2, "jq FILE PROGRAM RESULTS…")
	query, err := gojq.Parse(args[1])
	ts.Check(err)
	var got []string
	in := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	for {
		var v any
		if err := in.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			ts.Fatalf("%s is not JSON: %v", args[0], err)
		}
		results := query.Run(v)
		for r, ok := results.Next(); ok; r, ok = results.Next() {
			if err, isErr := r.(error); isErr {
				ts.Fatalf("jq: %v", err)
			}
			b, err := gojq.Marshal(r)
			ts.Check(err)
			got = append(got, string(bytes.TrimSpace(b)))
		}
	}
	if strings.Join(got, "\n") != strings.Join(args[2:], "\n") {
		ts.Fatalf("%s gives\n\t%s\nwant\n\t%s", args[1], strings.Join(got, "\n\t"), strings.Join(args[2:], "\n\t"))
	}
}

func need(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}
