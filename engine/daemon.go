package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/control/server"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/inbox"
	"github.com/sessevents/sessevents/engine/rundir"
	"github.com/sessevents/sessevents/internal/proc"
)

// MinInterval and MaxInterval bound a source's interval.
const (
	MinInterval = time.Second
	MaxInterval = 86400 * time.Second
)

// Options say what a daemon is to do, and for whom.
type Options struct {
	Source Source
	// Dir is the runtime directory.
	Dir   string
	Owner rundir.Owner
	// Interval replaces the source's busy interval; zero keeps it.
	Interval time.Duration
	// Mode is the permission mode of the owner's session. Zero means inbox.Bypass.
	Mode inbox.Mode
	// SessionID and Token are of the owner's session; either may be empty.
	SessionID, Token string
	// Command is how a user calls a command of this daemon, up to the command's name: `sessevents --spec log-events`.
	// Flags stands behind it, such as `--id codex-12`.
	Command, Flags string
	// Reload builds the source anew: when the file SourceFile has changed, and when Hangup says so. It returns nil
	// where nothing has changed. Nil: the source stays what it is. SourceFile is an absolute path; empty: none.
	Reload     func() (Source, error)
	SourceFile string
	Hangup     <-chan os.Signal
	// Limits tells which hosts asked for patience, for `status`. It may be nil.
	Limits func() []control.Limit
	// Backlog is told when a target has more to read than one poll may, and when none has any more: so long a program may
	// want to spend memory for time. It is called from one goroutine; it may be nil.
	Backlog func(reading bool)
	// Out gets a few lines when the daemon has started, and one when it has stopped. It may be nil.
	Out io.Writer

	fault func(step string) error
}

// RunningError says that another daemon serves the owner already.
type RunningError struct{ PID int }

func (e *RunningError) Error() string {
	return fmt.Sprintf("a daemon is running already: pid %d", e.PID)
}

// Run is a daemon's whole life. It returns nil when the daemon was stopped, by ctx, by the `stop` command or because
// its owner is gone; the cause of ctx is the reason that the log gives. It returns a *RunningError where a daemon
// serves this owner already, and a *state.DamagedError where the saved state cannot be read.
func Run(ctx context.Context, o Options) (err error) {
	info, err := o.describe()
	if err != nil {
		return err
	}
	files, err := rundir.Of(o.Dir, o.Owner, info.Name)
	if err != nil {
		return err
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	// What is opened is closed in reverse order.
	var closers []func() error
	defer func() {
		for i := range closers {
			err = errors.Join(err, closers[len(closers)-1-i]())
		}
	}()

	listener, running, err := server.Listen(ctx, files.Socket)
	if errors.Is(err, server.ErrRunning) {
		return &RunningError{running.PID}
	}
	if err != nil {
		return err
	}
	unlink := sync.OnceValue(listener.Close)
	closers = append(closers, unlink)

	log, err := openLog(files.Log, time.Now)
	if err != nil {
		return fmt.Errorf("open daemon log: %w", err)
	}
	closers = append(closers, log.close)
	events, err := eventlog.Open(files.Events)
	if err != nil {
		return fmt.Errorf("open event log: %w", err)
	}
	closers = append(closers, events.Close)

	l, err := o.newLoop(info, files, log, events)
	if err != nil {
		return err
	}
	if closeWaker := l.hear(); closeWaker != nil {
		closers = append(closers, closeWaker)
	}
	if l.socket, err = os.Lstat(files.Socket); err != nil {
		return err
	}
	o.greet(l)

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make(chan struct{})
	serve, endServe := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(serve, listener, &answers{l, stop, done}) })
	l.run(ctx)
	_ = unlink() // before anybody is told that the daemon has stopped; its error is returned at the end
	close(done)
	endServe()
	serving.Wait()
	fmt.Fprintf(o.Out, "%s daemon %d stopped: %v\n", info.Name, os.Getpid(), l.reason)
	return nil
}

