// Command csd-hook is the hook of csd in a program of its own. An agent waits for a hook at each of its tool calls, and
// csd, with its whole command line, takes longer to start than the hook takes to run.
package main

import (
	"fmt"
	"os"

	"github.com/sessevents/sessevents/cmd/internal/build"
	"github.com/sessevents/sessevents/csd/hook"
)

func main() {
	switch words := os.Args[1:]; {
	case len(words) > 0 && words[0] == hook.Word:
		hook.Main(words[1:])
	case len(words) == 1 && words[0] == "--version":
		fmt.Println(build.Version())
	default:
		fmt.Fprintln(os.Stderr, "error: csd-hook is for the hooks of workers, which csd sets up\nhint: csd help")
		os.Exit(1) // never 2: to some clients it says that they must not go on
	}
}
