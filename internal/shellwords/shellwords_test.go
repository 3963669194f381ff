package shellwords_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/shellwords"
)

// read is what a real shell makes of a line: its words.
func read(t *testing.T, shell, line string) []string {
	t.Helper()
	out, err := exec.Command(shell, "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatalf("%s reads %q: %v", shell, line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

var hard = []string{
	"", "plain-1_2./:@%+,", "two words", "it's", "''", `\`, `a\'b`, "~", "~/x", "=ls", "a=b", "$(id)", "`id`", "$HOME", "*", "?[a]", "a\nb", "\t",
	"!!", "#x", "-n", "{a,b}", "<(x)", "a;b", "&", "|", "ü", "\xff\xfe", "a=~/b", "é=1",
}

func TestQuote(t *testing.T) {
	shells := []string{"sh"}
	for _, other := range []string{"bash", "zsh"} {
		if _, err := exec.LookPath(other); err == nil {
			shells = append(shells, other)
		}
	}
	for _, shell := range shells {
		if got := read(t, shell, shellwords.Join(hard)); !slices.Equal(got, hard) {
			t.Errorf("%s: %q", shell, got)
		}
	}
	for _, bare := range []string{"plain-1_2./:@%+,", "a=b", "-n"} {
		if got := shellwords.Quote(bare); got != bare {
			t.Errorf("%s became %s", bare, got)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range hard {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "\x00") {
			return // no argument can
		}
		if got := read(t, "sh", shellwords.Quote(s)); len(got) != 1 || got[0] != s {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}
