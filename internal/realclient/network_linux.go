package realclient

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// namespace is a network namespace that lives on one thread: what that thread starts or opens is inside. The zero
// value is the network of the process.
type namespace struct {
	work chan func()
	done chan struct{}
}

// open makes the namespace. It needs root, or CAP_SYS_ADMIN.
func (n *namespace) open() error {
	work, done, ready := make(chan func()), make(chan struct{}), make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and the namespace with it
		if err := unshareNetwork(); err != nil {
			ready <- err
			return
		}
		ready <- nil
		for f := range work {
			f()
		}
	}()
	if err := <-ready; err != nil {
		<-done
		return err
	}
	n.work, n.done = work, done
	return nil
}

func (n *namespace) made() bool { return n.work != nil }

// do runs f on the namespace's thread and returns after it.
func (n *namespace) do(f func()) {
	if !n.made() {
		f()
		return
	}
	ran := make(chan struct{})
	n.work <- func() { defer close(ran); f() }
	<-ran
}

func (n *namespace) close() {
	close(n.work)
	<-n.done
}

func unshareNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket in the namespace: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring up loopback: %w", err)
	}
	return nil
}

// readAttempts reads the counters of the calling thread's network.
func readAttempts() (Attempts, error) {
	v4, err := os.ReadFile("/proc/thread-self/net/snmp")
	if err != nil {
		return Attempts{}, err
	}
	v6, err := os.ReadFile("/proc/thread-self/net/snmp6")
	if os.IsNotExist(err) { // a kernel without IPv6
		v6, err = nil, nil
	}
	if err != nil {
		return Attempts{}, err
	}
	count := counters(v4, v6)
	return Attempts{
		NoRoute:   count["Ip:OutNoRoutes"] + count["Ip6OutNoRoutes"],
		Datagrams: count["Udp:OutDatagrams"] + count["Udp6OutDatagrams"],
	}, nil
}

// counters reads both forms: for IPv4 a line of names and a line of numbers, for IPv6 a line each.
func counters(v4, v6 []byte) map[string]int {
	out := map[string]int{}
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(v4)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if names == nil {
			names = words
			continue
		}
		for i := 1; i < min(len(words), len(names)); i++ {
			out[words[0]+names[i]], _ = strconv.Atoi(words[i]) // the kernel writes numbers
		}
		names = nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(v6)); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 2 {
			out[words[0]], _ = strconv.Atoi(words[1])
		}
	}
	return out
}
