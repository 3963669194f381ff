package tmux

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
)

// deadWord is what a guarded command prints in place of doing its work.
const deadWord = "csd-pane-is-dead"

// Paste gives text to the program of a pane as one bracketed paste, whatever its size; a line feed stays one. A pane
// whose process has ended gives [ErrDead]. The buffer that tmux needs for it is gone when Paste returns.
func (s *Server) Paste(ctx context.Context, t Target, text []byte) error {
	target, err := t.spell()
	if err != nil {
		return err
	}
	buffer := "csd-" + rand.Text() // the buffers of a server have all one space of names
	// tmux 3.3a crashes, with all of its sessions, when it pastes into a dead pane. Between the question and the
	// paste it does nothing else.
	out, err := s.run(ctx, text,
		"load-buffer", "-b", buffer, "-", ";",
		"if-shell", "-F", "-t", target, "#{pane_dead}",
		"delete-buffer -b "+buffer+" ; display-message -p "+deadWord,
		"paste-buffer -p -r -d -b "+buffer+" -t "+target)
	if err != nil {
		s.afterwards(ctx, "delete-buffer", "-b", buffer)
		return gone(err)
	}
	if strings.Contains(out, deadWord) {
		return fmt.Errorf("paste into %s: %w", t.Session, ErrDead)
	}
	return nil
}

// Keys presses keys by their tmux names, such as Enter, Escape and C-u. A person who scrolls in the pane is put back
// to its end first: there, keys do not reach the program. [ErrDead] if its process has ended.
func (s *Server) Keys(ctx context.Context, t Target, keys ...string) error {
	return s.send(ctx, t, nil, keys)
}

// Literal types text key by key, as it is. It is for short texts: tmux takes some 16 KB.
func (s *Server) Literal(ctx context.Context, t Target, text string) error {
	return s.send(ctx, t, []string{"-l"}, []string{text})
}

func (s *Server) send(ctx context.Context, t Target, flags, keys []string) error {
	target, err := t.spell()
	if err != nil {
		return err
	}
	args := []string{"display-message", "-p", "-t", target, "#{pane_dead}", ";", "copy-mode", "-q", "-t", target, ";", "send-keys", "-t", target}
	args = append(append(args, flags...), "--")
	for _, k := range keys {
		args = append(args, word(k))
	}
	out, err := s.run(ctx, nil, args...)
	if err != nil {
		return gone(err)
	}
	if strings.TrimSpace(out) == "1" {
		return fmt.Errorf("send keys to %s: %w", t.Session, ErrDead)
	}
	return nil
}

// Capture returns the text that stands in a pane, with up to history lines of what has scrolled out at its top. Of a
// dead pane it has those too that tmux scrolled out to say that it is dead.
func (s *Server) Capture(ctx context.Context, t Target, history int) (string, error) {
	target, err := t.spell()
	if err != nil {
		return "", err
	}
	capture := func(lines int) string { return fmt.Sprintf("capture-pane -p -t %s -S -%d", target, lines) }
	living := capture(history)
	if history <= 0 {
		living = "capture-pane -p -t " + target // "-S -0" would mean the first line of the history
	}
	out, err := s.run(ctx, nil, "has-session", "-t", "="+t.Session, ";",
		"if-shell", "-F", "-t", target, "#{pane_dead}", capture(max(history, lastWords)), living)
	if err != nil {
		return "", gone(err)
	}
	return strings.ToValidUTF8(out, "\ufffd"), nil
}

// lastWords is how much of the history of a dead pane is always read.
const lastWords = 50
