package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/transcript"
	"github.com/sessevents/sessevents/internal/atomicfile"
)

// codex is Codex. It gets a private folder with a configuration of csd's and a copy of the operator's login, and makes
// its session's id itself; its hooks say that only with the first prompt.
type codex struct{}

func (codex) Kind() transcript.Kind { return transcript.Codex }

func (codex) Queues() Queue { return QueueNext }

// Prepare writes the private folder.
func (c codex) Prepare(ctx context.Context, w Worker) (Start, error) { return c.start(ctx, w) }

// Resume continues the session in the worker's folder, or the one that Keep put aside.
func (c codex) Resume(ctx context.Context, w Worker, id string) (Start, error) {
	files, err := fetchKept(w, id, codexRollout(id))
	if err != nil {
		return Start{}, err
	}
	start, err := c.start(ctx, w, "resume", id)
	start.SessionID, start.TranscriptPath = id, files[len(files)-1]
	return start, err
}

// codexRollout is where a session's transcript is, below the client's folder.
func codexRollout(id string) string { return "sessions/*/*/*/rollout-*-" + id + ".jsonl" }

// codexOwned are arguments that would take the client out of csd's hands.
var codexOwned = map[string]string{
	"-C": "csd gives the worker its folder", "--cd": "csd gives the worker its folder",
	"--remote": "its hooks would not run", "resume": "use csd adopt", "exec": "a worker is interactive",
}

func (codex) start(ctx context.Context, w Worker, how ...string) (Start, error) {
	if err := refuse(w.Args, codexOwned); err != nil {
		return Start{}, err
	}
	path, err := program(w, "codex", "CSD_CODEX_BIN")
	if err != nil {
		return Start{}, err
	}
	operator, err := operatorDir(w, codexLogin, "CODEX_HOME", ".codex")
	if err != nil {
		return Start{}, err
	}
	if err := os.MkdirAll(w.Home, 0o700); err != nil {
		return Start{}, fmt.Errorf("make the folder of worker %s: %w", w.Name, err)
	}
	if err := codexLogin.copy(ctx, w.Home, filepath.Join(operator, "auth.json")); err != nil {
		return Start{}, err
	}
	// The client writes into this file too. It is made anew for each start.
	if err := atomicfile.WriteSoft(filepath.Join(w.Home, "config.toml"), codexConfig(w)); err != nil {
		return Start{}, fmt.Errorf("write the configuration of worker %s: %w", w.Name, err)
	}
	path, more := codexBinary(path)
	more["CODEX_HOME"] = w.Home
	argv := append([]string{path}, how...)
	argv = append(argv, "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
		"--no-daemon", // a server that would outlive the worker, and be shared with others
		"-C", w.CWD)
	return Start{
		Launch:    store.Launch{Argv: append(argv, w.Args...), Dir: w.CWD, Env: environment(w, more)},
		ConfigDir: w.Home,
	}, nil
}

var codexDialogs = []dialog{
	{text: "Trust this folder?", want: "Trust and continue"},
	{text: "Hooks need review", want: "Trust all and continue"},
	{text: "Try new model", want: "Use existing model"},
}

var codexPersons = []person{
	{text: "Sign in with ChatGPT", what: "login", hint: "run codex once in a terminal and log in"},
}

// Ready waits for the line under the input box: the box itself is painted before the client's first questions.
func (codex) Ready(ctx context.Context, _ Worker, s Screen) error {
	return starting{
		dialogs: codexDialogs,
		person:  codexPersons,
		asks:    func(screen string) bool { _, ok := codexComposer(screen); return !ok },
		menu:    func(screen string) bool { return strings.Contains(screen, "› 1. ") },
		ready: func(_ context.Context, screen string) (bool, error) {
			_, ok := codexComposer(screen)
			return ok, nil
		},
	}.wait(ctx, s)
}

// codexLongest is how many characters the client takes.
const codexLongest = 1 << 20

