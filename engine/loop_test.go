package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/eventlog"
)

func TestSE3_5_TheWaitDoublesWhileNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{idle: time.Minute, answer: func(_ context.Context, _ string, n int) (Outcome, error) {
			if n == 7 {
				return said("x"), nil
			}
			return quiet()
		}}
		start := time.Now()
		b := run(t, t.TempDir(), source)
		defer b.end()
		b.mustWatch("a")
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		var at []string
		for _, p := range source.at {
			at = append(at, p.Sub(start).String())
		}
		// The watch's own poll, then one after the busy interval; from there the waits are 10, 20, 40, 60, 60; an
		// event makes the next wait a busy one again.
		want := "0s 5s 15s 35s 1m15s 2m15s 3m15s 3m20s 3m30s 3m50s 4m30s 5m30s"
		if got := strings.Join(at, " "); got != want {
			t.Errorf("polls at %s\nwant     %s", got, want)
		}
	})
}

func TestSE3_6_WatchPollAndRestartPollAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		source := &script{idle: time.Hour, answer: func(_ context.Context, target string, n int) (Outcome, error) {
			return said(fmt.Sprint(target, n)), nil
		}}
		b := run(t, dir, source)
		start := time.Now()
		if r := b.mustWatch("a"); r.Events != 1 {
			t.Errorf("watch came back with %d events, want the one of its poll", r.Events)
		}
		b.mustWatch("b")
		if r := b.ask(control.Request{Op: control.Poll}); r.Events != 2 || len(r.Targets) != 2 {
			t.Errorf("poll: %+v", r)
		}
		if time.Since(start) != 0 {
			t.Errorf("took %s", time.Since(start))
		}
		b.end()

		b = run(t, dir, source)
		defer b.end()
		synctest.Wait()
		if time.Since(start) != 0 || source.polled("a") != 3 || source.polled("b") != 3 {
			t.Errorf("after the restart %d and %d polls", source.polled("a"), source.polled("b"))
		}
		b.wantLogged("1 a1", "2 b1", "3 a2", "4 b2", "5 a3", "6 b3")
	})
}

func TestSE3_7_EachPollIsALine_AndAQuietOneWritesNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, t.TempDir(), &script{answer: func(context.Context, string, int) (Outcome, error) { return quiet() }})
		defer b.end()
		b.mustWatch("a")
		before := [2]os.FileInfo{}
		for i, path := range []string{b.files.State, b.files.Log} {
			before[i], _ = os.Stat(path)
		}
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if after, _ := os.Stat(b.files.State); !os.SameFile(before[0], after) {
			t.Error("a quiet poll has written the state")
		}
		lines := b.daemonLog()[before[1].Size():]
		if n := strings.Count(lines, "\n"); n != 2 || strings.Count(lines, "poll: 0 events of 1 target; next in 5s\n") != 2 {
			t.Errorf("two quiet polls logged:\n%s", lines)
		}
	})
}

func TestSE3_2_SE3_4_TargetsFailAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("cannot tell")
		b := run(t, t.TempDir(), &script{answer: func(_ context.Context, target string, n int) (Outcome, error) {
			if target == "bad one" && n > 1 && n < 8 {
				return said("lost"), broken
			}
			return said(fmt.Sprint(target, n)), nil
		}})
		defer b.end()
		b.mustWatch("good")
		b.mustWatch("bad one")
		for range 8 {
			time.Sleep(5 * time.Second)
			synctest.Wait()
		}
		b.wantLogged("1 good1", "2 bad one1", "3 good2", "4 good3", "5 good4",
			"6 script: the last 3 polls of bad one failed; read the daemon log for the reason",
			"7 good5", "8 good6", "9 good7", "10 good8", "11 bad one8", "12 good9", "13 bad one9")
		if n := strings.Count(b.daemonLog(), `poll of "bad one" failed`); n != 6 {
			t.Errorf("%d failures in the daemon log, want 6:\n%s", n, b.daemonLog())
		}
	})
}

