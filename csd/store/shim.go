package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sessevents/sessevents/internal/atomicfile"
	"github.com/sessevents/sessevents/internal/shellwords"
)

// WriteShim writes the shim of a worker: three lines of sh that call the csd at exe for it.
func (r *Root) WriteShim(name, exe string) error {
	if !ValidName(name) {
		return fmt.Errorf("write shim: %q is no name of a worker", name)
	}
	if strings.ContainsAny(r.path+exe, "\n\x00") {
		return fmt.Errorf("write shim %q: a path with a line break", name)
	}
	text := "#!/bin/sh\n" +
		"CSD_WORKER_DIR=" + shellwords.Quote(r.path) + "; export CSD_WORKER_DIR\n" +
		"exec " + shellwords.Quote(exe) + " --worker " + shellwords.Quote(name) + ` "$@"` + "\n"
	if err := r.folder(shims); err != nil {
		return err
	}
	path := r.Shim(name)
	tmp := path + tmpEnd
	if err := errors.Join(removeAll(tmp), atomicfile.WriteSoft(tmp, []byte(text))); err != nil {
		return fmt.Errorf("write shim: %w", err)
	}
	if err := os.Chmod(tmp, 0o700); err != nil {
		return errors.Join(fmt.Errorf("write shim: %w", err), removeAll(tmp))
	}
	return atomicfile.Rename(tmp, path)
}

// Launch is what a worker's pane executes.
type Launch struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
}

// WriteLaunch writes l for ReadLaunch into a new file that nobody else can read: its environment holds secrets.
func (r *Root) WriteLaunch(name string, l Launch) (file string, err error) {
	if !ValidName(name) {
		return "", fmt.Errorf("write launch: %q is no name of a worker", name)
	}
	data, err := json.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("write launch: %w", err)
	}
	f, err := os.CreateTemp(r.path, name+".*"+launchEnd) // 0600, exclusively
	if err != nil {
		return "", fmt.Errorf("write launch: %w", err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Close()
	} else {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write launch: %w", err), removeAll(f.Name()))
	}
	return f.Name(), nil
}

// ReadLaunch reads a file of WriteLaunch and removes it. It refuses one that is not ours alone.
func ReadLaunch(file string) (Launch, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return Launch{}, fmt.Errorf("read launch: %w", err)
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(sys.Uid) != os.Geteuid() || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return Launch{}, fmt.Errorf("read launch %s: not a file of ours alone", file)
	}
	data, err := readFile(file, maxLaunch)
	if err != nil {
		return Launch{}, fmt.Errorf("read launch: %w", err)
	}
	if err := os.Remove(file); err != nil {
		return Launch{}, fmt.Errorf("remove launch: %w", err)
	}
	var l Launch
	if err := json.Unmarshal(data, &l); err != nil {
		return Launch{}, fmt.Errorf("read launch %s: %w", filepath.Base(file), err)
	}
	if len(l.Argv) == 0 {
		return Launch{}, fmt.Errorf("read launch %s: no command", filepath.Base(file))
	}
	return l, nil
}

// ReadLaunch is the function ReadLaunch.
func (r *Root) ReadLaunch(file string) (Launch, error) { return ReadLaunch(file) }
