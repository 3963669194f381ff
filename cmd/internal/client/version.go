package client

import (
	"fmt"
	"os"

	"github.com/sessevents/sessevents/cmd/internal/build"
)

// Install is the command that installs both programs of one version.
const Install = "go install github.com/sessevents/sessevents/cmd/...@latest"

// CalledBy is the environment variable by which sessevents tells sessevents-core its own version.
const CalledBy = "SESSEVENTS_CALLED_BY"

// CheckCaller refuses to go on for a sessevents of another version: the two share one command line. Called by the user
// or anybody else, a program is whole by itself. What the caller said reaches no process that is started from here.
func CheckCaller() error {
	caller, called := os.LookupEnv(CalledBy)
	if !called {
		return nil
	}
	_ = os.Unsetenv(CalledBy)                                        // it has a valid name
	_ = os.WriteFile("/proc/self/comm", []byte("sessevents"), 0o600) // what ps and pgrep find; where there is no /proc, the words have to do
	if own := build.Version(); caller != own {
		self, _ := os.Executable() // for the words only
		return &Problem{ExitFailed, fmt.Sprintf("sessevents is %s, and %s is %s", caller, self, own), "both of one version: " + Install}
	}
	return nil
}
