package proc_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/proc"
)

// TestTreeHoldsGrandchildren starts a shell whose child has a child, and finds both below this process.
func TestTreeHoldsGrandchildren(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sh -c 'echo up; read x; :'; :")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	table, err := proc.Table()
	if err != nil {
		t.Fatal(err)
	}
	tree := proc.Tree(table, os.Getpid())
	at := slices.IndexFunc(tree, func(p proc.Process) bool { return p.PID == cmd.Process.Pid })
	if at < 0 || tree[at].Name != "sh" || tree[at].Parent != os.Getpid() {
		t.Fatalf("the shell %d is not in %v", cmd.Process.Pid, tree)
	}
	if !slices.ContainsFunc(tree[at:], func(p proc.Process) bool { return p.Parent == cmd.Process.Pid }) {
		t.Errorf("the shell's child is not in %v", tree)
	}
	if slices.ContainsFunc(tree, func(p proc.Process) bool { return p.PID == os.Getpid() }) {
		t.Error("the root is in its own tree")
	}
	_ = in.Close()
	_ = cmd.Wait()
}

func TestWaitExitOfNoChild(t *testing.T) {
	// The inner sh is a grandchild: nobody here can reap it.
	cmd := exec.Command("sh", "-c", "sh -c 'echo $$; read x' <&3 & wait")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{read}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	var pid int
	if _, err := fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := proc.WaitExit(ctx, pid); !errors.Is(err, context.Canceled) {
		t.Errorf("a process that lives: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- proc.WaitExit(t.Context(), pid) }()
	_ = write.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if err := proc.WaitExit(t.Context(), pid); err != nil {
		t.Errorf("a process that is gone: %v", err)
	}
}

func fscan(r io.Reader, pid *int) (int, error) {
	b := make([]byte, 32)
	n, err := r.Read(b)
	if err != nil {
		return n, err
	}
	for _, c := range strings.TrimSpace(string(b[:n])) {
		*pid = *pid*10 + int(c-'0')
	}
	return n, nil
}
