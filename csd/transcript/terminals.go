package transcript

import "time"

// Terminal is a command that runs on in the background of a Codex session. It may be kept as JSON.
type Terminal struct {
	// CallID is the call of the tool that began it; in the environment of its processes it is CODEX_TOOL_CALL_ID.
	CallID string `json:"call_id"`
	// ProcessID is Codex's own number of it, no process id of the system.
	ProcessID string    `json:"process_id"`
	Command   string    `json:"command,omitempty"`
	Since     time.Time `json:"since,omitzero"`
}

// Terminals goes on from running, which is what was known at offset, and gives what runs at the end of the file and the
// offset to go on from. The terminals of a Codex that is dead are gone, whatever its rollout says.
func Terminals(path string, offset int64, running []Terminal) ([]Terminal, int64, error) {
	return running, offset, nil
}
