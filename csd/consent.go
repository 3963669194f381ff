package csd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// consentFile is where the consent of this user is, below the home folder: once for a machine.
const consentFile = ".claude/.claude-session-driver-consent"

const risk = `Workers run without permission checks: a coding agent in one executes every command that it thinks of, without asking,
with all rights of this user. What it reads (a web page, a file of somebody else) can make it do things that nobody asked for.
Launch workers only in folders, and on machines, where you can bear that.
`

func (f *Fleet) consentPath() (string, error) {
	home := f.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", failf("set HOME", "HOME is %q, so there is no place for the consent", home)
	}
	return filepath.Join(home, consentFile), nil
}

// Consented reports whether this user has agreed to workers that run without permission checks.
func (f *Fleet) Consented() (bool, error) {
	path, err := f.consentPath()
	if err != nil {
		return false, err
	}
	switch _, err := os.Stat(path); {
	case err == nil:
		return true, nil
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	default:
		return false, err
	}
}

// requireConsent is an error unless this user has agreed.
func (f *Fleet) requireConsent() error {
	ok, err := f.Consented()
	if err != nil {
		return err
	}
	if !ok {
		return failf("run `csd grant-consent` once", "workers run without permission checks, and you have not agreed to that yet")
	}
	return nil
}

// GrantConsent says what workers may do, asks for a yes and keeps it. It returns the path of the consent, and whether
// it was there before.
func (f *Fleet) GrantConsent(in io.Reader, out io.Writer) (path string, before bool, err error) {
	if path, err = f.consentPath(); err != nil {
		return "", false, err
	}
	if before, err = f.Consented(); before || err != nil {
		return path, before, err
	}
	fmt.Fprint(out, risk, "Type yes to agree:\n")
	answer, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return path, false, err
	}
	if strings.TrimSpace(answer) != "yes" {
		return path, false, failf("only the word yes grants it", "Consent not granted.")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, false, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return path, false, err
	}
	return path, false, file.Close()
}
