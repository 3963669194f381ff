package main

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// told is what a command that must fail says on stderr.
func (p *place) told(script string) string {
	p.Helper()
	var words strings.Builder
	cmd := p.command("sh", "-c", script)
	cmd.Stderr = &words
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		p.Fatalf("%s: %v", script, err)
	}
	return words.String()
}

var pasteable = regexp.MustCompile(`(?m)^hint: (?:take its session up again|take it up so): (.*)$`)

// TestHints_BringAConversationBack when they are followed to the letter, by a person who has only the shim: of a worker
// whose client died, and of a session that was taken for one of another client.
func TestHints_BringAConversationBack(t *testing.T) {
	for kind, other := range map[string]string{"claude": "codex", "codex": "pi", "pi": "claude"} { // and whose it is taken for
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			const shim = "$CSD_WORKER_DIR/bin/w"
			follow := func(words string) {
				t.Helper()
				hint := pasteable.FindStringSubmatch(words)
				if hint == nil {
					t.Fatalf("nothing to follow in %s", words)
				}
				p.sh("shim=" + shim + "; unset CSD_WORKER_DIR; cd /; " + hint[1] + `; test "$("$shim" converse RECALL)" = "Recalled: my plan"`)
			}
			p.sh("mkdir 'my app'; csd launch --harness " + kind + " w 'my app' -- --model 'some model'; " + shim + " converse 'REMEMBER my plan'")
			id := strings.TrimSpace(p.sh(shim + " session-id"))
			kill := func() {
				p.sh("kill -9 $(tmux list-panes -t =w: -F '#{pane_pid}')")
				p.eventually("test $(" + shim + " status) = gone")
			}
			kill()
			follow(p.told(shim + " send hello"))
			if got := p.sh("tr '\\0' '|' </proc/$(tmux list-panes -t =w: -F '#{pane_pid}')/cmdline || echo '|some model|'"); !strings.Contains(got, "|some model|") {
				t.Errorf("the client was resumed as %q", got)
			}
			kill()
			for _, name := range []string{"w", "v"} {
				words := p.told("csd adopt --harness " + other + " " + name + " 'my app' " + id)
				if !strings.Contains(words, "is one of "+kind) || strings.Contains(words, "prune") {
					t.Error(words)
				}
				follow(words)
				kill()
			}
			// Under another name it is the same session.
			p.sh("csd adopt --harness " + kind + " v 'my app' " + id + `; test "$(csd --worker v converse RECALL)" = "Recalled: my plan"`)
		})
	}
}
