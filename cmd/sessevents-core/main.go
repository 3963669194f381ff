// Command sessevents-core is all of sessevents; sessevents itself is the part that asks a daemon, and calls this one for
// the rest.
package main

import (
	"os"

	"github.com/sessevents/sessevents/cmd/internal/client"
)

func main() { os.Exit(run(client.Interruptible(), os.Args, client.Real())) }
