package realclient

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Processes are those that run with this home in their environment.
func (h *Home) Processes() []Process {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var out []Process
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte(h.Dir+"/")) {
			continue // it ended, or it is another user's
		}
		dir := filepath.Dir(file)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || len(command) == 0 {
			continue // it ended, or waits for its parent to take note
		}
		out = append(out, Process{PID: pid, Command: strings.ReplaceAll(strings.Trim(string(command), "\x00"), "\x00", " ")})
	}
	return out
}