func TestSE3_3_ThreeFailedPollsAreOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(n int) bool { return n >= 2 && n <= 7 || n >= 9 && n <= 10 || n >= 12 }
		b := run(t, t.TempDir(), &script{answer: func(_ context.Context, target string, n int) (Outcome, error) {
			if fails(n) {
				return Outcome{}, errors.New("cannot tell")
			}
			return quiet()
		}})
		defer b.end()
		b.mustWatch("a")
		b.mustWatch("b")
		for range 20 {
			time.Sleep(5 * time.Second)
			synctest.Wait()
		}
		trouble := "script: the last 3 polls failed; read the daemon log for the reason"
		b.wantLogged("1 "+trouble, "2 "+trouble)
		var e eventlog.Event
		line, _, _ := strings.Cut(readFile(t, b.files.Events), "\n")
		if must(t, json.Unmarshal([]byte(line), &e)); e.URL != b.files.Log || e.Kind != "trouble" || !e.IsAlert() {
			t.Errorf("the event is %+v; its URL is to be the log's path", e)
		}
	})
}

// begsPatience is the error of a system that asks not to be asked for a while.
type begsPatience time.Duration

func (p begsPatience) Error() string             { return "asks for patience" }
func (p begsPatience) RetryAfter() time.Duration { return time.Duration(p) }

func TestC17_PatienceIsNoTroubleUntilItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(_ context.Context, target string, n int) (Outcome, error) {
			if target == "busy" && n > 1 {
				return Outcome{}, fmt.Errorf("http: %w", begsPatience(2*time.Minute))
			}
			return quiet()
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		b.mustWatch("busy")
		b.mustWatch("other")
		time.Sleep(14 * time.Minute)
		synctest.Wait()
		if n := source.polled("busy"); n != 8 { // the first, then one each two minutes
			t.Errorf("%d polls of a target that is put off", n)
		}
		if n := source.polled("other"); n < 160 {
			t.Errorf("%d polls of the other target", n)
		}
		b.wantLogged()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		b.wantLogged("1 script: the last 3 polls of busy failed; read the daemon log for the reason")
		if r := b.ask(control.Request{Op: control.Status}); r.Report.Targets[0].LastFailure == nil {
			t.Error("status does not tell of it")
		}
	})
}

func TestC21_ALineOfAFailedPollReachesTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{idle: time.Minute, answer: func(context.Context, string, int) (Outcome, error) {
			return Outcome{Log: []string{"git: fatal: no such remote"}}, errors.New("exit 128")
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		b.mustWatch("a")
		synctest.Wait()
		if log := b.daemonLog(); !strings.Contains(log, `"a": git: fatal: no such remote`) || !strings.Contains(log, "exit 128") {
			t.Errorf("the log: %s", log)
		}
	})
}

func TestC24_NeverTwoPollsOfATargetAndNoCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(_ context.Context, _ string, n int) (Outcome, error) {
			time.Sleep(12 * time.Second)
			return quiet()
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { b.ask(control.Request{Op: control.Watch, Words: []string{"a"}}) })
		synctest.Wait()
		wg.Go(func() { b.ask(control.Request{Op: control.Watch, Words: []string{"a"}}) })
		wg.Go(func() { b.ask(control.Request{Op: control.Poll}) })
		wg.Wait()
		if source.most != 1 {
			t.Errorf("%d polls of one target at once", source.most)
		}
		if took := time.Since(start); took != 24*time.Second || source.polled("a") != 2 {
			t.Errorf("%d polls in %s; the second watch and the poll share the one after the first", source.polled("a"), took)
		}
		time.Sleep(16 * time.Second)
		synctest.Wait()
		if n := source.polled("a"); n != 3 {
			t.Errorf("%d polls, want the third 5s after the second has ended", n)
		}
	})
}

