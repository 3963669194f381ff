package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestWhatIsNotLinked: each of these costs every hook something before main begins.
func TestWhatIsNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 50 {
		t.Fatalf("only %d packages are listed", len(linked))
	}
	for _, p := range linked {
		for _, left := range []string{"net", "regexp", "os/exec", "crypto/tls", "text/template", "github.com/alecthomas/kong", "github.com/fsnotify/fsnotify"} {
			if p == left {
				t.Errorf("%s is linked", p)
			}
		}
	}
}