// describe checks what the source and the options say of the source.
func (o *Options) describe() (Info, error) {
	info := o.Source.Describe()
	if !rundir.ValidName(info.Name) {
		return info, fmt.Errorf("source name %q: small letters, digits and -, at most 40", info.Name)
	}
	if o.Interval != 0 {
		if info.IdleInterval <= info.Interval { // a source without an idle interval of its own stays one
			info.IdleInterval = 0
		}
		info.Interval = o.Interval
	}
	info.IdleInterval = max(info.IdleInterval, info.Interval)
	for _, d := range []time.Duration{info.Interval, info.IdleInterval} {
		if d < MinInterval || d > MaxInterval {
			return info, &UsageError{Text: fmt.Sprintf("interval %s is out of range: 1 to 86400 seconds", seconds(d))}
		}
	}
	if o.Mode == "" {
		o.Mode = inbox.Bypass
	}
	return info, nil
}

// newLoop takes up what the last daemon of this owner left.
func (o *Options) newLoop(info Info, files rundir.Files, log *daemonLog, events *eventlog.Log) (*loop, error) {
	l := &loop{
		options: *o, reload: reloader{build: o.Reload, file: &target{}},
		source: o.Source, info: info, owner: o.Owner, files: files, log: log,
		commits:  &committer{path: files.State, log: events, fault: o.fault},
		schedule: schedule{busy: info.Interval, idle: info.IdleInterval},
		requests: make(chan request),
		results:  make(chan *result),
		sent:     make(chan error, 1),
		changed:  make(chan struct{}),
	}
	var err error
	if l.state, err = l.commits.recover(); err != nil {
		return nil, err
	}
	for _, t := range l.state.Targets {
		l.targets = append(l.targets, &target{Target: Target{Text: t.Text, Value: t.Value, Saved: t.Saved}})
	}
	reader, err := eventlog.OpenReader(files.Events)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	if l.recent, err = reader.Last(recentEvents); err != nil {
		return nil, err
	}
	if o.Owner.Inbox == "" {
		return l, nil
	}
	l.address = inbox.Address{
		Inbox: o.Owner.Inbox, Name: info.Name, From: files.Socket, Mode: o.Mode, SessionID: o.SessionID, Token: o.Token,
	}
	l.outbox = &outbox{
		name: info.Name, stem: info.Name + "-" + o.Owner.Start, saved: l.state.Delivery,
		fetch: strings.Join(strings.Fields(o.Command+" wait "+o.Flags+" --since"), " "),
	}
	return l, l.outbox.restore(reader)
}

// restore puts the alerts that the log holds and that were not delivered into the outbox.
func (o *outbox) restore(log *eventlog.Reader) error {
	from := o.saved.Delivered
	if o.saved.Sending != nil {
		from = o.saved.Sending.Last
	}
	for line, err := range log.Since(from) {
		if err != nil {
			return err
		}
		var e eventlog.Event
		if e.UnmarshalJSON(line) == nil {
			o.add(e, e.At)
		}
	}
	return nil
}

// greet says that the daemon runs, to its starter and in its log.
func (o *Options) greet(l *loop) {
	say := func(format string, args ...any) {
		l.log.printf(format, args...)
		fmt.Fprintf(o.Out, format+"\n", args...)
	}
	say("%s daemon %d serves %s: %s, every %s to %s", l.info.Name, os.Getpid(), l.owner, count(len(l.targets), "target"), seconds(l.schedule.busy), seconds(l.schedule.idle))
	fmt.Fprintf(o.Out, "socket %s\nevents %s\nlog    %s\n", l.files.Socket, l.files.Events, l.files.Log)
	if l.outbox == nil {
		return
	}
	switch detached := !proc.Descends(os.Getpid(), l.owner.PID); {
	case detached && o.Mode == inbox.Auto:
		l.delivery.Warning = "this daemon is not a descendant of its session, so a message that names no mode is held in a session that bypasses permissions; start it as the session's own background task"
	case detached:
		l.delivery.Warning = "this daemon is not a descendant of its session, so its messages are held unless --mode is the session's own; start it as the session's own background task"
	}
	if o.Mode == inbox.Auto {
		say("messages name no permission mode: they are taken as long as this daemon descends from the session's process")
	} else {
		say("messages name the permission mode %s", o.Mode)
	}
	if l.delivery.Warning != "" {
		say("warning: %s", l.delivery.Warning)
	}
	if n := l.outbox.pending(); n > 0 {
		say("%s from before were not delivered yet", count(n, "alert"))
	}
}