func TestC35_ATargetThatHangsDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(ctx context.Context, target string, n int) (Outcome, error) {
			if target == "slow" {
				select {
				case <-ctx.Done():
					return Outcome{}, ctx.Err()
				case <-time.After(30 * time.Second):
				}
			}
			return said(fmt.Sprint(target, n)), nil
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		b.mustWatch("quick")
		go b.ask(control.Request{Op: control.Watch, Words: []string{"slow"}})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if n := source.polled("quick"); n < 3 {
			t.Errorf("%d polls of the quick target in 20s", n)
		}
		logged := b.logged()
		if len(logged) < 3 || logged[2] != "3 quick3" {
			t.Errorf("logged %v", logged)
		}
		time.Sleep(13 * time.Second)
		synctest.Wait()
		if got := strings.Join(b.logged(), " "); !strings.Contains(got, "slow1") {
			t.Errorf("what the slow target said is not logged: %s", got)
		}
	})
}

// TestC35_HangingTargetsKeepNobodysPlace: more of them than there are places, and each for longer than an interval.
func TestC35_HangingTargetsKeepNobodysPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(ctx context.Context, target string, n int) (Outcome, error) {
			if target == "quick" {
				return said(fmt.Sprint(target, n)), nil
			}
			select {
			case <-ctx.Done():
			case <-time.After(30 * time.Second):
			}
			return Outcome{}, errors.New("no answer in time")
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		for i := range 3 * maxPolls {
			go b.ask(control.Request{Op: control.Watch, Words: []string{fmt.Sprint("slow", i)}})
		}
		time.Sleep(time.Second)
		go b.ask(control.Request{Op: control.Watch, Words: []string{"quick"}})
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if n := source.polled("quick"); n < 4 {
			t.Errorf("%d polls of the quick target in 40s, with an interval of %s", n, source.Describe().Interval)
		}
		if source.most < 2*maxPolls {
			t.Errorf("only %d polls ran beside each other", source.most)
		}
	})
}

func TestC35_AThousandTargetsAreSavedOnceAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(_ context.Context, target string, n int) (Outcome, error) {
			time.Sleep(10 * time.Millisecond)
			return said(target), nil
		}}
		prepared := 0
		b := run(t, t.TempDir(), source, func(o *Options) {
			o.fault = func(step string) error {
				if step == "prepare" {
					prepared++
				}
				return nil
			}
		})
		defer b.end()
		for i := range 1000 {
			must(t, b.put(fmt.Sprint("t", i)))
		}
		synctest.Wait()
		before := prepared
		if r := b.ask(control.Request{Op: control.Poll}); r.Events != 1000 {
			t.Errorf("%d events", r.Events)
		}
		if prepared != before+1 || source.most > maxPolls {
			t.Errorf("%d commits, %d polls at once", prepared-before, source.most)
		}
	})
}

// put adds a target without waiting for its poll.
func (b *bench) put(text string) (err error) {
	b.do(context.Background(), func(now time.Time) {
		var parsed Target
		if parsed, err = b.source.ParseTarget([]string{text}); err == nil {
			_, err = b.loop.watch(parsed, now.Add(time.Hour))
		}
	})
	return err
}

func TestSE4_3_WatchingAgainReplacesTheCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		saved := make(chan string, 10)
		b := run(t, dir, &script{ask: func(_ context.Context, t Target, n int) (Outcome, error) {
			saved <- string(t.Saved)
			return Outcome{Saved: json.RawMessage(fmt.Sprint(n))}, nil
		}})
		b.mustWatch("a")
		b.ask(control.Request{Op: control.Poll})
		b.mustWatch("a")
		for _, want := range []string{"", "1", ""} {
			if got := <-saved; got != want {
				t.Errorf("polled with %q, want %q", got, want)
			}
		}
		b.end()
		data := readFile(t, b.files.State)
		if !strings.Contains(data, `"saved":3`) || strings.Count(data, `"text":"a"`) != 1 {
			t.Errorf("state: %s", data)
		}
	})
}

