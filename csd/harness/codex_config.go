package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// codexModel is what a worker uses unless CSD_CODEX_MODEL says otherwise.
const codexModel = "gpt-5.5"

// codexHooks are the events that csd is told of, with the seconds that the client waits for the hook. Of the last two
// it cuts everything over three, and waits for one unless told.
var codexHooks = []struct {
	event   string
	seconds int
}{
	{"SessionStart", hookSeconds},
	{"UserPromptSubmit", hookSeconds},
	{"PreToolUse", hookSeconds},
	{"PostToolUse", hookSeconds},
	{"Stop", hookSeconds},
	{"Interrupt", 3},
	{"SessionEnd", 3},
}

// codexConfig is the configuration of a worker: nothing that asks, nothing that outlives it, and csd's hooks.
func codexConfig(w Worker) []byte {
	model := w.Getenv("CSD_CODEX_MODEL")
	if model == "" {
		model = codexModel
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("model = %s", tomlString(model))
	line(`model_reasoning_effort = "low"`)
	line("check_for_update_on_startup = false")
	line("[features]")
	line("daemon_auto_start = false")
	line("[analytics]")
	line("enabled = false")
	line("[notice]")
	line("hide_rate_limit_model_nudge = true")
	line("[notice.model_migrations]") // the question whether to try another model, answered with no
	line(`%s = "gpt-6-sol"`, tomlString(codexModel))
	line("[projects.%s]", tomlString(w.CWD))
	line(`trust_level = "trusted"`)
	command := tomlString(hookCommand(w, "codex"))
	for _, h := range codexHooks {
		line("[[hooks.%s]]", h.event)
		line("[[hooks.%s.hooks]]", h.event)
		line(`type = "command"`)
		line("command = %s", command)
		line("timeout = %d", h.seconds)
	}
	return []byte(b.String())
}

// tomlString is a basic string of TOML.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// codexTargets are the client's own names of the platforms that csd runs on.
var codexTargets = map[string]struct{ pkg, triple string }{
	"linux/amd64":  {"codex-linux-x64", "x86_64-unknown-linux-musl"},
	"linux/arm64":  {"codex-linux-arm64", "aarch64-unknown-linux-musl"},
	"darwin/amd64": {"codex-darwin-x64", "x86_64-apple-darwin"},
	"darwin/arm64": {"codex-darwin-arm64", "aarch64-apple-darwin"},
}

// codexBinary looks behind the script by which npm installs the client, so that the pane's process is the client and
// not a node that waits for it. more is what the script would set. Where the package does not look as expected, path
// itself is returned.
func codexBinary(path string) (binary string, more map[string]string) {
	more = map[string]string{}
	script, err := filepath.EvalSymlinks(path)
	target, known := codexTargets[runtime.GOOS+"/"+runtime.GOARCH]
	if err != nil || !known || filepath.Base(script) != "codex.js" || filepath.Base(filepath.Dir(script)) != "bin" {
		return path, more
	}
	root := filepath.Dir(filepath.Dir(script))
	inside := filepath.Join("vendor", target.triple, "bin", "codex")
	var places []string
	for dir := root; ; dir = filepath.Dir(dir) { // as node looks for a package: the nearest first
		places = append(places, filepath.Join(dir, "node_modules", "@openai", target.pkg, inside))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	places = append(places, filepath.Join(root, inside))
	at := slices.IndexFunc(places, func(p string) bool { return executable(p) == nil })
	if at < 0 {
		return path, more
	}
	if _, err := os.Stat(filepath.Join(root, "package.json")); err != nil {
		return path, more
	}
	more["CODEX_MANAGED_PACKAGE_ROOT"], more["CODEX_MANAGED_BY_NPM"] = root, "1"
	return places[at], more
}
