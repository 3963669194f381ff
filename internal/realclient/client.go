// Package realclient drives real coding agents in tests: each in a tmux server, a home and, where the test may, a
// network of its own. The tests of the whole product and those of the facts it rests on are here; the drivers that
// the product itself uses are elsewhere and share no code with it, so that a fault in one does not hide in both.
package realclient

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Find returns the program of a client that scripts/clients installed: claude, codex or pi. Without it, or without
// tmux, the test is skipped; under CI, or with SESSEVENTS_REQUIRE_CLIENTS=1, it fails.
func Find(t testing.TB, name string) string {
	t.Helper()
	path, err := find(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" || os.Getenv("SESSEVENTS_REQUIRE_CLIENTS") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

func find(name string) (string, error) {
	if _, err := exec.LookPath("tmux"); err != nil {
		return "", fmt.Errorf("find tmux, which real clients run in: %w (scripts/clients installs it)", err)
	}
	dir := os.Getenv("SESSEVENTS_CLIENTS")
	if dir == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("find the real clients: %w", err)
			}
			cache = filepath.Join(home, ".cache")
		}
		dir = filepath.Join(cache, "sessevents", "clients")
	}
	path := filepath.Join(dir, "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find the real client %q: %w (scripts/clients installs it)", name, err)
	}
	return path, nil
}

// eventually asks until yes or the end of ctx, for conditions that nothing announces: another program's files and
// screen. The error says what was waited for, and the last answer.
func eventually(ctx context.Context, what string, ask func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		yes, err := ask()
		if yes {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("wait for %s: %w (last: %w)", what, ctx.Err(), err)
			}
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
}