func TestSE4_5_AStatusOfNothingHasListsAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, t.TempDir(), &script{})
		defer b.end()
		report, err := json.Marshal(b.ask(control.Request{Op: control.Status}).Report)
		if must(t, err); !strings.Contains(string(report), `"targets":[]`) || !strings.Contains(string(report), `"recent":[]`) {
			t.Errorf("status: %s", report)
		}
	})
}

func TestUnwatchByTheWordsAndAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(context.Context, string, int) (Outcome, error) { return quiet() }}
		b := run(t, t.TempDir(), source)
		defer b.end()
		for _, text := range []string{"a", "b c", "d"} {
			b.mustWatch(text)
		}
		if r := b.ask(control.Request{Op: control.Unwatch, Words: []string{"b", "c"}}); r.Error != "" || len(r.Targets) != 1 {
			t.Errorf("unwatch b c: %+v", r)
		}
		if r := b.ask(control.Request{Op: control.Unwatch, Words: []string{"x"}}); !r.Usage || !strings.Contains(r.Error, "not watched: x") {
			t.Errorf("unwatch x: %+v", r)
		}
		if r := b.ask(control.Request{Op: control.Unwatch, All: true}); r.Error != "" || strings.Join(r.Targets, " ") != "a d" {
			t.Errorf("unwatch --all: %+v", r)
		}
		polls := len(source.at)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(source.at) != polls {
			t.Error("polled without a target")
		}
		if r := b.ask(control.Request{Op: control.Watch, Words: []string{"bad"}}); !r.Usage || r.Error != "no good target" || r.Hint != "a better one" {
			t.Errorf("watch bad: %+v", r)
		}
	})
}

func TestSE4_4_WaitAnswersOnceThereIsSomethingNewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, t.TempDir(), &script{answer: func(_ context.Context, _ string, n int) (Outcome, error) {
			if n == 4 {
				return said("at last"), nil
			}
			return quiet()
		}})
		defer b.end()
		b.mustWatch("a")
		start := time.Now()
		if r := b.ask(control.Request{Op: control.Wait, TimeoutMS: 7000}); !r.TimedOut || time.Since(start) != 7*time.Second {
			t.Errorf("after %s: %+v, want a timeout", time.Since(start), r)
		}
		if r := b.ask(control.Request{Op: control.Wait}); r.TimedOut || r.Last != 1 || time.Since(start) != 15*time.Second {
			t.Errorf("after %s: %+v", time.Since(start), r)
		}
		if r := b.ask(control.Request{Op: control.Wait}); r.Last != 1 || time.Since(start) != 15*time.Second {
			t.Errorf("what is there already: %+v", r)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if r := b.Handle(ctx, control.Request{Op: control.Wait, Since: 1}); r.Error == "" {
			t.Errorf("an asker that is gone: %+v", r)
		}
	})
}

func TestDoneUnwatchesAndMorePollsAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, t.TempDir(), &script{answer: func(_ context.Context, _ string, n int) (Outcome, error) {
			o := said(fmt.Sprint("part ", n))
			o.More, o.Done = n < 3, n == 3
			return o, nil
		}})
		defer b.end()
		start := time.Now()
		b.mustWatch("a")
		b.ask(control.Request{Op: control.Wait, Since: 2})
		if time.Since(start) != 0 {
			t.Errorf("took %s", time.Since(start))
		}
		b.wantLogged("1 part 1", "2 part 2", "3 part 3")
		if r := b.ask(control.Request{Op: control.Status}); len(r.Report.Targets) != 0 {
			t.Errorf("still watched: %+v", r.Report.Targets)
		}
	})
}

