// Command sessevents-core is all of sessevents; sessevents itself is the part that asks a daemon, and calls this one for
// the rest.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/sessevents/sessevents/cmd/internal/client"
)

func main() {
	log.SetOutput(io.Discard) // nobody here uses it but net/http, which quotes there what a server sends unasked
	ctx := context.Background()
	if plainLint(os.Args[1:]) == nil {
		ctx = client.Interruptible()
	}
	os.Exit(run(ctx, os.Args, client.Real()))
}
