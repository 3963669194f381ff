package harness

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestF59_ALoginGoesBackOnlyIfItIsTheNewerOne: the operator's is never made worse.
func TestF59_ALoginGoesBackOnlyIfItIsTheNewerOne(t *testing.T) {
	const (
		old   = `{"tokens":1,"last_refresh":"2026-11-01T10:00:00Z"}`
		newer = `{"tokens":2,"last_refresh":"2026-11-02T10:00:00Z"}`
		other = `{"tokens":3,"last_refresh":"2026-11-01T20:00:00Z"}`
		older = `{"tokens":4,"last_refresh":"2026-10-01T10:00:00Z"}`
	)
	for _, c := range []struct {
		name         string
		operator     string // what the operator's file became meanwhile; "-" means that it is gone
		worker, want string
	}{
		{"renewed", old, newer, newer},
		{"not renewed", old, old, old},
		{"older", old, older, old},
		{"the operator renewed too", other, newer, other},
		{"the operator logged out", "-", newer, "-"},
		{"half written", old, newer[:20], old},
		{"logged out in the worker", old, "-", old},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, nil)
			// A link, as of somebody who keeps such files elsewhere.
			real := filepath.Join(w.Getenv("HOME"), "elsewhere", "auth.json")
			path := filepath.Join(w.Getenv("HOME"), ".codex", "auth.json")
			writeFile(t, real, old)
			put(t, path, "")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(real, path); err != nil {
				t.Fatal(err)
			}
			prepare(t, "codex", w)
			put(t, real, c.operator)
			put(t, filepath.Join(w.Home, "auth.json"), c.worker)
			for range 2 { // a second time changes nothing
				if err := (codex{}).Return(t.Context(), w); err != nil {
					t.Fatal(err)
				}
			}
			if got := content(t, real); got != c.want {
				t.Errorf("the operator has %s, want %s", got, c.want)
			}
			if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v", err)
			}
		})
	}
}

// TestALoginWithoutATimeIsComparedByItsFile.
func TestALoginWithoutATimeIsComparedByItsFile(t *testing.T) {
	for _, later := range []bool{true, false} {
		w := newWorker(t, nil)
		path := filepath.Join(w.Getenv("HOME"), ".codex", "auth.json")
		writeFile(t, path, `{"tokens":1}`)
		prepare(t, "codex", w)
		ours := filepath.Join(w.Home, "auth.json")
		writeFile(t, ours, `{"tokens":2}`)
		at := time.Now().Add(time.Hour)
		if !later {
			at = at.Add(-2 * time.Hour)
		}
		if err := os.Chtimes(ours, at, at); err != nil {
			t.Fatal(err)
		}
		if err := (codex{}).Return(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path) == `{"tokens":2}`; got != later {
			t.Errorf("later %v, returned %v", later, got)
		}
	}
}

// TestAnotherStartOfAWorkerReturnsItsLoginFirst: one that a crash left would be overwritten.
func TestAnotherStartOfAWorkerReturnsItsLoginFirst(t *testing.T) {
	w := newWorker(t, nil)
	path := filepath.Join(w.Getenv("HOME"), ".codex", "auth.json")
	writeFile(t, path, `{"last_refresh":"2026-11-01T10:00:00Z"}`)
	prepare(t, "codex", w)
	const renewed = `{"last_refresh":"2026-11-03T10:00:00Z"}`
	writeFile(t, filepath.Join(w.Home, "auth.json"), renewed)
	prepare(t, "codex", w)
	if got := content(t, path); got != renewed {
		t.Errorf("the operator has %s", got)
	}
	// Without a login of the operator's the worker has none either.
	put(t, path, "-")
	prepare(t, "codex", w)
	if got := content(t, filepath.Join(w.Home, "auth.json")); got != "-" {
		t.Errorf("the worker has %s", got)
	}
}

// TestAWorkerOfAWorkerGetsTheOperatorsLogin, not the outer worker's copy, which goes with that; and nothing of its folder.
func TestAWorkerOfAWorkerGetsTheOperatorsLogin(t *testing.T) {
	for _, c := range []struct{ client, variable, dir string }{
		{"codex", "CODEX_HOME", ".codex"}, {"pi", "PI_CODING_AGENT_DIR", filepath.Join(".pi", "agent")},
	} {
		outer := newWorker(t, nil)
		path := filepath.Join(outer.Getenv("HOME"), c.dir, "auth.json")
		writeFile(t, path, `{"tokens":1}`)
		prepare(t, c.client, outer)
		inner := outer
		inner.Name, inner.Home = "inner", outer.Root.Home("inner")
		inner.Getenv = func(name string) string {
			if name == c.variable {
				return outer.Home
			}
			return outer.Getenv(name)
		}
		inner.Environ = append([]string{c.variable + "=" + outer.Home}, outer.Environ...)
		prepare(t, c.client, inner)
		writeFile(t, filepath.Join(outer.Home, "auth.json"), "the outer worker's own")
		prepare(t, c.client, inner)
		if got := content(t, filepath.Join(inner.Home, "auth.json")); got != `{"tokens":1}` {
			t.Errorf("%s: the login is %s", c.client, got)
		}
		for _, pair := range prepare(t, "claude", inner).Launch.Env {
			if pair == c.variable+"="+outer.Home {
				t.Errorf("another client inherits %s", pair)
			}
		}
	}
}

// put writes a file, or removes it for "-".
func put(t *testing.T, path, text string) {
	t.Helper()
	if text == "-" {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	writeFile(t, path, text)
}

// content is what is in a file, "-" if there is none.
func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestASessionIsKeptAndFetched, by the same path below the folder, and not with another's.
func TestASessionIsKeptAndFetched(t *testing.T) {
	w := newWorker(t, nil)
	const id, other = "01a22e22-d943-7300-a447-d106999977d1", "01a22e22-d943-7300-a447-000000000000"
	place := filepath.Join("sessions", "2026", "11", "30")
	name := "rollout-2026-11-30T20-26-05-"
	writeFile(t, filepath.Join(w.Home, place, name+id+".jsonl"), "mine\n")
	writeFile(t, filepath.Join(w.Home, place, name+other+".jsonl"), "not mine\n")
	if Kept(w.Root, id) {
		t.Error("kept before")
	}
	if err := keep(w, id, codexRollout(id)); err != nil {
		t.Fatal(err)
	}
	if !Kept(w.Root, id) || Kept(w.Root, other) {
		t.Error("not kept, or too much")
	}
	if err := os.RemoveAll(w.Home); err != nil {
		t.Fatal(err)
	}
	files, err := fetchKept(w, id, codexRollout(id))
	if err != nil || len(files) != 1 || files[0] != filepath.Join(w.Home, place, name+id+".jsonl") || content(t, files[0]) != "mine\n" {
		t.Errorf("%q, %v", files, err)
	}
	if err := Forget(w.Root, id); err != nil || Kept(w.Root, id) {
		t.Errorf("forget: %v", err)
	}
	var gone *GoneError
	for _, bad := range []string{other, "../../etc", "*", ""} {
		if _, err := fetchKept(w, bad, codexRollout(bad)); !errors.As(err, &gone) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := keep(w, "", "*"); err != nil {
		t.Errorf("a worker that has no session yet: %v", err)
	}
	if err := keep(w, "..", "*"); err == nil {
		t.Error("kept a session without an id")
	}
}
