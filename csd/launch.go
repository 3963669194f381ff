package csd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessevents/sessevents/csd/event"
	"github.com/sessevents/sessevents/csd/harness"
	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/tmux"
)

// ExecWord is the command of csd that a pane runs: it becomes the client (see Exec).
const ExecWord = "exec"

// LaunchOptions say what to launch.
type LaunchOptions struct {
	Name    string   // of the worker and of its tmux session
	Dir     string   // the folder in which it works
	Harness string   // claude, codex or pi; empty means claude
	Args    []string // more arguments for the client
}

// Launched is a worker that takes prompts.
type Launched struct {
	Name      string   `json:"name"`
	Harness   string   `json:"harness"`
	Shim      string   `json:"shim"`       // the program that drives this worker
	SessionID string   `json:"session_id"` // empty where the client makes one with its first prompt
	CWD       string   `json:"cwd"`
	Events    string   `json:"events_file"` // empty without a session id
	Reproduce []string `json:"reproduce"`   // the words of csd that do the same again
	InPlace   bool     `json:"in_place"`    // an adopted session took over a pane that was there
}

// Launch starts a client in a tmux session of its own and returns when it takes prompts. Whatever goes wrong, nothing
// stays behind: no session, no file.
func (f *Fleet) Launch(ctx context.Context, o LaunchOptions) (Launched, error) {
	l, err := f.begin(o)
	if err != nil {
		return Launched{}, err
	}
	defer l.release()
	l.words = reproduce("launch", l.kind, o.Name, l.dir, "", o.Args)
	if l.kind == "claude" {
		l.worker.SessionID = newID()
	}
	if pane, err := l.server.Pane(ctx, o.Name); !errors.Is(err, tmux.ErrNoSession) {
		if err != nil && !errors.Is(err, tmux.ErrNoPane) {
			return Launched{}, err
		}
		return Launched{}, f.taken(ctx, o.Name, pane)
	}
	if err := f.free(ctx, o.Name, 0); err != nil {
		return Launched{}, err
	}
	if err := f.clear(ctx, o.Name); err != nil {
		return Launched{}, err
	}
	start, err := l.harness.Prepare(ctx, l.worker)
	if err != nil {
		return Launched{}, f.undo(l, startError(err))
	}
	if err := l.register(ctx, start, l.worker.SessionID); err != nil {
		return Launched{}, f.undo(l, err)
	}
	if err := l.run(ctx, start); err != nil {
		return Launched{}, f.undo(l, err)
	}
	return l.launched()
}

// launching is one launch or adoption while it goes on.
type launching struct {
	fleet   *Fleet
	kind    string
	dir     string
	words   []string
	harness harness.Harness
	worker  harness.Worker
	server  *tmux.Server
	release func()

	meta   store.Meta
	pane   tmux.Pane // of the client, once it runs
	before int64     // the end of the events of an earlier life
	inPane bool      // the pane was there before
	took   bool      // what ran in that pane before was ended
	former *Worker   // the one of another name that had the session; nil if there was none
}

