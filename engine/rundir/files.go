package rundir

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// maxName is how long a name may be, in bytes.
const maxName = 40

// ValidName reports whether name can be a source's name or a file sink's id: small letters, digits and -, at most 40.
func ValidName(name string) bool {
	other := func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, other)
}

// Files are the paths of one daemon.
type Files struct {
	Socket string // the control socket, and the address that messages come from
	State  string // targets with their cursors, and the event counter
	Events string // the event log
	Log    string // the daemon log; look here first
}

// maxSocket is the longest path that a unix socket can have everywhere: 104 bytes on macOS, one of them the NUL.
const maxSocket = 103

// Of returns the paths of the daemon of source that serves owner.
func Of(dir string, owner Owner, source string) (Files, error) {
	session, stem := owner.ID, owner.ID
	if owner.ID == "" {
		session = strconv.Itoa(owner.PID)
		stem = session + "-" + owner.Start
	}
	base := filepath.Join(dir, stem+"."+source)
	files := Files{
		Socket: filepath.Join(dir, session+"."+source+".sock"),
		State:  base + ".state.json",
		Events: base + ".events.jsonl",
		Log:    base + ".log",
	}
	if n := len(files.Socket); n > maxSocket {
		return Files{}, fmt.Errorf("the runtime directory's path is too long for a socket: %s has %d bytes of at most %d", files.Socket, n, maxSocket)
	}
	return files, nil
}
