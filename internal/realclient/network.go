package realclient

import (
	"fmt"
	"net"
	"os/exec"
	"testing"
)

// Network is where a client runs: where we may, a network of its own that has nothing but loopback, so that no
// connection to the outside can be made and each attempt is counted; elsewhere the network of this machine.
//
// Unix sockets in the file system are the same inside and outside. TCP is not: what the client is to reach must
// listen by Listen.
type Network struct {
	private namespace
}

// Attempts counts what a client sent that did not stay on loopback.
type Attempts struct {
	// NoRoute are the connections and packets to addresses outside.
	NoRoute int
	// Datagrams are the UDP packets sent, to loopback too: a question to a name server on this machine is one.
	Datagrams int
}

// NewNetwork makes the network for one test. Without the right to make a private one it says so in the test's log.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	n := &Network{}
	if err := n.private.open(); err != nil {
		t.Logf("no private network, so connections to the outside are not counted: %v", err)
		return n
	}
	t.Cleanup(n.private.close)
	return n
}

// Listen opens a TCP port on the network's loopback.
func (n *Network) Listen() (l net.Listener, err error) {
	n.private.do(func() { l, err = net.Listen("tcp", "127.0.0.1:0") })
	return l, err
}

// Start starts cmd in the network; its children are in it too.
func (n *Network) Start(cmd *exec.Cmd) (err error) {
	n.private.do(func() { err = cmd.Start() })
	return err
}

// Attempts returns the counts since the network was made. known is false where nothing is counted.
func (n *Network) Attempts() (a Attempts, known bool, err error) {
	if !n.private.made() {
		return Attempts{}, false, nil
	}
	n.private.do(func() { a, err = readAttempts() })
	if err != nil {
		return Attempts{}, false, fmt.Errorf("count attempts to reach the outside: %w", err)
	}
	return a, true, nil
}

// RequireNone fails the test when a client tried to reach the outside.
func (n *Network) RequireNone(t testing.TB) {
	t.Helper()
	a, known, err := n.Attempts()
	if err != nil {
		t.Fatal(err)
	}
	if known && a != (Attempts{}) {
		t.Errorf("the client tried to reach the outside: %+v", a)
	}
}