// begin checks the words, in the order in which a user would mend them, and takes the name.
func (f *Fleet) begin(o LaunchOptions) (*launching, error) {
	if o.Harness == "" {
		o.Harness = "claude"
	}
	h, err := harness.For(o.Harness)
	if err != nil {
		return nil, usagef("one of "+strings.Join(harness.Names(), ", "), "%v", err)
	}
	if !store.ValidName(o.Name) {
		return nil, usagef("a letter or digit, then letters, digits, _ and -, 64 at most", "%q cannot be the name of a worker", o.Name)
	}
	dir, err := folder(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := f.requireConsent(); err != nil {
		return nil, err
	}
	if err := f.root.Make(); err != nil {
		return nil, err
	}
	release, err := f.root.Reserve(o.Name)
	if err != nil {
		return nil, &Error{Text: fmt.Sprintf("launch %s", o.Name), Hint: "choose another name, or wait for that to end", Err: err}
	}
	return &launching{
		fleet: f, kind: o.Harness, dir: dir, harness: h, release: release, server: f.server(""),
		worker: harness.Worker{
			Name: o.Name, CWD: dir, Home: f.root.Home(o.Name), HookExe: f.HookExe(), Root: f.root, Args: o.Args, Getenv: f.Getenv, Environ: f.Environ,
		},
	}, nil
}

// folder is the real path of a folder.
func folder(dir string) (string, error) {
	if dir == "" { // not the folder of the caller: it is a variable of a script that is not set
		return "", usagef("name the folder in which the worker is to work; . is this one", "the folder is empty")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", failf("make it first, or name another one", "there is no folder %s", abs)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", failf("name the folder in which the worker is to work", "%s is no folder", abs)
	}
	return filepath.EvalSymlinks(abs)
}

// register writes down who the worker is, before its client runs: a hook writes only for a worker that is known.
func (l *launching) register(ctx context.Context, s harness.Start, id string) error {
	socket, err := l.server.SocketPath(ctx)
	if err != nil {
		return err
	}
	l.server = l.fleet.server(socket)
	l.meta = store.Meta{
		TmuxName: l.worker.Name, SessionID: id, CWD: l.dir, Harness: l.kind, StartedAt: l.fleet.Now().UTC(), Invocation: l.words,
		TranscriptPath: s.TranscriptPath, TmuxSocket: socket, ConfigDir: s.ConfigDir,
	}
	root := l.fleet.root
	if l.kind != "claude" {
		if err := root.Mark(l.worker.Name, l.kind); err != nil {
			return err
		}
	}
	if id == "" {
		pending := l.meta
		return root.PutState(l.worker.Name, store.State{Pending: &pending})
	}
	if err := root.Put(l.meta); err != nil {
		return err
	}
	if l.meta, err = root.Find(l.worker.Name); err != nil {
		return err
	}
	if l.before, err = event.Size(root.EventsFile(l.meta)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// run starts the client in its pane and waits until it takes prompts.
func (l *launching) run(ctx context.Context, s harness.Start) error {
	file, err := l.fleet.root.WriteLaunch(l.worker.Name, s.Launch)
	if err != nil {
		return err
	}
	argv := []string{l.fleet.Exe, ExecWord, file}
	var pane tmux.Pane
	if l.inPane {
		pane, err = l.server.Respawn(ctx, l.pane.Target(), l.dir, argv)
	} else {
		pane, err = l.server.New(ctx, tmux.NewSession{Name: l.worker.Name, Dir: l.dir, Argv: argv})
	}
	if err != nil {
		_ = os.Remove(file)
		return startError(err)
	}
	l.pane, l.took = pane, true
	ctx, cancel := context.WithTimeout(ctx, l.fleet.settings.Start)
	defer cancel()
	sc := &screen{server: l.server, target: l.pane.Target(), started: startedSince(l.eventsPath, l.before)}
	if err := l.harness.Ready(ctx, l.worker, sc); err != nil {
		return startError(err)
	}
	if err := l.server.RemainOnExit(ctx, l.pane.Target(), false); err != nil {
		return err
	}
	return l.fleet.root.WriteShim(l.worker.Name, l.fleet.Exe)
}

// eventsPath is where the client's events are; one that makes its own id has none before it is registered.
func (l *launching) eventsPath() string {
	if l.meta.SessionID != "" {
		return l.fleet.root.EventsFile(l.meta)
	}
	m, err := l.fleet.root.Find(l.worker.Name)
	if err != nil {
		return filepath.Join(l.fleet.root.Path(), "none")
	}
	return l.fleet.root.EventsFile(m)
}

func (l *launching) launched() (Launched, error) {
	d := Launched{
		Name: l.worker.Name, Harness: l.kind, Shim: l.fleet.root.Shim(l.worker.Name), CWD: l.dir,
		Reproduce: append([]string{l.fleet.Exe}, l.words...), InPlace: l.inPane,
	}
	if m, err := l.fleet.root.Find(l.worker.Name); err == nil { // a client may have registered by itself
		d.SessionID, d.Events = m.SessionID, l.fleet.root.EventsFile(m)
	}
	return d, nil
}

// undo removes everything that a failed launch made, and returns the reason with what could not be removed.
func (f *Fleet) undo(l *launching, reason error) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	errs := []error{reason}
	if l.took {
		if err := l.server.Kill(ctx, l.worker.Name); err != nil && !errors.Is(err, tmux.ErrNoSession) {
			errs = append(errs, err)
		}
	}
	w, err := f.Worker(l.worker.Name)
	if err == nil {
		err = w.remove()
	} else {
		err = f.root.Remove(l.worker.Name, nil)
	}
	if err != nil {
		errs = append(errs, err)
	}
	if len(errs) == 1 {
		return reason
	}
	return errors.Join(errs...)
}

// startError gives what a harness says of a failed start its kind and its hint.
func startError(err error) error {
	var died *harness.DiedError
	var dialog *harness.DialogError
	var late *harness.NotReadyError
	var missing *harness.MissingError
	var arg *harness.ArgError
	switch {
	case errors.As(err, &died):
		return &Error{Text: err.Error(), Hint: cmp.Or(died.Hint, "start it by hand in that folder to see what it lacks")}
	case errors.As(err, &dialog):
		return &Error{Kind: NeedsPerson, Text: err.Error(), Hint: dialog.Hint}
	case errors.As(err, &late):
		return &Error{Text: err.Error(), Hint: cmp.Or(late.Hint, "CSD_START_TIMEOUT_MS gives it longer")}
	case errors.As(err, &missing):
		return &Error{Text: err.Error(), Hint: missing.Hint()}
	case errors.As(err, &arg):
		return &Error{Kind: Usage, Text: err.Error(), Hint: "leave it out behind --"}
	}
	return err
}

// screenLines are as many lines of a screen as an error shows.
const screenLines = 20

// withScreen puts the last lines of a screen below a text.
func withScreen(text, pane string) string {
	var lines []string
	for line := range strings.Lines(pane) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return text
	}
	lines = lines[max(0, len(lines)-screenLines):]
	return text + "\n----\n" + strings.Join(lines, "\n") + "\n----"
}

// reproduce are the words of csd that do the same again.
func reproduce(command, kind, name, dir, id string, args []string) []string {
	words := []string{command}
	if kind != "claude" {
		words = append(words, "--harness", kind)
	}
	words = append(words, name, dir)
	if id != "" {
		words = append(words, id)
	}
	if len(args) > 0 {
		words = append(append(words, "--"), args...)
	}
	return words
}

// newID is a random UUID, version 4.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// remove removes every file of the worker.
func (w *Worker) remove() error {
	if w.registered {
		return w.fleet.root.Remove(w.name, &w.meta)
	}
	return w.fleet.root.Remove(w.name, nil)
}
