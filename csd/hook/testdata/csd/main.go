// Command csd is the hook of csd alone, as the tests start it, and a client that runs a line in a shell.
package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"github.com/sessevents/sessevents/csd/hook"
)

func main() {
	switch os.Args[1] {
	case hook.Word:
		signal.Ignore(hook.Ignored...)
		hook.Run(context.Background(), os.Args[2:], os.Stdin, os.Getenv, time.Now)
	case "client":
		cmd := exec.Command("sh", "-c", os.Args[2]+"; true")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			os.Exit(1)
		}
	}
}
