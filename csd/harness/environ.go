package harness

import (
	"path/filepath"
	"slices"
	"strings"
)

// foreign are the variables that describe the session which csd was called from: the terminal it runs in, the tmux
// session, and what each client tells the programs that it runs. A worker that inherited them would take itself for a
// part of that session: it would keep no transcript, write to another's, or talk to another's editor.
var foreign = []string{
	// The terminal. The pane's own are put in when the client starts.
	"TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES", "_", "OLDPWD",
	// Claude Code.
	"AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SANDBOXED",
	"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SESSION_KIND", "CLAUDE_CODE_SSE_PORT",
	"CLAUDE_CODE_TOOL_USE_ID", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_PID", "CLAUDE_PROJECT_DIR",
	"NoDefaultCurrentDirectoryInExePath",
	// Codex.
	"CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS", "CODEX_CI", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "CODEX_MANAGED_BY_BUN", "CODEX_MANAGED_BY_NPM",
	"CODEX_MANAGED_BY_PNPM", "CODEX_MANAGED_BY_VITE_PLUS", "CODEX_MANAGED_PACKAGE_ROOT", "CODEX_SANDBOX",
	"CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_TURN_ID", "CODEX_VERSION",
	// Pi, and csd's own workers.
	"PI_CODING_AGENT", "PI_CODING_AGENT_SESSION_DIR", "CSD_EXE", "CSD_TMUX_NAME",
}

// selectors choose a provider for Claude Code. An empty value still chooses one there.
var selectors = []string{
	"CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
	"CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_ANTHROPIC_AWS", "CLAUDE_CODE_USE_MANTLE",
}

// muted are variables that a person may set too, with the value that a client gives them for its tools, and the
// variable by which that client is known.
var muted = []struct{ where, name, value string }{
	{"CLAUDECODE", "GIT_EDITOR", "true"},
	{"CODEX_CI", "COLORTERM", ""},
	{"CODEX_CI", "GH_PAGER", "cat"},
	{"CODEX_CI", "GIT_PAGER", "cat"},
	{"CODEX_CI", "NO_COLOR", "1"},
	{"CODEX_CI", "PAGER", "cat"},
}

// environment is the worker's: the caller's, cleaned, with more set. It says whose worker that is: by this csd finds
// what a worker started, even what has left its process tree.
func environment(w Worker, more map[string]string) []string {
	vars := make(map[string]string, len(w.Environ))
	for _, pair := range w.Environ {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" || slices.Contains(foreign, name) || value == "" && slices.Contains(selectors, name) {
			continue
		}
		vars[name] = value
	}
	for _, m := range muted {
		if slices.ContainsFunc(w.Environ, func(pair string) bool { return strings.HasPrefix(pair, m.where+"=") }) && vars[m.name] == m.value {
			delete(vars, m.name)
		}
	}
	for _, name := range []string{"CODEX_HOME", "PI_CODING_AGENT_DIR"} {
		if vars[name] != "" && w.private(vars[name]) {
			delete(vars, name)
		}
	}
	vars["PWD"] = w.CWD
	vars["CSD_WORKER_DIR"], vars["CSD_TMUX_NAME"] = w.Root.Path(), w.Name
	for name, value := range more {
		vars[name] = value
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// private reports whether a folder is the private one of a worker of this root, as csd finds it in the environment when
// a worker calls it.
func (w Worker) private(dir string) bool {
	return filepath.Dir(filepath.Clean(dir)) == filepath.Dir(filepath.Clean(w.Home))
}

// operatorDir is homeDir for a client that gives its workers private folders: one that is called by such a worker is
// told of the folder that the worker's login came from, since the private one goes when that worker ends.
func operatorDir(w Worker, l login, variable string, below ...string) (string, error) {
	dir, err := homeDir(w.Getenv, variable, below...)
	if err != nil || !w.private(dir) {
		return dir, err
	}
	if o, err := l.origin(dir); err == nil {
		return filepath.Dir(o.Path), nil
	}
	return homeDir(func(name string) string {
		if name == variable {
			return ""
		}
		return w.Getenv(name)
	}, variable, below...)
}

// homeDir is the folder that a variable names, else one below HOME. Both become absolute, since the worker starts in
// another folder than csd.
func homeDir(getenv func(string) string, variable string, below ...string) (string, error) {
	dir := getenv(variable)
	if dir == "" {
		dir = filepath.Join(append([]string{getenv("HOME")}, below...)...)
	}
	return filepath.Abs(dir)
}
