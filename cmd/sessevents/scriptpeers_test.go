package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
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
