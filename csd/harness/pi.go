package harness

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/transcript"
	"github.com/sessevents/sessevents/internal/atomicfile"
	"github.com/sessevents/sessevents/internal/plainfile"
)

// pi is Pi. It gets a private folder with copies of the operator's login and settings, makes its session's id itself,
// and tells of what happens through an extension.
type pi struct{}

//go:embed csd.mjs
var piExtension []byte

func (pi) Kind() transcript.Kind { return transcript.Pi }

func (pi) Queues() Queue { return QueueFolds }

// Prepare writes the private folder.
func (p pi) Prepare(ctx context.Context, w Worker) (Start, error) { return p.start(ctx, w) }

// Resume continues the session file of the worker's folder, or the one that Keep put aside. The client runs in the
// folder that the file names, so that it is made to name the worker's.
func (p pi) Resume(ctx context.Context, w Worker, id string) (Start, error) {
	files, err := fetchKept(w, id, "sessions/*_"+id+".jsonl")
	if err != nil {
		return Start{}, err
	}
	path := files[0]
	if err := rehome(path, w.CWD); err != nil {
		return Start{}, err
	}
	start, err := p.start(ctx, w, "--session", id)
	start.SessionID, start.TranscriptPath = id, path
	return start, err
}

// piOwned are arguments that would take the client out of csd's hands.
var piOwned = map[string]string{
	"--session": "use csd adopt", "--session-dir": "csd gives the worker its folder", "--continue": "use csd adopt",
	"-c": "use csd adopt", "--resume": "use csd adopt", "-r": "use csd adopt", "--fork": "use csd adopt",
	"--no-session": "a worker needs a transcript", "--print": "a worker is interactive", "-p": "a worker is interactive",
	"--mode": "a worker is interactive",
}

func (pi) start(ctx context.Context, w Worker, how ...string) (Start, error) {
	if err := refuse(w.Args, piOwned); err != nil {
		return Start{}, err
	}
	path, err := program(w, "pi", "CSD_PI_BIN")
	if err != nil {
		return Start{}, err
	}
	operator, err := operatorDir(w, piLogin, "PI_CODING_AGENT_DIR", ".pi", "agent")
	if err != nil {
		return Start{}, err
	}
	sessions := filepath.Join(w.Home, "sessions")
	if err := os.MkdirAll(sessions, 0o700); err != nil {
		return Start{}, fmt.Errorf("make the folder of worker %s: %w", w.Name, err)
	}
	if err := piLogin.copy(ctx, w.Home, filepath.Join(operator, "auth.json")); err != nil {
		return Start{}, err
	}
	for _, name := range []string{"models.json", "settings.json"} {
		if err := copyFile(filepath.Join(operator, name), filepath.Join(w.Home, name)); err != nil {
			return Start{}, err
		}
	}
	// Programs that the client fetched for itself, and the packages that the settings name: without them it would
	// fetch all of it again before its first screen.
	for _, name := range []string{"bin", "git", "npm"} {
		if err := linkFolder(filepath.Join(operator, name), filepath.Join(w.Home, name)); err != nil {
			return Start{}, err
		}
	}
	extension := filepath.Join(w.Home, "csd.mjs")
	if err := atomicfile.WriteSoft(extension, piExtension); err != nil {
		return Start{}, fmt.Errorf("write the extension of worker %s: %w", w.Name, err)
	}
	argv := append([]string{path, "--session-dir", sessions}, how...)
	if model := w.Getenv("CSD_PI_MODEL"); model != "" {
		argv = append(argv, "--model", model)
	}
	argv = append(append(argv, "-e", extension), w.Args...)
	return Start{
		Launch: store.Launch{Argv: argv, Dir: w.CWD, Env: environment(w, map[string]string{
			"PI_CODING_AGENT_DIR": w.Home, "CSD_EXE": w.HookExe,
		})},
		ConfigDir: w.Home,
	}, nil
}

// rehome makes the first line of a session file name another folder.
func rehome(path, cwd string) error {
	in, _, err := plainfile.Open(path, 0)
	if err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, mostRegistry)
	first, err := r.ReadSlice('\n')
	var head map[string]any
	if err != nil || json.Unmarshal(first, &head) != nil || head["type"] != "session" {
		return fmt.Errorf("read the session %s: its first line is not that of a session", path)
	}
	if head["cwd"] == cwd {
		return nil
	}
	head["cwd"] = cwd
	if first, err = json.Marshal(head); err != nil {
		return err
	}
	return writeWhole(path, io.MultiReader(bytes.NewReader(append(first, '\n')), r))
}

