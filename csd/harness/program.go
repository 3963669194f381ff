package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sessevents/sessevents/internal/shellwords"
)

// MissingError says that a client is not installed where it was looked for.
type MissingError struct {
	Client, Variable string
	Err              error
}

func (e *MissingError) Error() string { return fmt.Sprintf("find %s: %v", e.Client, e.Err) }

func (e *MissingError) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *MissingError) Hint() string {
	return fmt.Sprintf("install %s, or name its program in %s", e.Client, e.Variable)
}

// program finds a client: what the variable names, else its name on the caller's PATH. The path is absolute.
func program(w Worker, client, variable string) (string, error) {
	name := w.Getenv(variable)
	if name == "" {
		name = client
	}
	path, err := lookPath(name, w.Getenv("PATH"))
	if err != nil {
		return "", &MissingError{Client: client, Variable: variable, Err: err}
	}
	return path, nil
}

// lookPath is exec.LookPath with a PATH that is not this process's.
func lookPath(name, path string) (string, error) {
	if strings.ContainsRune(name, os.PathSeparator) {
		abs, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		return abs, executable(abs)
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // the worker's folder is another
		}
		if candidate := filepath.Join(dir, name); executable(candidate) == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%q: %w", name, exec.ErrNotFound)
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%s: %w", path, errors.New("not an executable file"))
	}
	return nil
}

// hookCommand is the line by which a client tells csd what happens: Claude Code runs it with sh, Codex with bash, zsh or
// sh. The hook takes the place of the shell, and does its little on one processor: the Go runtime, told so, starts fewer
// threads, which is an eighth of what a hook costs.
func hookCommand(w Worker, client string) string {
	return hookOne + " exec " + shellwords.Join([]string{w.HookExe, "hook", client, w.Root.Path(), w.Name})
}

// hookOne is the variable that does so. It must not stand in the client's environment, where its tools would have it.
const hookOne = "GOMAXPROCS=1"
