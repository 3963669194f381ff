// Command csd is the hook of csd alone, as the tests start it.
package main

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/sessevents/sessevents/csd/hook"
)

func main() {
	signal.Ignore(hook.Ignored...)
	if os.Args[1] == hook.Word {
		hook.Run(context.Background(), os.Args[2:], os.Stdin, os.Getenv, time.Now)
	}
}
