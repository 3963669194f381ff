package realclient

import (
	"net"
	"os/exec"
	"testing"
	"time"
)

func TestAnAttemptToReachTheOutsideIsCounted(t *testing.T) {
	n := NewNetwork(t)
	if !n.private.made() {
		t.Skip("needs the right to make a network namespace")
	}
	l, err := n.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n.private.do(func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Errorf("loopback inside: %v", err)
			return
		}
		c.Close()
	})
	n.RequireNone(t)
	for _, address := range []string{"192.0.2.1:443", "[2001:db8::1]:443"} {
		before, _, err := n.Attempts()
		if err != nil {
			t.Fatal(err)
		}
		n.private.do(func() {
			if c, err := net.DialTimeout("tcp", address, 5*time.Second); err == nil {
				c.Close()
				t.Errorf("reached %s from a network of loopback only", address)
			}
		})
		after, _, err := n.Attempts()
		if err != nil {
			t.Fatal(err)
		}
		if after.NoRoute <= before.NoRoute {
			t.Errorf("dial %s: counted %+v, before %+v", address, after, before)
		}
	}
}

func TestAChildIsInTheNetwork(t *testing.T) {
	n := NewNetwork(t)
	if !n.private.made() {
		t.Skip("needs the right to make a network namespace")
	}
	inside := exec.Command("readlink", "/proc/self/ns/net")
	var out, outside []byte
	r, err := inside.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Start(inside); err != nil {
		t.Fatal(err)
	}
	out = make([]byte, 100)
	k, _ := r.Read(out)
	if err := inside.Wait(); err != nil {
		t.Fatal(err)
	}
	if outside, err = exec.Command("readlink", "/proc/self/ns/net").Output(); err != nil {
		t.Fatal(err)
	}
	if got := string(out[:k]); got == string(outside) || got == "" {
		t.Errorf("inside %q, outside %q", got, outside)
	}
}
