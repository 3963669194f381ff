package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/engine/rundir"
)

// TestSE4_1_HelpHoldsEverythingItHasTo compares the help with the grammar, the exit codes and the runtime directories
// themselves, so that what is added there is missed here.
func TestSE4_1_HelpHoldsEverythingItHasTo(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "s.yaml")
	text := "version: 1\nname: my-source\ninterval: 7s\nidleInterval: 3m\nusage: [\"targets: a path\", \"--than BYTES\"]\n"
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	help := func(args ...string) string {
		var out, errs bytes.Buffer
		code := run(context.Background(), append([]string{"sessevents"}, args...), client.World{Out: &out, Err: &errs, Getenv: func(string) string { return "" }})
		if code != client.ExitOK || errs.Len() > 0 {
			t.Fatalf("%q: exit %d, %s", args, code, &errs)
		}
		return out.String()
	}
	page := help("--spec", spec, "--help")
	has := func(what, want string) {
		if !strings.Contains(page, want) {
			t.Errorf("%s: no %q", what, want)
		}
	}

	var g grammar
	model := kong.Must(&g, vars()).Model
	for _, n := range model.Leaves(true) {
		has("command", "\n  "+n.Name)
		for _, f := range n.Flags {
			has("flag of "+n.Name, "[--"+f.Name)
		}
		if page := help("--spec", spec, n.Name, "--help"); !strings.Contains(page, strings.Fields(n.Help)[0]+" "+strings.Fields(n.Help)[1]) {
			t.Errorf("%s --help does not tell what it is for:\n%s", n.Name, page)
		}
	}
	has("interval", "--interval is 7s by default, 1 to 86400 seconds")
	has("idle interval", "up to 180s")
	has("usage", "\ntargets: a path\n--than BYTES\n")
	for _, file := range []string{"<pid>-<start>.my-source.{state.json,events.jsonl,log}", "<pid>.my-source.sock", "<id>.my-source.*"} {
		has("files", file)
	}
	last := 0
	for _, dir := range rundir.Candidates() {
		at := strings.Index(page, dir)
		if at < last {
			t.Errorf("runtime directories: %s is missing or not in its order", dir)
		}
		last = at
	}
	for _, printed := range []string{`<cross-session-message from="uds:<socket>" from-name="my-source" from-mode="<mode>">`, "automated notice from my-source; no reply needed", "cursor: <id>"} {
		has("what is printed", printed)
	}
	for _, code := range []int{client.ExitOK, client.ExitFailed, client.ExitUsage, client.ExitNoDaemon, client.ExitTimeout, client.ExitInterrupted} {
		if !strings.Contains(page, fmt.Sprintf("\n  %d ", code)) && !strings.Contains(page, fmt.Sprintf("\nexits: %d ", code)) {
			t.Errorf("exit code %d is not told", code)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}
