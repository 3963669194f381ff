package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/engine/rundir"
)

// script is a source whose answers a test sets while the daemon runs.
type script struct {
	idle time.Duration

	mu    sync.Mutex
	polls map[string]int
	// running counts the polls that are under way, most how many there were at once.
	running, most int
	at            []time.Time // of each poll
	// answer says what a poll of a target comes to, the how manieth counts from 1.
	answer func(ctx context.Context, target string, n int) (Outcome, error)
	// ask is answer for who needs the whole target; it goes first.
	ask func(ctx context.Context, t Target, n int) (Outcome, error)
}

func (s *script) Describe() Info {
	return Info{Name: "script", Interval: 5 * time.Second, IdleInterval: s.idle}
}

func (s *script) ParseTarget(words []string) (Target, error) {
	text := strings.Join(words, " ")
	if text == "" || text == "bad" {
		return Target{}, &UsageError{Text: "no good target", Hint: "a better one"}
	}
	return Target{Text: text, Value: json.RawMessage(`{}`)}, nil
}

func (s *script) Poll(ctx context.Context, t Target, now time.Time) (Outcome, error) {
	s.mu.Lock()
	s.polls[t.Text]++
	n := s.polls[t.Text]
	s.at = append(s.at, now)
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if s.ask != nil {
		return s.ask(ctx, t, n)
	}
	return s.answer(ctx, t.Text, n)
}

func (s *script) Summary(Target) []string { return nil }

func (s *script) polled(target string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polls[target]
}

// said makes an outcome with one alert.
func said(text string) Outcome {
	return Outcome{Events: []eventlog.Event{{Kind: "k", Text: text}}, Saved: json.RawMessage(`1`), Busy: true}
}

// quiet is an outcome in which nothing happened.
func quiet() (Outcome, error) { return Outcome{Saved: json.RawMessage(`1`)}, nil }

// bench is a loop without sockets, in the bubble of a synctest.
type bench struct {
	*answers
	t      *testing.T
	source *script
	files  rundir.Files
	end    func()
}

// run starts a loop on source; the daemon of a second run of the same dir takes up what the first left.
func run(t *testing.T, dir string, source *script, change ...func(*Options)) *bench {
	t.Helper()
	if source.polls == nil {
		source.polls = map[string]int{}
	}
	o := Options{Source: source, Dir: dir, Owner: rundir.Owner{ID: "test"}}
	for _, f := range change {
		f(&o)
	}
	info, err := o.describe()
	must(t, err)
	files, err := rundir.Of(dir, o.Owner, info.Name)
	must(t, err)
	log, err := openLog(files.Log, time.Now)
	must(t, err)
	events, err := eventlog.Open(files.Events)
	must(t, err)
	l, err := o.newLoop(info, files, log, events)
	must(t, err)
	ctx, stop := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.run(ctx)
	}()
	b := &bench{&answers{l, stop, done}, t, source, files, nil}
	b.end = sync.OnceFunc(func() {
		stop(errors.New("test over"))
		<-done
		events.Close()
		log.close()
	})
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) ask(r control.Request) control.Response {
	return b.Handle(context.Background(), r)
}

func (b *bench) mustWatch(target string) control.Response {
	b.t.Helper()
	r := b.ask(control.Request{Op: control.Watch, Words: []string{target}})
	if r.Error != "" {
		b.t.Fatalf("watch %s: %s", target, r.Error)
	}
	return r
}

// logged are the texts of the event log, with their ids.
func (b *bench) logged() []string {
	b.t.Helper()
	data, err := os.ReadFile(b.files.Events)
	must(b.t, err)
	var out []string
	for line := range strings.Lines(string(data)) {
		var e eventlog.Event
		must(b.t, json.Unmarshal([]byte(line), &e))
		out = append(out, fmt.Sprintf("%d %s", e.ID, e.Text))
	}
	return out
}

func (b *bench) daemonLog() string {
	b.t.Helper()
	data, err := os.ReadFile(b.files.Log)
	must(b.t, err)
	return string(data)
}

func (b *bench) wantLogged(want ...string) {
	b.t.Helper()
	if got := b.logged(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		b.t.Errorf("event log:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
