package harness

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/sessevents/sessevents/internal/plainfile"
)

// claudeHooks are the events that csd is told of.
var claudeHooks = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "StopFailure", "SessionEnd",
}

// hookSeconds is how long a client waits for a hook. Ours ends in milliseconds, and never later than five seconds.
const hookSeconds = 10

// claudeOwned are arguments that would take the client out of csd's hands.
var claudeOwned = map[string]string{
	"--session-id": "csd gives the session its id", "--resume": "use csd adopt", "-r": "use csd adopt",
	"--continue": "use csd adopt", "-c": "use csd adopt", "--fork-session": "use csd adopt",
	"--print": "a worker is interactive", "-p": "a worker is interactive",
	"--bare": "it runs no hooks", "--bg": "it leaves the terminal",
}

// claudeSettings makes the value of --settings: csd's hooks, joined to the settings that the user gave in the
// arguments. Of two such arguments the client reads the last alone. args are the user's without theirs.
func claudeSettings(w Worker) (value string, args []string, err error) {
	settings := map[string]any{}
	for i := 0; i < len(w.Args); i++ {
		arg := w.Args[i]
		name, inline, has := strings.Cut(arg, "=")
		if why, ok := claudeOwned[name]; ok {
			return "", nil, &ArgError{Arg: name, Why: why}
		}
		if name != "--settings" {
			args = append(args, arg)
			continue
		}
		if !has {
			if i++; i == len(w.Args) {
				return "", nil, &ArgError{Arg: name, Why: "its value is missing"}
			}
			inline = w.Args[i]
		}
		if settings, err = readClaudeSettings(inline, w.CWD); err != nil {
			return "", nil, err
		}
	}
	hooks, ok := settings["hooks"].(map[string]any)
	if !ok {
		hooks = map[string]any{}
	}
	command := hookCommand(w, "claude")
	for _, event := range claudeHooks {
		list, _ := hooks[event].([]any)
		hooks[event] = append(list, map[string]any{"hooks": []any{
			map[string]any{"type": "command", "command": command, "timeout": hookSeconds},
		}})
	}
	settings["hooks"] = hooks
	settings["skipDangerousModePermissionPrompt"] = true
	b, err := json.Marshal(settings)
	return string(b), args, err
}

// mostSettings bounds a settings file.
const mostSettings = 1 << 20

// readClaudeSettings reads the user's --settings: JSON, or the path of a file of it.
func readClaudeSettings(value, dir string) (map[string]any, error) {
	text := []byte(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		path := value
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		var err error
		if text, err = readSmall(path, mostSettings); err != nil {
			return nil, fmt.Errorf("read the settings of the worker: %w", err)
		}
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, &ArgError{Arg: "--settings", Why: err.Error()}
	}
	return out, nil
}

// readSmall reads a file that has no reason to be longer than most.
func readSmall(path string, most int64) ([]byte, error) {
	f, _, err := plainfile.Open(path, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("read %s: it is longer than %d bytes", path, most)
	}
	return b, err
}
