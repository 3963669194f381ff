package examples_test

import (
	"os"
	"path/filepath"
	"testing"
)

// repository is a real repository with one commit on main, and a function that makes another one.
func repository(t *testing.T) (dir string, commit func() string) {
	t.Helper()
	dir = t.TempDir()
	for _, v := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(v, os.DevNull)
	}
	run(t, dir, "git", "init", "-q", "-b", "main")
	commit = func() string {
		run(t, dir, "git", "-c", "user.name=t", "-c", "user.email=t@t.example", "commit", "-q", "--allow-empty", "-m", "prose of the polled system")
		return run(t, dir, "git", "rev-parse", "HEAD")
	}
	return dir, commit
}

func TestGitTip_ARealRepository(t *testing.T) {
	dir, commit := repository(t)
	first := commit()
	w := watch(t, "git-tip", dir, "main")
	w.want()
	w.stands("tip " + first[:12])
	second := commit()
	w.want("tip: " + dir + " main: " + first[:12] + " to " + second[:12])
	run(t, dir, "git", "reset", "-q", "--hard", first)
	w.want("tip: " + dir + " main: " + second[:12] + " to " + first[:12])
	run(t, dir, "git", "checkout", "-q", "-b", "other")
	run(t, dir, "git", "branch", "-q", "-D", "main")
	w.want("deleted: " + dir + " main: deleted, its tip was " + first[:12])
	run(t, dir, "git", "branch", "-q", "team/main")
	w.want()
	run(t, dir, "git", "branch", "-q", "main", second)
	w.want("created: " + dir + " main: created at " + second[:12])
}

// TestGitTip_AnUnreachableRepositoryIsNoDeletedBranch: we could not ask is not the world said no.
func TestGitTip_AnUnreachableRepositoryIsNoDeletedBranch(t *testing.T) {
	dir, commit := repository(t)
	commit()
	w := watch(t, "git-tip", dir, "main")
	w.want()
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	w.fails("exit code 128")
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	w.want()
}

// TestC23_GitTip_ATargetIsNoOptionAndNoCommand: what the user types reaches git as one address.
func TestC23_GitTip_ATargetIsNoOptionAndNoCommand(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	refused(t, "git-tip", "unknown option", "--upload-pack=touch "+mark, "main")
	refused(t, "git-tip", "address of a repository", "--", "--upload-pack=touch "+mark+" x:", "main")
	refused(t, "git-tip", "credential helper", "https://me:secret@git.example/app.git", "main")
	watch(t, "git-tip", "ext::touch "+mark, "main").fails()
	if _, err := os.Stat(mark); err == nil {
		t.Error("the target was run as a command")
	}
}
