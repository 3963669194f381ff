package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Pane is what tmux knows of a pane.
type Pane struct {
	// Session is the name of its session, ID its own: "%5". No other pane of the same server ever has that one.
	Session, ID string
	// PID is the process that the pane was started with, also when that has ended.
	PID int
	// Dead says that the process has ended. Status is its exit status then, and Signal the number of the signal that
	// ended it, if one did. Status is -1 where tmux has not learnt it yet, and with a signal.
	Dead   bool
	Status int
	Signal string
	// Owner is the ID of the pane that [Server.New] or [Server.Respawn] started in this session; empty in a session
	// that others made. A pane whose ID it is not was opened by somebody else.
	Owner string
	// Active says that keys of an attached person go to this pane of the session.
	Active bool
	Title  string
}

// Target names the pane exactly.
func (p Pane) Target() Target { return Target{Session: p.Session, Pane: p.ID} }

// Target names one pane. Without Pane it is the active one of the session, whichever that is at the moment.
type Target struct{ Session, Pane string }

// isName reports whether a name is letters, digits, "_" and, but for its first letter, "-". That leaves out "." and ":",
// which tmux changes in a name, and all that has a meaning in a target or a format. Patterns would be compiled at the
// start of every command and every hook: that took longer than all the rest of it.
func isName(name string) bool {
	for i, c := range []byte(name) {
		plain := c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !plain && (c != '-' || i == 0) {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

func isPane(id string) bool {
	digits, ok := strings.CutPrefix(id, "%")
	return ok && digits != "" && len(digits) <= 10 && strings.Trim(digits, "0123456789") == ""
}

// spell is the target as tmux takes it. The pane is looked for in the session only: a server that was started anew
// counts its panes from 0 again.
func (t Target) spell() (string, error) {
	if !isName(t.Session) {
		return "", &NameError{t.Session}
	}
	if t.Pane == "" {
		return "=" + t.Session + ":", nil
	}
	if !isPane(t.Pane) {
		return "", fmt.Errorf("%q is no tmux pane: %w", t.Pane, ErrNoPane)
	}
	return "=" + t.Session + ":." + t.Pane, nil
}

// ownerOption remembers, in the session itself, which pane is ours.
const ownerOption = "@csd_pane"

// paneFormat has first what cannot hold a colon. The name of a session cannot either.
const paneFormat = "#{pane_id}:#{pane_pid}:#{pane_dead}:#{pane_dead_status}:#{pane_dead_signal}:#{" + ownerOption + "}:#{&&:#{window_active},#{pane_active}}:#{session_name}:#{pane_title}"

// listFormat is paneFormat without what a list of hundreds has no use for: the server makes it in three quarters of the
// time.
const listFormat = "#{pane_id}:#{pane_pid}:#{pane_dead}:::#{" + ownerOption + "}:#{&&:#{window_active},#{pane_active}}:#{session_name}:"

// Panes lists every pane of the server with one command, without titles, and without how the dead ones ended. A server
// that does not run has none; an [UnreachableError] means that nothing is known.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	out, err := s.run(ctx, nil, "list-panes", "-a", "-F", listFormat)
	if errors.Is(err, errNoServer) || errors.Is(err, ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePanes(out)
}

// Pane returns the pane of a session that [Server.New] or [Server.Respawn] started there. In a session that others
// made it is the active one. Errors: [ErrNoSession]; [ErrNoPane] if ours is gone while others keep the session.
func (s *Server) Pane(ctx context.Context, session string) (Pane, error) {
	target, err := Target{Session: session}.spell()
	if err != nil {
		return Pane{}, err
	}
	out, err := s.run(ctx, nil, "list-panes", "-s", "-t", target, "-F", paneFormat)
	if err != nil {
		return Pane{}, gone(err)
	}
	panes, err := parsePanes(out)
	if err != nil {
		return Pane{}, err
	}
	p, err := Find(panes, session)
	if err != nil || !p.Dead || p.Status >= 0 || p.Signal != "" {
		return p, err
	}
	return s.buried(ctx, p)
}

// buried asks again for the status of a dead pane: tmux sees that its terminal is closed before it learns how the
// process ended. A tmux with libutempter, as that of Debian, may even miss the signal that tells it, and leave a zombie
// until another child of its ends: so one is given to it. buried gives up after a second, as a process may close its
// terminal and live on.
func (s *Server) buried(ctx context.Context, p Pane) (Pane, error) {
	target, err := p.Target().spell()
	if err != nil {
		return p, err
	}
	for i := range 50 {
		if i%10 == 1 {
			// The child of an if-shell shows nothing, whatever the user's shell makes of it.
			if _, err := s.run(ctx, nil, "if-shell", "-b", "true", "start-server"); err != nil {
				return p, nil // what is known is true
			}
		}
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return p, nil
		}
		out, err := s.run(ctx, nil, "display-message", "-p", "-t", target, paneFormat)
		if err != nil {
			return p, nil
		}
		now, err := parsePane(strings.TrimSuffix(out, "\n"))
		if err != nil || now.ID != p.ID {
			return p, nil
		}
		if p = now; !p.Dead || p.Status >= 0 || p.Signal != "" {
			return p, nil
		}
	}
	return p, nil
}

// Find picks the pane of a session from a list, as [Server.Pane] does.
func Find(panes []Pane, session string) (Pane, error) {
	err := fmt.Errorf("%w: %s", ErrNoSession, session)
	for _, p := range panes {
		if p.Session != session {
			continue
		}
		if p.Owner == p.ID || p.Owner == "" && p.Active {
			return p, nil
		}
		err = fmt.Errorf("%w: the worker's own of session %s", ErrNoPane, session)
	}
	return Pane{}, err
}

func parsePanes(out string) ([]Pane, error) {
	var panes []Pane
	for line := range strings.Lines(out) {
		p, err := parsePane(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		panes = append(panes, p)
	}
	return panes, nil
}

func parsePane(line string) (Pane, error) {
	f := strings.SplitN(line, ":", 9)
	if len(f) != 9 {
		return Pane{}, fmt.Errorf("tmux list-panes printed %q", line)
	}
	p := Pane{ID: f[0], Dead: f[2] == "1", Signal: f[4], Owner: f[5], Active: f[6] == "1", Session: f[7], Title: strings.ToValidUTF8(f[8], "\ufffd")}
	var err error
	if p.PID, err = strconv.Atoi(f[1]); err != nil {
		return Pane{}, fmt.Errorf("tmux list-panes printed %q", line)
	}
	if p.Dead {
		p.Status = -1
	}
	if f[3] != "" {
		if p.Status, err = strconv.Atoi(f[3]); err != nil {
			return Pane{}, fmt.Errorf("tmux list-panes printed %q", line)
		}
	}
	return p, nil
}
