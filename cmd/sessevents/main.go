// Command sessevents polls what a coding agent's session waits for, and tells it in one message what happened.
package main

import (
	"os"

	"github.com/sessevents/sessevents/cmd/internal/front"
)

func main() { os.Exit(front.Main()) }
