package realclient

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programs is the folder that the program under test is built into.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "sessevents"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(programs) // a temporary folder
	os.Exit(code)
}

// build builds the sessevents of this tree, for the first test that needs it.
var build = onceBuilt("./cmd/sessevents")

// onceBuilt builds a program into the folder of programs when it is called first.
func onceBuilt(pkg string) func() error {
	return sync.OnceValue(func() error {
		cmd := exec.Command("go", "build", "-o", programs+string(filepath.Separator), pkg)
		cmd.Dir = filepath.Join("..", "..")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
		return nil
	})
}
