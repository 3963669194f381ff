// Command sessevents-core is all of sessevents; sessevents itself is the part that asks a daemon, and calls this one for
// the rest.
package main

import (
	"context"
	"os"

	"github.com/sessevents/sessevents/cmd/internal/client"
)

func main() {
	ctx := context.Background()
	if plainLint(os.Args[1:]) == nil {
		ctx = client.Interruptible()
	}
	os.Exit(run(ctx, os.Args, client.Real()))
}
