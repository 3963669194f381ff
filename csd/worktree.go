package csd

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Worktree is the state of the git work tree that a worker is in.
type Worktree struct {
	Branch string `json:"branch,omitempty"` // empty where HEAD is no branch
	Head   string `json:"head,omitempty"`   // the commit; empty before the first
	Dirty  int    `json:"dirty"`            // changed, staged and untracked files
	Ahead  int    `json:"ahead"`            // commits that the upstream has not; 0 without an upstream
	Behind int    `json:"behind"`
}

// A work tree that takes longer than this says nothing; the fleet's list does not wait for a slow disk.
const worktreePatience = 10 * time.Second

// worktreeOf asks git about dir. It is nil where dir is in no work tree, where there is no git, or where git does not
// answer in time. Git is told to change nothing, not even its index, to start no daemon and to run no hook of its
// configuration that a repository may bring.
func worktreeOf(ctx context.Context, dir string, environ []string) *Worktree {
	ctx, cancel := context.WithTimeout(ctx, worktreePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=normal")
	cmd.Dir = dir
	cmd.Env = append(withoutGit(environ), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	var out bytes.Buffer
	cmd.Stdout = &limited{Buffer: &out, left: 32 << 20}
	cmd.WaitDelay = time.Second // for what git started and left holding its output
	if cmd.Run() != nil {
		return nil
	}
	return parseWorktree(out.Bytes())
}

// withoutGit drops what would make git look at another repository than dir's.
func withoutGit(environ []string) (kept []string) {
	for _, e := range environ {
		if !strings.HasPrefix(e, "GIT_") {
			kept = append(kept, e)
		}
	}
	return kept
}

// parseWorktree reads what `git status --porcelain=v2 --branch` prints.
func parseWorktree(out []byte) *Worktree {
	var t Worktree
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := lines.Text()
		header, isHeader := strings.CutPrefix(line, "# branch.")
		switch key, value, _ := strings.Cut(header, " "); {
		case !isHeader && !strings.HasPrefix(line, "#"):
			t.Dirty++
		case key == "oid" && value != "(initial)":
			t.Head = value
		case key == "head" && value != "(detached)":
			t.Branch = value
		case key == "ab":
			ahead, behind, _ := strings.Cut(value, " ")
			t.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))
			t.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-"))
		}
	}
	return &t
}

// limited keeps the head of what is written to it.
type limited struct {
	*bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	keep := min(len(p), l.left)
	l.left -= keep
	l.Buffer.Write(p[:keep])
	return len(p), nil
}