// Text puts a space before what the client would take for a command, and one behind everything: at the end of a word
// with @ or $ it offers names, and Enter takes the first of them. It trims the ends of a prompt.
func (codex) Text(prompt string) (string, error) {
	text := strings.TrimSpace(prompt)
	if n := utf8.RuneCountInString(text) + 2; n > codexLongest {
		return "", fmt.Errorf("the prompt has %d characters, and Codex takes at most %d: write it to a file", n-2, codexLongest-2)
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") {
		text = " " + text
	}
	return text + " ", nil
}

// codexStatus is the line under the input box: a model, and the folder. Like the other patterns here it is compiled when
// it is first needed: a hook has no time for it.
var codexStatus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {1,4}\S.* · (/|~)`) })

// codexPlaceholders stand, in grey, where nothing was typed.
var codexPlaceholders = []string{"Ask Codex to do anything", "Ask a follow-up question"}

// codexComposer is what stands in the input box: from the last mark at the edge of the screen, where earlier prompts
// have theirs too, to the status line. ok is false where that is missing, as while a dialog is open.
func codexComposer(screen string) (text string, ok bool) {
	lines := visible(screen)
	mark := -1
	for i, line := range lines {
		if strings.HasPrefix(line, "›") {
			mark = i
		}
	}
	if mark < 0 {
		return "", false
	}
	for i := mark + 1; i < len(lines); i++ {
		if codexStatus().MatchString(lines[i]) {
			text = strings.TrimSpace(strings.TrimPrefix(strings.Join(lines[mark:i], "\n"), "›"))
			if slices.Contains(codexPlaceholders, text) {
				text = ""
			}
			return text, true
		}
	}
	return "", false
}

// InComposer knows a long paste by the mark that the client shows for it.
func (codex) InComposer(screen, prompt string) bool {
	text, ok := codexComposer(screen)
	return ok && (strings.Contains(text, "[Pasted Content ") || holds(text, prompt))
}

// Live: the client says nothing but by its hooks and its transcript.
func (codex) Live(context.Context, int, store.Meta) (live Live, ok bool) { return live, false }

// Quit clears the input box, and gives the command, which works in a turn too. Where there is no box, as at a question,
// Ctrl-C ends the client or closes what is in the way.
func (c codex) Quit(ctx context.Context, s Screen) error {
	for range 4 {
		gone, err := ended(ctx, s)
		if gone || err != nil {
			return err
		}
		screen, err := s.Capture(ctx)
		if err != nil {
			return endedOr(ctx, s, err)
		}
		if _, ok := codexComposer(screen); ok {
			break
		}
		if err := s.Keys(ctx, "C-c"); err != nil {
			return endedOr(ctx, s, err)
		}
		if err := pause(ctx, between); err != nil {
			return err
		}
	}
	shown := func(screen string) bool { return codexTyped(screen, "/quit") }
	if err := write(ctx, c, s, "/quit", shown); err != nil {
		return err
	}
	return leave(ctx, s, shown, &answering{})
}

// codexTyped reports whether a command stands in the input box, also while a list of commands hides the status line.
func codexTyped(screen, command string) bool {
	lines := visible(screen)
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "›") {
			return strings.TrimSpace(strings.TrimPrefix(lines[i], "›")) == command
		}
	}
	return false
}

// Keep puts the transcript aside: the client needs no more to go on.
func (codex) Keep(_ context.Context, w Worker, m store.Meta) error {
	return keep(w, m.SessionID, codexRollout(m.SessionID))
}

var codexLogin = login{file: "auth.json", renewed: codexRenewed}

// Return copies a renewed login back.
func (codex) Return(ctx context.Context, w Worker) error { return codexLogin.giveBack(ctx, w.Home) }

// codexRenewed is the time at which the client says that it renewed the tokens.
func codexRenewed(content []byte) time.Time {
	var said struct {
		LastRefresh time.Time `json:"last_refresh"`
	}
	if json.Unmarshal(content, &said) != nil {
		return time.Time{}
	}
	return said.LastRefresh
}
