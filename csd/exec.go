package csd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/sessevents/sessevents/csd/store"
)

// paneVariables are those that tmux gives a pane; they are true only there.
var paneVariables = []string{"TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"}

// Exec turns this process, which is that of a pane, into the client that a launch file names, and so returns only on
// an error. The detour has reasons: the client is the pane's process and no shell is around it; what it is started with
// stands in no argument list that everybody can read, and tmux's limit on their length does not matter.
func Exec(file string, environ []string) error {
	l, err := store.ReadLaunch(file)
	if err != nil {
		return err
	}
	if len(l.Argv) == 0 {
		return fmt.Errorf("launch file %s names no program", file)
	}
	if l.Dir != "" {
		if err := os.Chdir(l.Dir); err != nil {
			return err
		}
	}
	env := slices.DeleteFunc(slices.Clone(l.Env), func(e string) bool { return slices.Contains(paneVariables, variable(e)) })
	for _, e := range environ {
		if slices.Contains(paneVariables, variable(e)) {
			env = append(env, e)
		}
	}
	if err := syscall.Exec(l.Argv[0], l.Argv, env); err != nil {
		return fmt.Errorf("run %s: %w", l.Argv[0], err)
	}
	return nil
}

func variable(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	return name
}
