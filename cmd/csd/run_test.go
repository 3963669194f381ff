package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
)

// TestRun_ASignalEndsAWait: as main has it, a signal is the end of the context. For --follow that is how it ends.
func TestRun_ASignalEndsAWait(t *testing.T) {
	p := newPlace(t)
	p.sh("csd launch w app")
	getenv := func(name string) string {
		for _, pair := range p.environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
	for words, want := range map[string]int{
		"wait-for-turn": exitInterrupted, "converse HANG": exitInterrupted, "send hello": exitInterrupted, "read-events --follow": exitOK,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, errs bytes.Buffer
		w := world{in: strings.NewReader(""), out: &out, err: &errs, getenv: getenv, environ: p.environ, exe: func() (string, error) { return exec.LookPath("csd") }}
		if code := run(ctx, append([]string{"csd", "--worker", "w"}, strings.Fields(words)...), w); code != want || errs.Len() > 0 {
			t.Errorf("%s: exit %d, want %d; %s", words, code, want, &errs)
		}
	}
}
