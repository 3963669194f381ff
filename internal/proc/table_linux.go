package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func table() ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []Process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		open, shut := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
		if open < 0 || shut < open {
			continue
		}
		fields := strings.Fields(string(data[shut+1:]))
		if len(fields) <= startTime || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		p := Process{PID: pid, Name: string(data[open+1 : shut])}
		p.Parent, _ = strconv.Atoi(fields[1])
		p.Group, _ = strconv.Atoi(fields[2])
		all = append(all, p)
	}
	return all, nil
}

// Environ returns the environment that the process was started with, NAME=value each. Only its own user may ask.
func Environ(pid int) ([]string, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, fmt.Errorf("environment of process %d: %w", pid, err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"), nil
}
