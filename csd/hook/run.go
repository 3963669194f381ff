// Package hook is what a client calls when something happens in its session: it writes one line to the events of the
// worker, and nothing else. It prints nothing, decides nothing and never fails outwardly, since a client takes the
// answer of a hook for a command, waits for it, and goes on for ever after a wrong one.
package hook

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/store"
)

// Word is the command of csd that runs a hook: csd hook HARNESS ROOT NAME [EVENT].
const Word = "hook"

// ignored are the signals that a hook process ignores: it is called, of all times, when its terminal goes away, and a
// limit on the size of files must not end it by a signal.
var ignored = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGXFSZ}

// Main is a hook as a whole process; words are those after [Word].
func Main(words []string) {
	signal.Ignore(ignored...)
	Run(context.Background(), words, os.Stdin, os.Getenv, time.Now)
}

// diligence is how long a hook has once it has its input. It needs a millisecond, on a machine that has nothing else to
// do; a line that comes late is better than none.
const diligence = 10 * time.Second

// Run runs the hook that the words after "csd hook" ask for: HARNESS ROOT NAME [EVENT]. It reads one JSON value from
// stdin, no further than its end, and appends one event, if ROOT has a worker NAME of that harness.
//
// Where stdin is a file that is never closed, or has no whole value, it returns within five seconds. There is nothing
// to return: whatever went wrong, the client must not hear of it.
func Run(ctx context.Context, args []string, stdin io.Reader, getenv func(string) string, now func() time.Time) {
	defer func() { _ = recover() }() // exit status 2 would be a command to the client
	h, ok := parse(args)
	if !ok {
		return
	}
	said, ok := await(stdin)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, diligence)
	defer cancel()
	h.handle(ctx, said, getenv, now())
}

// call is what the words of a call ask for.
type call struct {
	harness, worker string
	translate       func(input) (event.Event, bool)
	root            *store.Root
	event           string // where the input does not say it
}

func parse(args []string) (call, bool) {
	if len(args) != 3 && len(args) != 4 {
		return call{}, false
	}
	c := call{harness: args[0], worker: args[2], translate: harnesses[args[0]]}
	if len(args) == 4 {
		c.event = args[3]
	}
	if c.translate == nil || !store.ValidName(c.worker) {
		return call{}, false
	}
	var err error
	c.root, err = store.At(args[1])
	return c, err == nil
}

func (c call) handle(ctx context.Context, said input, getenv func(string) string, now time.Time) {
	if said.HookEventName == "" {
		said.HookEventName = c.event
	}
	e, ok := c.translate(said)
	if !ok || !store.ValidID(said.SessionID) {
		return
	}
	r := record{root: c.root, session: store.Session{
		Worker: c.worker, Harness: c.harness, ID: said.SessionID, TranscriptPath: said.TranscriptPath, CWD: said.CWD,
		TmuxSocket: socket(getenv), At: now,
	}}
	r.write(ctx, e)
}

// socket is the tmux server in whose pane the client runs: TMUX is SOCKET,PID,SESSION.
func socket(getenv func(string) string) string {
	tmux := getenv("TMUX")
	for range 2 {
		if at := strings.LastIndexByte(tmux, ','); at >= 0 {
			tmux = tmux[:at]
		}
	}
	return tmux
}
