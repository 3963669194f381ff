package harness

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// lateMenu is a client that asks, with No first, in a menu that begins anew behind its end. It reads its keys late, and
// something else on its screen changes all the time.
type lateMenu struct {
	Screen
	looks  int
	keys   []string // not read yet
	yes    bool     // is chosen
	chosen string
}

func (m *lateMenu) Keys(_ context.Context, keys ...string) error {
	m.keys = append(m.keys, keys...)
	return nil
}

func (m *lateMenu) read() {
	key := m.keys[0]
	m.keys = m.keys[1:]
	switch {
	case key != "Enter":
		m.yes = !m.yes
	case m.yes:
		m.chosen = "yes"
	default:
		m.chosen = "no"
	}
}

func (m *lateMenu) screen() string {
	m.looks++
	beside := fmt.Sprintf("\n%d updates\n", m.looks)
	if m.yes {
		return "Do you trust it?\n  No, exit\n❯ Yes, I trust\n" + beside
	}
	return "Do you trust it?\n❯ No, exit\n  Yes, I trust\n" + beside
}

// TestF15_AKeyThatComesLateIsNoLostOne: a client that stands still for longer than a lost key is waited for, and then reads
// one of its keys at each look, must not be told Enter on another entry than the one that was meant.
func TestF15_AKeyThatComesLateIsNoLostOne(t *testing.T) {
	for _, stands := range []time.Duration{0, lostKey + time.Second, 3*lostKey + time.Second} {
		m := &lateMenu{}
		keys := answering{dialogs: []dialog{{text: "Do you trust it?", want: "Yes, I trust"}}}
		begun := time.Unix(0, 0)
		for now := begun; m.chosen == ""; now = now.Add(look) {
			if now.Sub(begun) > time.Minute {
				t.Fatalf("stood still for %s: nothing is chosen in a minute", stands)
			}
			if _, err := keys.step(t.Context(), m, m.screen(), now); err != nil {
				t.Fatal(err)
			}
			if now.Sub(begun) >= stands && len(m.keys) > 0 {
				m.read()
			}
		}
		if m.chosen != "yes" {
			t.Errorf("stood still for %s: %s is chosen", stands, m.chosen)
		}
	}
}
