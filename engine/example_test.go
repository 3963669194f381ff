package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/rundir"
)

// fileSize is a source in Go: an event when the size of a file changes, or when it disappears.
type fileSize struct{}

func (fileSize) Describe() engine.Info {
	return engine.Info{
		Name: "file-size", Interval: time.Second, IdleInterval: time.Minute,
		Usage: []string{"targets: the absolute path of a file"},
	}
}

func (fileSize) ParseTarget(words []string) (engine.Target, error) {
	if len(words) != 1 || !filepath.IsAbs(words[0]) {
		return engine.Target{}, &engine.UsageError{Text: "watch needs an absolute path"}
	}
	return engine.Target{Text: words[0]}, nil
}

func (fileSize) Poll(_ context.Context, t engine.Target, _ time.Time) (engine.Outcome, error) {
	var before, now *int64
	if t.Saved != nil {
		if err := json.Unmarshal(t.Saved, &before); err != nil {
			return engine.Outcome{}, err
		}
	}
	info, err := os.Stat(t.Text)
	if err == nil {
		size := info.Size()
		now = &size
	} else if !errors.Is(err, fs.ErrNotExist) {
		return engine.Outcome{}, err // not "gone": we could not ask
	}

	var events []eventlog.Event
	switch {
	case before != nil && now == nil:
		events = append(events, eventlog.Event{Kind: "gone", Text: t.Text + ": gone", URL: "file://" + t.Text})
	case before != nil && *before != *now:
		text := fmt.Sprintf("%s: %d to %d bytes", t.Text, *before, *now)
		events = append(events, eventlog.Event{Kind: "changed", Text: text, URL: "file://" + t.Text})
	}
	saved, err := json.Marshal(now)
	return engine.Outcome{Events: events, Saved: saved, Busy: len(events) > 0}, err
}

func (fileSize) Summary(engine.Target) []string { return nil }

// A Go program can be a source without any YAML: it runs the same daemon.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "sessevents-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "build.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		panic(err)
	}
	owner, err := rundir.FileSink("example", 0)
	if err != nil {
		panic(err)
	}
	files, err := rundir.Of(dir, owner, "file-size")
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx, engine.Options{Source: fileSize{}, Dir: dir, Owner: owner}) }()
	ask := func(r control.Request) control.Response {
		for {
			answer, err := control.Ask(ctx, files.Socket, r)
			if errors.Is(err, control.ErrNoDaemon) {
				continue // it is starting
			}
			if err != nil {
				panic(err)
			}
			return answer
		}
	}
	ask(control.Request{Op: control.Watch, Words: []string{log}})
	if err := os.WriteFile(log, []byte("compiling\n"), 0o600); err != nil {
		panic(err)
	}
	ask(control.Request{Op: control.Wait, Since: 0})
	for _, e := range ask(control.Request{Op: control.Status}).Report.Recent {
		fmt.Println(e.ID, e.Kind, filepath.Base(e.Text))
	}
	ask(control.Request{Op: control.Stop})
	fmt.Println(<-ended)
	// Output:
	// 1 changed build.log: 0 to 10 bytes
	// <nil>
}