// piGauge is the part of the last line that shows how full the memory is, of a model that is there: without one it is 0.
var piGauge = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\?|[0-9.]+%)/[1-9][0-9.]*[kM]?`) })

// Ready waits for the extension's word and for the screen: Enter is lost before that is painted.
func (pi) Ready(ctx context.Context, _ Worker, s Screen) error {
	return starting{
		person: []person{
			{text: "No models available", what: "login", hint: "run pi once in a terminal and log in, or name a model in models.json"},
			{text: "cwd from session file does not exist", what: "dialog", hint: "make that folder again"},
		},
		asks:   func(screen string) bool { return !piReady(screen) },
		silent: "it did not call csd: csd itself may have been moved, or the extension was switched off",
		menu:   func(screen string) bool { return strings.Contains(screen, "[y/N]") },
		ready: func(ctx context.Context, screen string) (bool, error) {
			if !piReady(screen) {
				return false, nil
			}
			return s.Started(ctx)
		},
		hint: func(screen string) string {
			if strings.Contains(screen, "--list-models") {
				return "look at the model in CSD_PI_MODEL"
			}
			return ""
		},
	}.wait(ctx, s)
}

// piReady reports whether the screen has the input box, and the gauge below it.
func piReady(screen string) bool {
	lines := visible(screen)
	_, ok := piComposer(screen)
	return ok && piGauge().MatchString(strings.Join(lines[max(0, len(lines)-4):], "\n"))
}

// piText stands before a prompt that the client would take for a command; the extension takes it off.
const piText = "csd:text:"

// Text marks commands for the extension. White space at the ends is trimmed by the client.
func (pi) Text(prompt string) (string, error) {
	text := strings.TrimSpace(prompt)
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") || strings.HasPrefix(text, piText) {
		text = piText + text
	}
	if strings.HasSuffix(text, `\`) {
		text += " " // Enter behind a backslash is a new line
	}
	return text, nil
}

// piComposer is what stands between the two lowest rules; the client has no mark before its input.
func piComposer(screen string) (text string, ok bool) {
	lines := visible(screen)
	top, bottom := piBox(lines)
	if top < 0 {
		return "", false
	}
	return strings.TrimSpace(strings.Join(lines[top+1:bottom], "\n")), true
}

// piBox are the two lowest rules of a screen; top is less than 0 where there are not two.
func piBox(lines []string) (top, bottom int) {
	top, bottom = -1, -1
	for i := len(lines) - 1; i >= 0 && top < 0; i-- {
		switch {
		case !strings.HasPrefix(lines[i], rule):
		case bottom < 0:
			bottom = i
		default:
			top = i
		}
	}
	return top, bottom
}

// InComposer knows a long paste by the mark that the client shows for it.
func (pi) InComposer(screen, prompt string) bool {
	text, ok := piComposer(screen)
	return ok && (strings.Contains(text, "[paste #") || holds(strings.TrimPrefix(text, piText), prompt))
}

// Live reads what the extension wrote down.
func (pi) Live(_ context.Context, pid int, m store.Meta) (Live, bool) {
	var said struct {
		State     string `json:"state"`
		PID       int    `json:"pid"`
		SessionID string `json:"session_id"`
		Since     int64  `json:"since"`
	}
	b, err := readSmall(filepath.Join(m.ConfigDir, "csd-state.json"), mostRegistry)
	if err != nil || json.Unmarshal(b, &said) != nil || said.PID != pid || m.ConfigDir == "" {
		return Live{}, false
	}
	live := Live{SessionID: said.SessionID, Since: time.UnixMilli(said.Since)}
	switch said.State {
	case "idle":
		live.State = Idle
	case "working":
		live.State = Busy
	case "retrying":
		live.State = Retrying
	default:
		return Live{}, false
	}
	return live, true
}

// Quit breaks off the turn, so that its commands end, clears the input box, and gives the command.
func (p pi) Quit(ctx context.Context, s Screen) error {
	for range 3 {
		if err := s.Keys(ctx, "Escape"); err != nil {
			return endedOr(ctx, s, err)
		}
		// A key that comes right behind would make one key of both. And what was queued for the turn comes back into the
		// box in a moment.
		if err := pause(ctx, shows/8); err != nil {
			return err
		}
		idle, err := until(ctx, again, func() (bool, error) {
			screen, err := s.Capture(ctx)
			return !piWorks(screen), err
		})
		if err != nil {
			return endedOr(ctx, s, err)
		}
		if idle {
			break
		}
	}
	shown := func(screen string) bool { text, _ := piComposer(screen); return text == "/quit" }
	if err := write(ctx, p, s, "/quit", shown); err != nil {
		return err
	}
	return leave(ctx, s, shown, &answering{})
}

// piWorks reports whether the wheel turns above the input box: a turn runs, or waits to be tried again.
func piWorks(screen string) bool {
	lines := visible(screen)
	top, _ := piBox(lines)
	for _, line := range lines[max(0, top-6):max(0, top)] { // what is queued stands in between
		if r, _ := utf8.DecodeRuneInString(strings.TrimSpace(line)); r >= '\u2800' && r <= '\u28ff' {
			return true
		}
	}
	return false
}

// Keep puts the session's file aside.
func (pi) Keep(_ context.Context, w Worker, m store.Meta) error {
	return keep(w, m.SessionID, "sessions/*_"+m.SessionID+".jsonl")
}

// piLogin has the tokens of several providers.
var piLogin = login{file: "auth.json", renewed: piRenewed}

// Return copies a renewed login back.
func (pi) Return(ctx context.Context, w Worker) error { return piLogin.giveBack(ctx, w.Home) }

// piRenewed is the time to which the longest lasting token of a login lasts.
func piRenewed(content []byte) time.Time {
	var providers map[string]struct {
		Expires float64 `json:"expires"` // milliseconds
	}
	if json.Unmarshal(content, &providers) != nil {
		return time.Time{}
	}
	var last time.Time
	for _, p := range providers {
		if t := time.UnixMilli(int64(p.Expires)); p.Expires > 0 && t.After(last) {
			last = t
		}
	}
	return last
}
