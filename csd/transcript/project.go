package transcript

// ClaudeProject is the name of the folder under "projects" in which Claude Code keeps the transcripts of a working
// directory. cwd is the real path.
func ClaudeProject(cwd string) string { return "" }

// FindClaude is the path of the transcript of a session, by the working directory it was started in, or else by a search
// for its id. os.ErrNotExist: there is none.
func FindClaude(configDir, cwd, id string) (string, error) { return "", nil }
