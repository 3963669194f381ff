package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/engine/state"
)

// The crash tests run a daemon in a process of its own, so that it can be killed: this test binary again, told by
// its environment what to be.
const (
	envDir   = "ENGINE_TEST_DAEMON_DIR"
	envInbox = "ENGINE_TEST_DAEMON_INBOX"
	envKill  = "ENGINE_TEST_DAEMON_KILL" // STEP or STEP:N, the step of the commit at which the daemon kills itself
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(envDir); dir != "" {
		if err := victim(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// lines is a source whose target is a file that grows: an event for each new line, in its own words.
type lines struct{}

func (lines) Describe() Info { return Info{Name: "lines", Interval: time.Second} }

func (lines) ParseTarget(words []string) (Target, error) { return Target{Text: words[0]}, nil }

func (lines) Poll(_ context.Context, t Target, _ time.Time) (Outcome, error) {
	seen := 0
	if t.Saved != nil {
		if err := json.Unmarshal(t.Saved, &seen); err != nil {
			return Outcome{}, err
		}
	}
	data, err := os.ReadFile(t.Text)
	if err != nil {
		return Outcome{}, err
	}
	now := strings.Count(string(data), "\n")
	o := Outcome{Saved: json.RawMessage(strconv.Itoa(now)), Busy: true, More: true} // More: poll again at once
	for n := seen + 1; n <= now; n++ {
		o.Events = append(o.Events, eventlog.Event{Kind: "line", Text: "line " + strconv.Itoa(n)})
	}
	return o, nil
}

func (lines) Summary(Target) []string { return nil }

// victim is the daemon's process.
func victim(dir string) error {
	owner, err := rundir.Session(func(name string) string {
		if name == "CLAUDE_CODE_MESSAGING_SOCKET" {
			return os.Getenv(envInbox)
		}
		return ""
	})
	if err != nil {
		return err
	}
	files, err := rundir.Of(dir, owner, "lines")
	if err != nil {
		return err
	}
	o := Options{Source: lines{}, Dir: dir, Owner: owner}
	if step, count, _ := strings.Cut(os.Getenv(envKill), ":"); step != "" {
		at, _ := strconv.Atoi(count)
		at = max(at, 1)
		o.fault = func(now string) error {
			name, variant, _ := strings.Cut(step, "/")
			if now != name {
				return nil
			}
			if at--; at > 0 {
				return nil
			}
			if err := half(variant, files); err != nil {
				return err
			}
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	return Run(context.Background(), o)
}

// half does a part of the step that is about to come, as a process does that is killed within it.
func half(what string, files rundir.Files) error {
	switch what {
	case "torn state":
		return os.WriteFile(files.State+".next.tmp", []byte(`{"version":1,"events":`), 0o600)
	case "torn line", "some lines":
		s, err := state.Prepared(files.State)
		if err != nil {
			return err
		}
		var all []byte
		for _, line := range s.Commit {
			all = append(append(all, line...), '\n')
		}
		if what == "torn line" {
			all = all[:max(0, len(all)-7)]
		} else if n := len(s.Commit); n > 1 {
			all = all[:len(all)-len(s.Commit[n-1])-1]
		}
		f, err := os.OpenFile(files.Events, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(all)
		return errors.Join(err, f.Close())
	}
	return nil
}

// rig is a session, whose inbox the test itself is, and a daemon that may die.
type rig struct {
	t     *testing.T
	dir   string
	input string // the target
	inbox string
	files rundir.Files

	mu       sync.Mutex
	messages map[string][]string // bodies by message id
	wrote    int
}

func newRig(t *testing.T) *rig {
	dir := t.TempDir()
	r := &rig{t: t, dir: filepath.Join(dir, "run"), input: filepath.Join(dir, "input"), inbox: filepath.Join(dir, "inbox"), messages: map[string][]string{}}
	must(t, os.Mkdir(r.dir, 0o700))
	must(t, os.WriteFile(r.input, nil, 0o600))
	l, err := net.Listen("unix", r.inbox)
	must(t, err)
	var wg sync.WaitGroup
	wg.Go(func() { r.receive(l) })
	t.Cleanup(func() { l.Close(); wg.Wait() })
	owner, err := rundir.Session(func(name string) string {
		return map[string]string{"CLAUDE_CODE_MESSAGING_SOCKET": r.inbox}[name]
	})
	must(t, err)
	r.files, err = rundir.Of(r.dir, owner, "lines")
	must(t, err)
	return r
}

// receive is the session's end of the inbox: whole lines count, as they do there.
func (r *rig) receive(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				break
			}
			var frame struct {
				ID      string `json:"msg_id"`
				Message struct{ Content string }
			}
			if json.Unmarshal(line, &frame) == nil {
				r.mu.Lock()
				r.messages[frame.ID] = append(r.messages[frame.ID], frame.Message.Content)
				r.mu.Unlock()
			}
		}
		conn.Close()
	}
}

// start starts a daemon. The channel gives its end.
func (r *rig) start(kill string) (*exec.Cmd, <-chan error) {
	r.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envDir+"="+r.dir, envInbox+"="+r.inbox, envKill+"="+kill)
	cmd.Stderr = os.Stderr
	must(r.t, cmd.Start())
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	return cmd, end
}

// grow adds lines to the target.
func (r *rig) grow(n int) {
	f, err := os.OpenFile(r.input, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer f.Close()
	if _, err := io.WriteString(f, strings.Repeat("x\n", n)); err != nil {
		r.t.Error(err)
	}
	r.wrote += n
}

// watch watches the target; the daemon may have to come up first, and may die meanwhile.
func (r *rig) watch(end <-chan error) bool {
	return r.ask(end, control.Request{Op: control.Watch, Words: []string{r.input}})
}

func (r *rig) ask(end <-chan error, q control.Request) bool {
	for {
		answer, err := control.Ask(context.Background(), r.files.Socket, q)
		if err == nil && answer.Error == "" {
			return true
		}
		if err != nil && !errors.Is(err, control.ErrNoDaemon) {
			r.t.Fatal(err)
		}
		select {
		case <-end:
			return false
		default: // it is starting; its socket is the sign
		}
	}
}

// wait waits for an event behind since, if the daemon lives.
func (r *rig) wait(since int64, atMost time.Duration) {
	_, _ = control.Ask(context.Background(), r.files.Socket, control.Request{Op: control.Wait, Since: since, TimeoutMS: atMost.Milliseconds()})
}

// settle lets a daemon live until everything that was written is logged and every alert is delivered, then checks
// that each line was logged once and delivered.
func (r *rig) settle() {
	r.t.Helper()
	_, end := r.start("")
	if !r.watchedAlready() && !r.watch(end) {
		r.t.Fatal("the last daemon did not live")
	}
	for !r.ask(end, control.Request{Op: control.Wait, Since: int64(r.wrote) - 1}) {
		r.t.Fatal("the last daemon did not live")
	}
	for deadline := time.Now().Add(time.Minute); ; {
		answer, err := control.Ask(context.Background(), r.files.Socket, control.Request{Op: control.Status})
		must(r.t, err)
		if answer.Report.Delivery.Pending == 0 {
			break
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("still pending: %+v", answer.Report.Delivery)
		}
		time.Sleep(20 * time.Millisecond) // the receiver's own pace is 1.1 s a message
	}
	r.ask(end, control.Request{Op: control.Stop})
	if err := <-end; err != nil {
		r.t.Errorf("the last daemon ended with %v", err)
	}
	r.check()
}

func (r *rig) watchedAlready() bool {
	for _, load := range []func(string) (state.State, error){state.Prepared, state.Load} {
		if s, err := load(r.files.State); err == nil {
			return len(s.Targets) > 0
		}
	}
	return false
}

func (r *rig) check() {
	r.t.Helper()
	log, err := os.ReadFile(r.files.Events)
	must(r.t, err)
	n := 0
	for line := range strings.Lines(string(log)) {
		n++
		var e eventlog.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.ID != int64(n) || e.Text != "line "+strconv.Itoa(n) {
			r.t.Fatalf("log line %d is %q: each change once, and ids without a gap", n, line)
		}
	}
	if n != r.wrote {
		r.t.Errorf("%d events for %d changes", n, r.wrote)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	in := map[string]string{} // the message that each alert came in
	var shown, counted int
	for id, bodies := range r.messages {
		for _, body := range bodies {
			if body != bodies[0] {
				r.t.Errorf("message %s came with two bodies:\n%s\n%s", id, bodies[0], body)
			}
		}
		for line := range strings.Lines(bodies[0]) {
			line = strings.TrimSpace(line)
			var more int
			if _, err := fmt.Sscanf(line, "and %d more:", &more); err == nil {
				counted += more
			}
			if !strings.HasPrefix(line, "line ") {
				continue
			}
			if other, ok := in[line]; ok && other != id {
				r.t.Errorf("%s came in messages %s and %s", line, other, id)
			}
			in[line] = id
			shown++
		}
	}
	if shown+counted != n {
		r.t.Errorf("%d alerts delivered and %d counted in %d messages, of %d", shown, counted, len(r.messages), n)
	}
}

// reader follows the log while daemons come and go, as an agent's own reader would, and keeps what it has seen.
func (r *rig) reader(stop <-chan struct{}) (seen []string) {
	var f *os.File
	var in *bufio.Reader
	partial := ""
	for {
		if f == nil {
			var err error
			if f, err = os.Open(r.files.Events); err == nil {
				defer f.Close()
				in = bufio.NewReader(f)
			}
		}
		if in != nil {
			part, err := in.ReadString('\n')
			partial += part
			if err == nil {
				seen, partial = append(seen, partial), ""
				continue
			}
			// Behind the last whole line the content may still be taken back: it is read again.
			if offset, seekErr := f.Seek(-int64(len(partial)), io.SeekCurrent); seekErr == nil && offset >= 0 {
				in.Reset(f)
				partial = ""
			}
		}
		select {
		case <-stop:
			return seen
		case <-time.After(time.Millisecond):
		}
	}
}

func TestSE5_5_KilledAtEveryStep(t *testing.T) {
	steps := []string{
		"prepare", "prepare/torn state", "append", "append/torn line", "append/some lines", "promote", "promoted", "settled", "taken",
	}
	for _, step := range steps {
		for _, nth := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%s %d", step, nth), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				_, end := r.start("")
				if !r.watch(end) {
					t.Fatal("the first daemon did not live")
				}
				r.ask(end, control.Request{Op: control.Stop})
				must(t, <-end)

				r.grow(3)
				cmd, end := r.start(step + ":" + strconv.Itoa(nth))
				for alive := true; alive; { // let it come to the step
					select {
					case <-end:
						alive = false
					default:
						// The next change once the last one is logged, and no faster than messages can be told apart.
						r.wait(int64(r.wrote)-1, 10*time.Second)
						r.wait(int64(r.wrote), 100*time.Millisecond)
						r.grow(2)
					}
				}
				if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
					t.Fatalf("the daemon was not killed at %s: %v", step, cmd.ProcessState)
				}
				r.grow(2)
				r.settle()
			})
		}
	}
}

func TestSE5_5_KilledAtRandomTimes(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	r := newRig(t)
	stop, done := make(chan struct{}), make(chan []string)
	go func() { done <- r.reader(stop) }()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range kills {
		cmd, end := r.start("")
		if !r.watchedAlready() {
			r.watch(end)
		}
		after := time.After(time.Duration(random.IntN(60)) * time.Millisecond)
	load:
		for {
			select {
			case <-after:
				break load
			case <-time.After(time.Millisecond):
				r.grow(random.IntN(3))
			}
		}
		must(t, cmd.Process.Kill())
		<-end
	}
	r.grow(1)
	r.settle()
	close(stop)
	seen := <-done
	log := slices.Collect(strings.Lines(readFile(t, r.files.Events)))
	if !slices.Equal(seen, log) {
		t.Errorf("a reader saw %d lines, the log has %d", len(seen), len(log))
	}
	ids := slices.Sorted(maps.Keys(r.messages))
	t.Logf("%d changes, %d messages in %d kills", r.wrote, len(ids), kills)
}
