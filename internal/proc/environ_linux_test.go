package proc_test

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/sessevents/sessevents/internal/proc"
)

func TestEnvironOfAChild(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.Env = []string{"MARK=a=b", "EMPTY="}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	env, err := proc.Environ(cmd.Process.Pid)
	if err != nil || !slices.Equal(env, []string{"MARK=a=b", "EMPTY="}) {
		t.Errorf("%q, %v", env, err)
	}
	_ = in.Close()
	_ = cmd.Wait()
}
