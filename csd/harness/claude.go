package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/csd/store"
	"github.com/sessevents/sessevents/csd/transcript"
	"github.com/sessevents/sessevents/internal/proc"
	"github.com/sessevents/sessevents/internal/rawfile"
)

// claude is Claude Code. It uses the operator's own folder, takes its session's id from csd, and is told of its hooks
// by an argument.
type claude struct{}

func (claude) Kind() transcript.Kind { return transcript.Claude }

func (claude) Queues() Queue { return QueueFolds }

// Prepare needs the session's id.
func (c claude) Prepare(ctx context.Context, w Worker) (Start, error) {
	return c.start(w, w.SessionID, "--session-id", w.SessionID)
}

// Resume fails where the transcript is missing, or where a client that lives writes to it: two would mix their turns.
func (c claude) Resume(ctx context.Context, w Worker, id string) (Start, error) {
	config, err := claudeConfig(w.Getenv)
	if err != nil {
		return Start{}, err
	}
	path, err := transcript.FindClaude(config, w.CWD, id)
	if err != nil {
		return Start{}, err
	}
	if pid, ok := claudeHolder(config, id); ok {
		return Start{}, &HeldError{Session: id, PID: pid}
	}
	start, err := c.start(w, id, "--resume", id)
	start.TranscriptPath = path
	return start, err
}

func (claude) start(w Worker, id string, how ...string) (Start, error) {
	path, err := program(w, "claude", "CSD_CLAUDE_BIN")
	if err != nil {
		return Start{}, err
	}
	config, err := claudeConfig(w.Getenv)
	if err != nil {
		return Start{}, err
	}
	settings, args, err := claudeSettings(w)
	if err != nil {
		return Start{}, err
	}
	argv := append([]string{path}, how...)
	argv = append(argv, "--settings", settings,
		"--disallowed-tools", "AskUserQuestion", // it would wait for a person without end
		"--dangerously-skip-permissions") // behind the list of tools: it ends it
	return Start{
		Launch: store.Launch{
			Argv: append(argv, args...),
			// The client's own switch that a folder need not be trusted first: to trust it, a file would have to be
			// changed that other clients are writing. Its only effects are those of a trusted folder.
			Env: environment(w, map[string]string{"CLAUDE_CODE_SANDBOXED": "1"}),
			Dir: w.CWD,
		},
		SessionID: id,
		ConfigDir: config,
		// The hooks say it again, with what the client makes of the path.
		TranscriptPath: filepath.Join(config, "projects", transcript.ClaudeProject(w.CWD), id+".jsonl"),
	}, nil
}

// claudeConfig is the client's own folder.
func claudeConfig(getenv func(string) string) (string, error) {
	return homeDir(getenv, "CLAUDE_CONFIG_DIR", ".claude")
}

var claudeDialogs = []dialog{
	{text: "Accessing workspace:", want: "Yes, I trust this folder"},
	{text: "Detected a custom API key in your environment", want: "Yes"},
	{text: "Claude Code running in Bypass Permissions mode", want: "Yes, I accept"},
	{text: "Resume from summary", want: "Resume full session as-is"}, // asked about a long session
}

// claudePersons are questions whose answers the client keeps for ever, in the operator's own settings.
var claudePersons = []person{
	{text: "Select login method", what: "login", hint: "run claude once in a terminal and log in"},
	{text: "Choose the text style that looks best", what: "first run", hint: "run claude once in a terminal and answer its first questions"},
	{
		text: "New MCP server found in this project", what: "MCP server of the project",
		hint: "run claude once in that folder and answer; or launch with -- --strict-mcp-config to do without",
	},
	{
		text: "new MCP servers found in this project", what: "MCP servers of the project",
		hint: "run claude once in that folder and answer; or launch with -- --strict-mcp-config to do without",
	},
	{text: "Allow external CLAUDE.md file imports?", what: "imports of CLAUDE.md", hint: "run claude once in that folder and answer"},
}

