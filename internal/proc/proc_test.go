package proc

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestStartTokenTellsALiveProcessFromAZombieAndFromNobody(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	token, err := StartToken(pid)
	if err != nil || token == "" {
		t.Fatalf("token %q, %v", token, err)
	}
	if !Same(pid, token) || Same(pid, token+"1") {
		t.Error("a live process is not told from another one of the same pid")
	}
	if !Descends(pid, os.Getpid()) || Descends(os.Getpid(), pid) {
		t.Error("the child is not under its parent")
	}
	// End of its input ends it; end of its output says that it has closed its files, on the way to a zombie.
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err == nil {
		t.Fatal("cat wrote something")
	}
	for Same(pid, token) { // a zombie within microseconds; nothing tells the moment
	}
	if _, err := StartToken(pid); !errors.Is(err, ErrGone) {
		t.Errorf("a zombie: %v, want ErrGone", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := StartToken(pid); !errors.Is(err, ErrGone) {
		t.Errorf("nobody: %v, want ErrGone", err)
	}
}

func TestPeerOfIsTheProcessAtTheOtherEnd(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	peer, err := PeerOf(conn)
	if err != nil || peer.PID != os.Getpid() || peer.UID != os.Getuid() {
		t.Errorf("peer %+v, %v; want this process", peer, err)
	}
}
