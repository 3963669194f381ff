package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// playInbox is a session's inbox as a program: it prints each line that a daemon sends. Its process is the session.
func playInbox() { listenAndPrint(os.Args[1], "") }

// holdSocket is a program that holds a daemon's socket and is none: it prints what it is asked and answers with the
// words of its second argument, or never.
func holdSocket() {
	answer := ""
	if len(os.Args) > 2 {
		answer = os.Args[2]
	}
	listenAndPrint(os.Args[1], answer)
}

func listenAndPrint(socket, answer string) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening")
	var mu sync.Mutex
	for {
		conn, err := l.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go func() { // ends with its connection, at the latest with the process
			defer conn.Close()
			lines := bufio.NewScanner(conn)
			for lines.Scan() {
				mu.Lock()
				fmt.Println(lines.Text())
				mu.Unlock()
				if answer != "" {
					fmt.Fprintln(conn, answer)
				}
			}
		}()
	}
}

// runHomeless runs a program as a user of its own whose last resort for a runtime directory, in /tmp, is a file of
// root's. It needs root.
func runHomeless() {
	uid := 1<<20 + os.Getpid()
	taken := fmt.Sprintf("/tmp/session-events-%d", uid)
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(125)
		}
	}
	fail(os.WriteFile(taken, nil, 0o600))
	path, err := exec.LookPath(os.Args[1])
	fail(err)
	program, err := os.Open(path) // its folder is root's alone, so the user runs it through the open file
	fail(err)
	cmd := exec.Command("/proc/self/fd/3", os.Args[2:]...)
	cmd.Args[0], cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Args[1], "/", os.Stdout, os.Stderr, []*os.File{program}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	err = cmd.Run()
	fail(os.Remove(taken))
	if cmd.ProcessState == nil {
		fail(err)
	}
	fmt.Fprintf(os.Stderr, "uid %d\n", uid)
	os.Exit(cmd.ProcessState.ExitCode())
}
