// Package hook is what a client calls when something happens in its session: it writes one line to the events of the
// worker, and nothing else. It prints nothing, decides nothing and never fails outwardly, since a client takes the
// answer of a hook for a command, waits for it, and goes on for ever after a wrong one.
package hook

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/csd/store"
)

// Word is the command of csd that runs a hook: csd hook HARNESS ROOT NAME [EVENT].
const Word = "hook"

// Ignored are the signals that a hook process has to ignore, with signal.Ignore before Run: it is called, of all times,
// when its terminal goes away, and a limit on the size of files must not end it by a signal.
var Ignored = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGXFSZ}

const (
	// patience is how long a hook takes at most. Clients do not always close the pipe to it.
	patience = 4500 * time.Millisecond
	// maxInput is how much a hook reads at most.
	maxInput = 64 << 20
)

// Run runs the hook that the words after "csd hook" ask for: HARNESS ROOT NAME [EVENT]. It reads one JSON value from
// stdin, no further than its end, and appends one event, if ROOT has a worker NAME of that harness.
//
// It returns within five seconds, also where stdin is never closed and where the disk stands still; what it began then
// goes on until the process ends, which is to be at once. There is nothing to return: whatever went wrong, the client
// must not hear of it.
func Run(ctx context.Context, args []string, stdin io.Reader, getenv func(string) string, now func() time.Time) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // exit status 2 would be a command to the client
		run(ctx, args, stdin, getenv, now)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, getenv func(string) string, now func() time.Time) {
	if len(args) != 3 && len(args) != 4 {
		return
	}
	translate, ok := harnesses[args[0]]
	if !ok || !store.ValidName(args[2]) {
		return
	}
	root, err := store.At(args[1])
	if err != nil {
		return
	}
	var said input
	if !read(stdin, &said) || ctx.Err() != nil {
		return
	}
	if said.HookEventName == "" && len(args) == 4 {
		said.HookEventName = args[3]
	}
	r := record{root: root, said: said, ctx: ctx, session: store.Session{
		Worker: args[2], Harness: args[0], ID: said.SessionID, TranscriptPath: said.TranscriptPath, CWD: said.CWD,
		TmuxSocket: socket(getenv), At: now(),
	}}
	if e, ok := translate(said); ok && store.ValidID(said.SessionID) {
		r.write(e)
	}
}

// read reads one JSON object from r and reports whether there was one. It does not wait for what may follow.
func read(r io.Reader, into *input) bool {
	err := json.NewDecoder(io.LimitReader(&plain{r: r}, maxInput)).Decode(into)
	wrong, ok := err.(*json.UnmarshalTypeError)
	return err == nil || ok && wrong.Field != "" // a member of another type than today's: it is left out
}

// plain passes over a byte order mark at the start.
type plain struct {
	r     io.Reader
	begun bool
}

func (p *plain) Read(b []byte) (int, error) {
	if p.begun || len(b) < 3 {
		return p.r.Read(b)
	}
	p.begun = true
	n, err := p.r.Read(b)
	if n >= 3 && string(b[:3]) == "\xef\xbb\xbf" {
		b[0], b[1], b[2] = ' ', ' ', ' '
	}
	return n, err
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

// Command is the line by which a client's configuration calls the hook: words in single quotes, for a shell. An empty
// event is left out.
func Command(exe, root, worker, harness, event string) string {
	words := []string{exe, Word, harness, root, worker}
	if event != "" {
		words = append(words, event)
	}
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
