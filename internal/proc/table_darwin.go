package proc

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func table() ([]Process, error) {
	out, err := exec.Command("/bin/ps", "-axo", "pid=,ppid=,pgid=,comm=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []Process
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		var p Process
		var errs [3]error
		p.PID, errs[0] = strconv.Atoi(fields[0])
		p.Parent, errs[1] = strconv.Atoi(fields[1])
		p.Group, errs[2] = strconv.Atoi(fields[2])
		if errors.Join(errs[:]...) != nil {
			continue
		}
		p.Name = filepath.Base(strings.Join(fields[3:], " "))
		all = append(all, p)
	}
	return all, nil
}

// Environ is not to be had on macOS without rights that a user has not.
func Environ(pid int) ([]string, error) {
	return nil, fmt.Errorf("environment of process %d: %w", pid, errors.ErrUnsupported)
}
