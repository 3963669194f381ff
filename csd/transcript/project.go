package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// longestProject is how much of a folder's name Claude Code keeps as it is.
const longestProject = 200

// ClaudeProject is the name of the folder under "projects" in which Claude Code keeps the transcripts of a working
// directory. cwd is the real path. All but ASCII letters and digits become "-", one for each unit of UTF-16; a longer
// name is cut, and told apart by a hash of the path.
func ClaudeProject(cwd string) string {
	units := utf16.Encode([]rune(cwd))
	name := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = hash*31 + int32(u)
		name[i] = '-'
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z') {
			name[i] = byte(u)
		}
	}
	if len(name) <= longestProject {
		return string(name)
	}
	return string(name[:longestProject]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// FindClaude is the path of the transcript of a session, by the working directory it was started in, or else by a search
// for its id. The error is fs.ErrNotExist where there is none.
func FindClaude(configDir, cwd, id string) (string, error) {
	if id == "" || strings.ContainsAny(id, `/\*?[`) || strings.HasPrefix(id, ".") {
		return "", fmt.Errorf("find the transcript of session %q: %w", id, os.ErrInvalid)
	}
	projects := filepath.Join(configDir, "projects")
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	if path := filepath.Join(projects, ClaudeProject(cwd), id+".jsonl"); isFile(path) {
		return path, nil
	}
	folders, err := os.ReadDir(projects)
	if err != nil {
		return "", err
	}
	for _, folder := range folders {
		if path := filepath.Join(projects, folder.Name(), id+".jsonl"); isFile(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("find the transcript of session %s under %s: %w", id, projects, os.ErrNotExist)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
