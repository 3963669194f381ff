package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sessevents/sessevents/internal/proc"
)

var errSkipped = errors.New("too much to read in a hook")

// shells start hooks and tools for a client, and are not the client.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "busybox", "env", "timeout"}

// nested reports whether the codex that called this hook runs within another one: one that an agent starts in its shell
// has the worker's CODEX_HOME, and so our hooks. Where the process table does not tell programs, as on macOS, it is
// false. It is asked for codex alone: the others are given our hooks by their arguments, which nobody inherits.
func nested() bool {
	client := ""
	for pid, depth := os.Getppid(), 0; pid > 1 && depth < 64; depth++ {
		exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if err != nil {
			return false
		}
		switch {
		case client == "" && shell(exe):
		case client == "":
			client = exe
		case client == exe:
			return true
		}
		if pid, err = proc.Parent(pid); err != nil {
			return false
		}
	}
	return false
}

func shell(exe string) bool {
	name := filepath.Base(exe)
	for _, s := range shells {
		if name == s || strings.HasPrefix(name, s+".") {
			return true
		}
	}
	return false
}
