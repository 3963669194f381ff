package realclient

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
var build = onceBuilt("./cmd/sessevents", "./cmd/sessevents-core")

// onceBuilt builds programs into the folder of programs when it is called first.
func onceBuilt(pkgs ...string) func() error {
	return sync.OnceValue(func() error {
		cmd := exec.Command("go", append([]string{"build", "-o", programs + string(filepath.Separator)}, pkgs...)...)
		cmd.Dir = filepath.Join("..", "..")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", strings.Join(pkgs, " and "), err, out)
		}
		return nil
	})
}
