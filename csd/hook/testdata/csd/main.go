// Command csd is the hook of csd alone, as the tests start it, and a client that runs a line in a shell.
package main

import (
	"os"
	"os/exec"

	"github.com/sessevents/sessevents/csd/hook"
)

func main() {
	switch os.Args[1] {
	case hook.Word:
		hook.Main(os.Args[2:])
	case "client":
		cmd := exec.Command("sh", "-c", os.Args[2]+"; true")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			os.Exit(1)
		}
	}
}
