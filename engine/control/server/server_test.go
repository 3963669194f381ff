package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/inbox"
)

// echo answers with what it was asked.
type echo struct{ reports chan inbox.Report }

func (e echo) Handle(ctx context.Context, r control.Request) control.Response {
	if r.Op == control.Wait {
		<-ctx.Done()
		return control.Response{Error: "nobody waits any more"}
	}
	return control.Response{PID: os.Getpid(), Targets: r.Words}
}

func (e echo) Report(r inbox.Report) { e.reports <- r }

// start answers on a socket of its own until the test ends.
func start(t *testing.T) (path string, h echo) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.sock")
	l, _, err := Listen(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	h = echo{make(chan inbox.Report, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { Serve(ctx, l, h) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
	return path, h
}

// say writes to the socket, half-closes as nc does, and returns all that comes back.
func say(t *testing.T, path, text string) string {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // it may close without reading to the end
		t.Fatal(err)
	}
	return string(got)
}

func TestAskGetsAnAnswer(t *testing.T) {
	path, _ := start(t)
	r, err := control.Ask(context.Background(), path, control.Request{Op: control.Watch, Words: []string{"a b", "--x"}})
	if err != nil || strings.Join(r.Targets, "|") != "a b|--x" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := control.Ask(context.Background(), path+"x", control.Request{Op: control.Status}); !errors.Is(err, control.ErrNoDaemon) {
		t.Errorf("no socket: %v", err)
	}
}

func TestAConversationByHandAndGarbage(t *testing.T) {
	path, _ := start(t)
	for in, want := range map[string]string{
		`{"op":"watch","words":["a"]}` + "\n" + `{"op":"watch","words":["b"]}`: `"a"`, // the second needs no line break
		"GET / HTTP/1.1\r\n\r\n":                 "not a request",
		"\x00\xff\n":                             "not a request",
		"null\n":                                 `needs an \"op\"`,
		`{"op":"format-disk"}` + "\n":            "unknown op",
		`{"op":"watch","words":"a"}` + "\n":      "not a request",
		`{"op":"watch","wo`:                      "not a request",
		"":                                       "",
		strings.Repeat("x", maxRequest-1) + "\n": "not a request",
		`{"op":"` + strings.Repeat("x", 2*maxRequest): "too long",
	} {
		got := say(t, path, in)
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%.40q: %q, want %q", in, got, want)
		}
		if _, err := control.Ask(context.Background(), path, control.Request{Op: control.Status}); err != nil {
			t.Fatalf("the server does not answer after %.40q: %v", in, err)
		}
	}
}

func TestARequestOf100MBIsCutOff(t *testing.T) {
	path, _ := start(t)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	block := []byte(strings.Repeat("x", 1<<20))
	sent := 0
	for range 100 {
		n, err := conn.Write(block)
		sent += n
		if err != nil {
			break
		}
	}
	if sent > 4<<20 {
		t.Errorf("the server has taken %d bytes", sent)
	}
	if answer, _ := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(answer, "too long") {
		t.Errorf("answer %q", answer)
	}
}

func TestSE6_7_AReportReachesTheHandler(t *testing.T) {
	path, h := start(t)
	line := `{"type":"control","action":"peer_message_status","status":"held","reason":"mode-mismatch","orig_msg_id":"x-1","msgV":1}` + "\n"
	if got := say(t, path, line); got != "" {
		t.Errorf("answered %q", got)
	}
	if got := <-h.reports; got != (inbox.Report{Status: "held", Reason: "mode-mismatch", MsgID: "x-1"}) {
		t.Errorf("report %+v", got)
	}
}

func TestManySilentConnectionsAreBounded(t *testing.T) {
	path, _ := start(t)
	var idle []net.Conn
	for range maxConns - 1 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, conn)
	}
	if _, err := control.Ask(context.Background(), path, control.Request{Op: control.Status}); err != nil {
		t.Errorf("with %d silent connections: %v", len(idle), err)
	}
	for _, conn := range idle {
		conn.Close()
	}
}

func TestOnlyTheOwnUserIsHeard(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be somebody else")
	}
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("needs perl, to speak to a socket as somebody else")
	}
	path, _ := start(t)
	// Even where the file's mode would let everybody in.
	for dir := filepath.Dir(path); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	program := `use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "connect: $!"; print $s "{\"op\":\"status\"}\n"; $s->flush; shutdown($s, 1); print "got:", <$s>;`
	as := func(uid uint32) string {
		cmd := exec.Command(perl, "-e", program, path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if got := as(65534); strings.Contains(got, "pid") || strings.Contains(got, "connect") {
		t.Errorf("another user got %q, which is an answer or not even a connection", got)
	}
	if got := as(0); !strings.Contains(got, `"pid"`) {
		t.Errorf("the own user got %q", got)
	}
}

func TestSE5_2_OneOnly(t *testing.T) {
	path, _ := start(t)
	_, running, err := Listen(context.Background(), path)
	if !errors.Is(err, ErrRunning) || running.PID != os.Getpid() {
		t.Errorf("%+v, %v", running, err)
	}
}

func TestSE5_2_ASocketThatACrashLeftIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sock")
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	old.Close()
	// Of many starts at once exactly one gets it; the others find it answering.
	var mu sync.Mutex
	var won, found int
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 20 {
		wg.Go(func() {
			l, _, err := Listen(ctx, path)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
				wg.Go(func() { Serve(ctx, l, echo{}) })
			case errors.Is(err, ErrRunning):
				found++
			default:
				t.Error(err)
			}
			if won+found == 20 {
				cancel()
			}
		})
	}
	wg.Wait()
	if won != 1 || found != 19 {
		t.Errorf("%d started, %d found one running", won, found)
	}
}

func TestASocketHeldByAnotherProgramIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sock")
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "220 hello\r\n")
			conn.Close()
		}
	}()
	if _, _, err := Listen(context.Background(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if _, err := net.Dial("unix", path); err != nil {
		t.Errorf("the other program's socket is gone: %v", err)
	}
	file := filepath.Join(t.TempDir(), "y.sock")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Listen(context.Background(), file); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "precious" {
		t.Error("a file in the way was removed")
	}
}

func TestAWaiterThatHangsUpIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker, server := net.Pipe()
		start := time.Now()
		over := make(chan control.Response)
		go func() { over <- answer(context.Background(), server, echo{}, control.Request{Op: control.Wait}) }()
		// As long as it listens it gets a sign of life.
		for range 3 {
			if b, err := bufio.NewReaderSize(asker, 1).ReadByte(); err != nil || b != '\n' {
				t.Errorf("read %q, %v; want an empty line", b, err)
			}
		}
		asker.Close()
		if r := <-over; r.Error != "nobody waits any more" || time.Since(start) != 4*heartbeat {
			t.Errorf("after %s: %+v", time.Since(start), r)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"op":"watch","words":["a"],"since":1}`))
	f.Add([]byte(`{"type":"control","action":"peer_message_status","status":"held"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, fault := parse(line); fault == "" && r.Op == "" {
			t.Fatalf("%q was taken without an op", line)
		}
		inbox.ParseReport(line)
	})
}