// Ready waits for the hook that says that the session has begun. Input that comes before it is lost.
func (claude) Ready(ctx context.Context, w Worker, s Screen) error {
	return starting{
		dialogs: claudeDialogs,
		person:  claudePersons,
		asks:    func(screen string) bool { _, ok := claudeComposer(screen); return !ok },
		silent:  "it calls no hook: look for disableAllHooks in its settings",
		menu: func(screen string) bool {
			return strings.Contains(screen, "Enter to confirm") || strings.Contains(screen, "❯ 1.")
		},
		ready: func(ctx context.Context, screen string) (bool, error) {
			if _, ok := claudeComposer(screen); !ok {
				return false, nil
			}
			return s.Started(ctx)
		},
		hint: func(screen string) string {
			switch {
			case strings.Contains(screen, "cannot be used with root"):
				return "Claude Code does not skip permissions for root; set IS_SANDBOX=1 if this machine is a sandbox"
			case strings.Contains(screen, "is already in use"):
				return "adopt the session instead"
			}
			return ""
		},
	}.wait(ctx, s)
}

// claudeExits are words that end the client when they are all that stands in its input box.
var claudeExits = []string{"exit", "quit", ":q", ":q!", ":wq", ":wq!"}

// Text pads what the client would take for a command. Four lines and more are sent as a pasted block, which is never
// one; hooks and transcript have the block without its marks. Its ends are trimmed.
func (claude) Text(prompt string) (string, error) {
	text := strings.TrimSpace(prompt)
	first, _, _ := strings.Cut(text, "\n")
	word, _, _ := strings.Cut(strings.TrimSpace(first), " ")
	switch {
	case slices.Contains(claudeExits, strings.ToLower(text)), strings.HasPrefix(word, "/") && !strings.Contains(word[1:], "/"):
		return prompt + "\n\n\n\n", nil
	case strings.HasPrefix(text, "!"):
		return " " + prompt, nil
	case strings.HasSuffix(text, `\`):
		return prompt + " ", nil // Enter behind a backslash is a new line
	}
	return prompt, nil
}

// claudeRegistry is what the client keeps about itself in sessions/PID.json. It is nowhere described, so that nothing
// rests on it alone.
type claudeRegistry struct {
	PID       int    `json:"pid"`
	SessionID string `json:"sessionId"`
	Token     string `json:"procStart"`
	Status    string `json:"status"`
	WaitsFor  string `json:"waitingFor"`
	Updated   int64  `json:"statusUpdatedAt"`
}

// mostRegistry bounds what is read of such a file.
const mostRegistry = 64 << 10

func readClaudeRegistry(path string) (claudeRegistry, error) {
	var r claudeRegistry
	b, err := rawfile.Read(path, mostRegistry)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && !claudeRuns(r) {
		err = proc.ErrGone
	}
	return r, err
}

// claudeRuns reports whether the process that wrote a registry is still there. The file stays when it is killed.
func claudeRuns(r claudeRegistry) bool {
	if runtime.GOOS == "linux" && r.Token != "" { // elsewhere the client's token has another form than ours
		return proc.Same(r.PID, r.Token)
	}
	_, err := proc.StartToken(r.PID)
	return !errors.Is(err, proc.ErrGone)
}

// claudeHolder is the process of a live client that has this session.
func claudeHolder(config, id string) (pid int, ok bool) {
	files, err := os.ReadDir(filepath.Join(config, "sessions"))
	if err != nil {
		return 0, false // no client ever ran
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		r, err := readClaudeRegistry(filepath.Join(config, "sessions", f.Name()))
		if err == nil && r.SessionID == id {
			return r.PID, true
		}
	}
	return 0, false
}

// Live reads the client's registry.
func (claude) Live(_ context.Context, pid int, m store.Meta) (Live, bool) {
	r, err := readClaudeRegistry(filepath.Join(m.ConfigDir, "sessions", fmt.Sprintf("%d.json", pid)))
	if err != nil || r.PID != pid || m.ConfigDir == "" {
		return Live{}, false
	}
	live := Live{SessionID: r.SessionID, Since: time.UnixMilli(r.Updated)}
	switch r.Status {
	case "idle":
		live.State = Idle
	case "busy":
		live.State = Busy
	case "shell":
		live.State = Shell
	case "waiting":
		live.State, live.WaitingFor = Waiting, waitingWord(r.WaitsFor)
	default:
		return Live{}, false
	}
	return live, true
}

// waitingWord is csd's word for what a client says that it waits for.
func waitingWord(text string) string {
	text = strings.ToLower(text)
	for _, word := range []string{"permission", "question", "trust", "login"} {
		if strings.Contains(text, word) {
			return word
		}
	}
	return "dialog"
}

// Keep has nothing to do: the transcript is in the operator's folder.
func (claude) Keep(context.Context, Worker, store.Meta) error { return nil }

// Return has nothing to do: there is no copy of the login.
func (claude) Return(context.Context, Worker) error { return nil }