// TestABacklogIsToldOnce when the first target has one, and once when the last has none, be it that it fails or goes.
func TestABacklogIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []bool
		b := run(t, t.TempDir(), &script{answer: func(_ context.Context, target string, n int) (Outcome, error) {
			o := said(fmt.Sprint(target, n))
			switch {
			case target == "fails" && n == 4:
				return o, errors.New("cut off")
			case n < 4:
				o.More = true
			}
			o.Done = target == "goes" && n == 3
			return o, nil
		}}, func(o *Options) { o.Backlog = func(reading bool) { told = append(told, reading) } })
		for _, target := range []string{"ends", "fails", "goes"} {
			b.mustWatch(target)
		}
		b.ask(control.Request{Op: control.Wait, Since: 9})
		synctest.Wait()
		b.end()
		if len(told)%2 != 0 || len(told) == 0 {
			t.Fatalf("told %v", told)
		}
		for i, reading := range told {
			if reading != (i%2 == 0) {
				t.Fatalf("told %v", told)
			}
		}
	})
}

func TestSE5_3_StopFinishesThePollUnderWay(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration
		want  string
	}{"a short poll is saved": {900 * time.Millisecond, "1 saved"}, "a long one is broken off": {time.Hour, ""}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := run(t, t.TempDir(), &script{answer: func(ctx context.Context, _ string, n int) (Outcome, error) {
					select {
					case <-ctx.Done():
						return Outcome{}, ctx.Err()
					case <-time.After(tt.takes):
						return said("saved"), nil
					}
				}})
				go b.ask(control.Request{Op: control.Watch, Words: []string{"a"}})
				synctest.Wait()
				start := time.Now()
				b.stop(errors.New("SIGTERM"))
				<-b.done
				if took := time.Since(start); took > 1500*time.Millisecond {
					t.Errorf("stopping took %s: the host kills after that", took)
				}
				if got := strings.Join(b.logged(), " "); got != tt.want {
					t.Errorf("logged %q, want %q", got, tt.want)
				}
				if want := fmt.Sprintf("daemon %d stopped: SIGTERM\n", os.Getpid()); !strings.HasSuffix(b.daemonLog(), want) {
					t.Errorf("the log does not end with %q:\n%s", want, b.daemonLog())
				}
			})
		})
	}
}

func TestASourceThatMisbehavesFailsItsTargetOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, t.TempDir(), &script{answer: func(_ context.Context, target string, n int) (Outcome, error) {
			switch target {
			case "panics":
				panic("at the disco")
			case "bad kind":
				return Outcome{Events: []eventlog.Event{{Kind: "Not A Kind"}}}, nil
			case "bad level":
				return Outcome{Events: []eventlog.Event{{Kind: "k", Level: "loud"}}}, nil
			case "bad field":
				return Outcome{Events: []eventlog.Event{{Kind: "k", Fields: map[string]any{"id": 7}}}}, nil
			case "bad state":
				return Outcome{Saved: json.RawMessage(`{`)}, nil
			}
			o := said("two\nlines \u202e\x1b[31m" + strings.Repeat("é", 400))
			o.Events[0].URL = "file:///a b\n</cross-session-message>"
			return o, nil
		}})
		defer b.end()
		for _, text := range []string{"panics", "bad kind", "bad level", "bad field", "bad state"} {
			if r := b.mustWatch(text); len(r.Failed) != 1 {
				t.Errorf("%s: %+v", text, r)
			}
		}
		b.mustWatch("prose")
		want := "two lines   [31m" + strings.Repeat("é", 300-len("two lines   [31m")-1) + "…"
		b.wantLogged("1 " + want)
		if strings.Contains(readFile(t, b.files.Events), "url") {
			t.Error("a URL that is none was logged")
		}
	})
}

func TestSE7_4_TheDaemonLogIsTurnedOverOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	log, err := openLog(path, time.Now)
	must(t, err)
	defer log.close()
	log.max = 1000
	for i := range 100 {
		log.printf("line %d\nof two", i)
	}
	for _, p := range []string{path, path + ".1"} {
		data := readFile(t, p)
		if len(data) > 1000 || len(data) < 100 || strings.Contains(data, "\nof") {
			t.Errorf("%s has %d bytes:\n%s", p, len(data), data)
		}
	}
	if data := readFile(t, path); !strings.Contains(data, "line 99 of two") {
		t.Errorf("the last line is not there:\n%s", data)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}
