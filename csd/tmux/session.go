package tmux

import (
	"context"
	"errors"
	"strings"
	"time"
)

// NewSession says what to start.
type NewSession struct {
	Name string
	// Dir is the directory of the process.
	Dir string
	// Argv is the program and its arguments; no shell reads them. tmux takes some 16 KB in all.
	Argv []string
	// Env are KEY=VALUE pairs for the session. Everybody on the machine can read them while tmux is called: no place
	// for a secret.
	Env []string
}

// size is that of a session that nobody looks at: wide enough that a client cuts little.
const (
	width  = "220"
	height = "50"
)

// New starts a program in a detached session of its own. The pane stays when the program has ended, so that it can be
// asked why, until [Server.RemainOnExit] says otherwise. [ErrExists] if there is a session of that name: of two that
// try at once, one gets it. The end of ctx does not break it off: a caller who gave up would not know whether there is a
// session to be ended.
func (s *Server) New(ctx context.Context, n NewSession) (Pane, error) {
	target, err := Target{Session: n.Name}.spell()
	if err != nil {
		return Pane{}, err
	}
	args := []string{"new-session", "-d", "-s", n.Name, "-x", width, "-y", height, "-c", literal(n.Dir), "-P", "-F", paneFormat}
	for _, e := range n.Env {
		args = append(args, "-e", word(e))
	}
	args = append(args, "--")
	args = append(args, command(n.Argv)...)
	args = append(args, settle(target)...)
	args = append(args, ";", "display-message", "-p", "-t", target, "#{pane_id}")
	if err := ctx.Err(); err != nil {
		return Pane{}, err
	}
	ctx = context.WithoutCancel(ctx)
	out, err := s.run(ctx, nil, args...)
	first, id, _ := strings.Cut(out, "\n")
	p, bad := parsePane(first)
	if err != nil {
		if bad == nil && !errors.Is(err, ErrExists) { // it was made, and then something was refused
			s.afterwards(ctx, "kill-session", "-t", "="+n.Name)
		}
		return Pane{}, err
	}
	if bad != nil {
		return Pane{}, bad
	}
	p.Owner = p.ID
	if strings.TrimSpace(id) != p.ID { // a hook of the user's opened another pane at once
		if err := s.own(ctx, p.Target()); err != nil {
			s.afterwards(ctx, "kill-session", "-t", "="+n.Name)
			return Pane{}, err
		}
	}
	return p, nil
}

// settle makes a new session one that a program can live in, in the same command list that makes it: nothing can
// happen in between.
func settle(target string) []string {
	return []string{
		";", "set-option", "-w", "-t", target, "remain-on-exit", "on",
		";", "set-option", "-w", "-t", target, "synchronize-panes", "off", // else our keys go to a person's pane too
		";", "set-option", "-t", target, "destroy-unattached", "off",
		";", "set-option", "-F", "-t", target, ownerOption, "#{pane_id}",
	}
}

// own marks a pane as ours.
func (s *Server) own(ctx context.Context, t Target) error {
	target, err := t.spell()
	if err == nil {
		_, err = s.run(ctx, nil, "set-option", "-t", target, ownerOption, t.Pane, ";",
			"set-option", "-w", "-t", target, "remain-on-exit", "on")
	}
	return gone(err)
}

// Respawn starts a program in a pane that exists, in the place of what runs there. The pane stays when the program
// has ended, as after [Server.New], and the end of ctx does not break it off either.
func (s *Server) Respawn(ctx context.Context, t Target, dir string, argv []string) (Pane, error) {
	target, err := t.spell()
	if err != nil {
		return Pane{}, err
	}
	args := []string{"respawn-pane", "-k", "-t", target, "-c", literal(dir), "--"}
	args = append(args, command(argv)...)
	args = append(args, settle(target)...)
	args = append(args, ";", "list-panes", "-s", "-t", target, "-F", paneFormat)
	out, err := s.run(context.WithoutCancel(ctx), nil, args...)
	if err != nil {
		return Pane{}, gone(err)
	}
	panes, err := parsePanes(out)
	if err != nil {
		return Pane{}, err
	}
	return Find(panes, t.Session)
}

// RemainOnExit says whether the pane stays when its program ends.
func (s *Server) RemainOnExit(ctx context.Context, t Target, on bool) error {
	target, err := t.spell()
	if err != nil {
		return err
	}
	value := "off"
	if on {
		value = "on"
	}
	// set-option alone cannot say whether it is the session or the pane that is missing.
	_, err = s.run(ctx, nil, "has-session", "-t", "="+t.Session, ";", "set-option", "-w", "-t", target, "remain-on-exit", value)
	return gone(err)
}

// Disown forgets that a pane of the session was started by [Server.New] or [Server.Respawn].
func (s *Server) Disown(ctx context.Context, session string) error {
	target, err := Target{Session: session}.spell()
	if err == nil {
		_, err = s.run(ctx, nil, "set-option", "-u", "-t", target, ownerOption)
	}
	return gone(err)
}

// Kill ends a session, all of its panes with it.
func (s *Server) Kill(ctx context.Context, session string) error {
	if _, err := (Target{Session: session}).spell(); err != nil {
		return err
	}
	_, err := s.run(ctx, nil, "kill-session", "-t", "="+session)
	return gone(err)
}

// afterwards cleans up when the call that left something behind has failed, maybe for its context.
func (s *Server) afterwards(ctx context.Context, args ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = s.run(ctx, nil, args...) // the first error says more
}

// command is argv as tmux runs it without a shell: one word alone it would give to the user's.
func command(argv []string) []string {
	if len(argv) == 1 {
		argv = []string{"/bin/sh", "-c", `exec "$0"`, argv[0]}
	}
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = word(a)
	}
	return words
}

// word keeps tmux from taking a ";" at the end of an argument for the end of the command.
func word(arg string) string {
	if rest, ok := strings.CutSuffix(arg, ";"); ok {
		return rest + `\;`
	}
	return arg
}

// literal is text that comes out as itself where tmux expands formats: "#(…)" would even run a shell. "#" is doubled,
// but for those before a "[", which tmux leaves as they are.
func literal(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := len(text[i:]) - len(strings.TrimLeft(text[i:], "#"))
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		run := text[i : i+n]
		b.WriteString(run)
		if i += n; i == len(text) || text[i] != '[' {
			b.WriteString(run)
		}
	}
	return word(b.String())
}
