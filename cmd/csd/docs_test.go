package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/cmd/internal/script"
)

// TestDocsShowWhatTheProgramPrints runs the commands of docs/csd.md with the stand-ins of the clients.
func TestDocsShowWhatTheProgramPrints(t *testing.T) {
	p := newPlace(t)
	home := filepath.Join(p.dir, "home")
	p.sh("rm home/.claude/.claude-session-driver-consent; mkdir -p home/src/app")
	code := 0
	script.CheckPage(t, "../../docs/csd.md", 35, func(command string) string {
		// $? is the last command's, as in one shell.
		cmd := exec.Command("sh", "-c", fmt.Sprintf("(exit %d); %s", code, strings.ReplaceAll(command, "/tmp/csd-workers", p.run+"/workers")))
		cmd.Dir, cmd.Env = home, p.environ
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if code = 0; errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return p.normal(string(out))
	})
}
