package tmux_test

import (
	"testing"

	"github.com/sessevents/sessevents/csd/tmux"
)

func TestPanesOfOthers(t *testing.T) {
	s := server(t, "")
	ours := sleeper(t, s, "api")
	person(t, s, "new-session", "-d", "-s", "my wörk #{pid} x:y.z", "sleep 1000")
	person(t, s, "split-window", "-t", ours.ID, "sleep 1000")
	person(t, s, "select-pane", "-t", ours.ID, "-T", "a: title, 漢\t;")
	panes, err := s.Panes(t.Context())
	if err != nil || len(panes) != 3 {
		t.Fatalf("%+v, %v", panes, err)
	}
	found, err := tmux.Find(panes, "api")
	if err != nil || found.ID != ours.ID || found.PID != ours.PID || found.Owner != ours.ID {
		t.Errorf("ours: %+v, %v", found, err)
	}
	// Panes leaves titles out; Pane has them, whatever they hold.
	if p, err := s.Pane(t.Context(), "api"); err != nil || p.Title == "" || p.ID != ours.ID {
		t.Errorf("ours by its session: %+v, %v", p, err)
	}
	others := 0
	for _, p := range panes {
		if p.Session != "api" {
			others++
			if p.Owner != "" || p.PID == 0 || !p.Active || p.Dead {
				t.Errorf("a person's: %+v", p)
			}
			if same, err := tmux.Find(panes, p.Session); err != nil || same != p {
				t.Errorf("Find: %+v, %v", same, err)
			}
		}
	}
	if others != 1 {
		t.Errorf("panes of others: %+v", panes)
	}
}
