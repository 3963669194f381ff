package realclient

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestATerminalEndsWithAKilledTest runs this test again in another process, which kills itself with its terminal open.
func TestATerminalEndsWithAKilledTest(t *testing.T) {
	if os.Getenv("REALCLIENT_DIES") == "1" {
		h := NewHome(t)
		term := NewTerminal(t, &Network{}, h, h.Env(nil), "sleep", "600")
		os.Stdout.WriteString("terminal " + strconv.Itoa(term.PID) + " " + h.Dir + "\n")
		_ = os.RemoveAll(programs) // nobody else will
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		_ = self.Kill()
		select {}
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "REALCLIENT_DIES=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var words []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if w := strings.Fields(lines.Text()); len(w) == 3 && w[0] == "terminal" {
			words = w
			break
		}
	}
	_ = cmd.Wait() // it was killed
	if words == nil {
		t.Fatal("the other process had no terminal")
	}
	t.Cleanup(func() { _ = os.RemoveAll(words[2]) })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := eventually(ctx, "the end of the terminal's program", func() (bool, error) {
		_, err := os.Stat(filepath.Join("/proc", words[1]))
		return os.IsNotExist(err), nil
	}); err != nil {
		t.Error(err)
	}
}
