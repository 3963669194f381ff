// Package tmux asks one tmux server about sessions and panes, and drives them.
//
// Whatever it names, it names exactly: the session "api" is never taken for "api-2", and a pane is the one that was
// made, also when somebody has split the window or opened another since. Nothing of it goes through a shell, and it
// does not care what stands in the user's tmux.conf.
package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Server is one tmux server. The zero value is the server that tmux itself would choose. It may be used by several
// goroutines at once.
//
// Every call starts one tmux process, which ends with the call. A context without a deadline is given one of ten
// seconds: tmux answers in milliseconds unless it is in trouble.
type Server struct {
	// Bin is the tmux program; empty means tmux on the PATH.
	Bin string
	// Socket is the path of the server's socket. Empty means what tmux would choose from TMUX and TMUX_TMPDIR.
	Socket string
	// Env is the environment of the tmux commands; nil means that of this process. A server that is started by New
	// takes it over.
	Env []string
}

var (
	// ErrNoSession says that the server has no such session. A server that does not run has none.
	ErrNoSession = errors.New("no such tmux session")
	// ErrNoPane says that the session is there, but the pane that was meant is not.
	ErrNoPane = errors.New("no such tmux pane")
	// ErrExists says that a session of that name is there already.
	ErrExists = errors.New("a tmux session of this name exists")
	// ErrDead says that the process of the pane has ended, and only its last words stand there.
	ErrDead = errors.New("the process of the tmux pane has ended")
)

// NameError says that a session name would not mean one session exactly: tmux changes it, or reads it as a pattern.
type NameError struct{ Name string }

func (e *NameError) Error() string { return fmt.Sprintf("%q is no name for a tmux session", e.Name) }

// UnreachableError says that tmux could not be asked, so that nothing is known: not even that there is no server.
type UnreachableError struct {
	// Socket is where it was tried; empty for the default one.
	Socket string
	// Words are tmux's own, if it said any.
	Words string
	Err   error
}

func (e *UnreachableError) Error() string {
	where := "tmux"
	if e.Socket != "" {
		where += " at " + e.Socket
	}
	if e.Words != "" {
		return fmt.Sprintf("ask %s: %s", where, e.Words)
	}
	return fmt.Sprintf("ask %s: %v", where, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// commandError is a refusal in tmux's own words.
type commandError struct {
	command string
	words   string
	err     error // what the words mean, or the exit status
}

func (e *commandError) Error() string {
	if e.words == "" {
		return fmt.Sprintf("tmux %s: %v", e.command, e.err)
	}
	return fmt.Sprintf("tmux %s: %s", e.command, e.words)
}

func (e *commandError) Unwrap() error { return e.err }

// errNoServer says that tmux ran and found no server at the socket.
var errNoServer = errors.New("no tmux server runs")

const (
	defaultTimeout = 10 * time.Second
	maxOutput      = 32 << 20 // a long history of a wide pane has some megabytes
	maxWords       = 4 << 10
)

// meanings are the words of tmux that say more than that it refused.
var meanings = []struct {
	words string
	err   error
}{
	{"no server running on ", errNoServer},
	{"duplicate session:", ErrExists},
	{"can't find session", ErrNoSession},
	{"no such session", ErrNoSession},
	{"no current target", ErrNoSession}, // a server without any session
	{"can't find window", ErrNoPane},
	{"no such window", ErrNoPane},
	{"can't find pane", ErrNoPane},
	{"no such pane", ErrNoPane},
	{"target pane has exited", ErrDead},
}

// run runs one tmux command line and returns what it printed.
func (s *Server) run(ctx context.Context, stdin []byte, args ...string) (string, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	out, err := s.once(ctx, stdin, args...)
	for range 5 {
		var unreachable *UnreachableError
		if !errors.As(err, &unreachable) || !strings.HasPrefix(unreachable.Words, "server exited") || stdin != nil || slices.Contains(args, "send-keys") {
			break
		}
		// A server whose last session has just ended takes nothing any more, and is gone in a moment.
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return out, err
		}
		out, err = s.once(ctx, stdin, args...)
	}
	return out, err
}

// once is run without a second try.
func (s *Server) once(ctx context.Context, stdin []byte, args ...string) (string, error) {
	bin := s.Bin
	if bin == "" {
		bin = "tmux"
	}
	// -u: a client that is not told so prints every letter beyond ASCII as "_".
	line := []string{"-u"}
	if s.Socket != "" {
		line = append(line, "-S", s.Socket)
	}
	cmd := exec.CommandContext(ctx, bin, append(line, args...)...)
	cmd.Env = s.environ()
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for the caller, who says with ctx what ends
	out, words := &bounded{max: maxOutput}, &bounded{max: maxWords}
	cmd.Stdout, cmd.Stderr = out, words
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	err := cmd.Run()
	if err == nil && out.over {
		err = fmt.Errorf("tmux %s printed more than %d bytes", args[0], maxOutput)
	}
	if err != nil {
		return out.String(), s.explain(ctx, args[0], strings.TrimSpace(words.String()), err)
	}
	return out.String(), nil
}

// explain makes an error of what a tmux command said.
func (s *Server) explain(ctx context.Context, command, words string, err error) error {
	unreachable := func(err error) error { return &UnreachableError{Socket: s.Socket, Words: words, Err: err} }
	if ctx.Err() != nil {
		return unreachable(context.Cause(ctx))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Exited() {
		return unreachable(err) // it did not start, or was killed
	}
	if strings.HasPrefix(words, "error connecting to ") {
		if strings.HasSuffix(words, "(No such file or directory)") {
			return &commandError{command, words, errNoServer}
		}
		return unreachable(err)
	}
	for _, lost := range []string{"server exited", "lost server", "protocol version mismatch", "server version is too old", "create socket failed", "couldn't create", "no suitable socket path"} {
		if strings.Contains(words, lost) {
			return unreachable(err)
		}
	}
	for _, m := range meanings {
		if strings.HasPrefix(words, m.words) {
			return &commandError{command, words, m.err}
		}
	}
	return &commandError{command, words, err}
}

// environ is the environment of a tmux command. With a socket of our own, TMUX says nothing that may count.
func (s *Server) environ() []string {
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	if s.Socket == "" {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return strings.HasPrefix(entry, "TMUX=") || strings.HasPrefix(entry, "TMUX_PANE=")
	})
}

// SocketPath returns the path of the server's socket, so that the same server can be asked later from another
// environment.
func (s *Server) SocketPath(ctx context.Context) (string, error) {
	if s.Socket != "" {
		return s.Socket, nil
	}
	out, err := s.run(ctx, nil, "start-server", ";", "display-message", "-p", "#{socket_path}")
	return strings.TrimSpace(out), err
}

// gone turns the absence of a server into the absence of what was looked for.
func gone(err error) error {
	if errors.Is(err, errNoServer) {
		return fmt.Errorf("%w: %w", ErrNoSession, err)
	}
	return err
}

// bounded keeps the first max bytes.
type bounded struct {
	bytes.Buffer
	max  int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); room < len(p) {
		b.over = true
		b.Buffer.Write(p[:room])
		return len(p), nil // the rest is let go: a writer must not block
	}
	return b.Buffer.Write(p)
}
