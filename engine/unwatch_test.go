package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessevents/sessevents/engine/control"
)

// TestC24_AnUnwatchedTargetThatIsWatchedAnewIsNotPolledTwice: the poll of the target that was forgotten is still
// under way. It does not count, and the new one waits until it is over.
func TestC24_AnUnwatchedTargetThatIsWatchedAnewIsNotPolledTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(_ context.Context, _ string, n int) (Outcome, error) {
			time.Sleep(12 * time.Second)
			if n == 1 {
				return said("of the old target"), nil
			}
			return quiet()
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { b.ask(control.Request{Op: control.Watch, Words: []string{"a"}}) })
		synctest.Wait()
		wg.Go(func() { b.ask(control.Request{Op: control.Poll}) }) // waits for the poll after this one
		synctest.Wait()
		for range 2 { // both times the first poll is still under way
			if r := b.ask(control.Request{Op: control.Unwatch, Words: []string{"a"}}); r.Error != "" {
				t.Fatal(r.Error)
			}
			wg.Go(func() { b.ask(control.Request{Op: control.Watch, Words: []string{"a"}}) })
			synctest.Wait()
		}
		wg.Wait()
		if source.most != 1 || source.polled("a") != 2 {
			t.Errorf("%d polls of one target, %d at once", source.polled("a"), source.most)
		}
		if took := time.Since(start); took != 24*time.Second {
			t.Errorf("the new target was polled after %s, want when the old poll was over", took)
		}
		if got := b.logged(); len(got) != 0 {
			t.Errorf("what the forgotten target came to was told: %q", got)
		}
		if r := b.ask(control.Request{Op: control.Unwatch, All: true}); r.Error != "" || len(r.Targets) != 1 {
			t.Errorf("unwatch --all: %+v", r)
		}
	})
}

// TestAnUnwatchedTargetIsForgottenWithItsPoll: watched anew after that, it is asked at once.
func TestAnUnwatchedTargetIsForgottenWithItsPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(context.Context, string, int) (Outcome, error) {
			time.Sleep(12 * time.Second)
			return quiet()
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		go b.ask(control.Request{Op: control.Watch, Words: []string{"a"}})
		synctest.Wait()
		if r := b.ask(control.Request{Op: control.Unwatch, All: true}); r.Error != "" {
			t.Fatal(r.Error)
		}
		time.Sleep(12 * time.Second)
		synctest.Wait()
		start := time.Now()
		b.mustWatch("a")
		if took := time.Since(start); took != 12*time.Second {
			t.Errorf("watched anew in %s", took)
		}
	})
}

// TestAPollThatIsAskedOfATargetThatIsDoneIsAnswered: there will be no poll after the one under way.
func TestAPollThatIsAskedOfATargetThatIsDoneIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{answer: func(context.Context, string, int) (Outcome, error) {
			time.Sleep(12 * time.Second)
			o, err := quiet()
			o.Done = true
			return o, err
		}}
		b := run(t, t.TempDir(), source)
		defer b.end()
		go b.ask(control.Request{Op: control.Watch, Words: []string{"a"}})
		synctest.Wait()
		answered := make(chan control.Response, 1)
		go func() { answered <- b.ask(control.Request{Op: control.Poll}) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case r := <-answered:
			if r.Error != "" || len(r.Failed) > 0 {
				t.Errorf("poll: %+v", r)
			}
		default:
			t.Error("the poll is not answered though the target is gone")
		}
	})
}
