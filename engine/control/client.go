package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/sessevents/sessevents/internal/proc"
	"github.com/sessevents/sessevents/internal/unixsocket"
)

// ErrNoDaemon says that nobody listens on the socket, or that the daemon ended before it answered.
var ErrNoDaemon = errors.New("no daemon answers")

// ErrNobody is the ErrNoDaemon of a socket on which nobody listens.
var ErrNobody = fmt.Errorf("%w", ErrNoDaemon)

// maxResponse bounds what a client reads: a status of some ten thousand targets.
const maxResponse = 64 << 20

// Patience is how long a daemon may take for what it answers from memory.
const Patience = 5 * time.Second

// Ask asks the daemon at the socket one thing and returns its answer. A Status has to come within five seconds;
// everything else takes as long as it takes, until ctx ends.
func Ask(ctx context.Context, socket string, r Request) (Response, error) {
	if r.Op == Status {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, Patience)
		defer cancel()
	}
	conn, err := unixsocket.Dial(socket)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return Response{}, fmt.Errorf("%w at %s", ErrNobody, socket)
	}
	if err != nil {
		return Response{}, err
	}
	defer conn.Close()
	peer, err := proc.PeerOf(conn)
	if err != nil {
		return Response{}, err
	}
	if peer.UID != os.Geteuid() {
		return Response{}, fmt.Errorf("the process at %s is user %d's", socket, peer.UID)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return Response{}, ended(ctx, socket, err)
	}
	in := bufio.NewReader(io.LimitReader(conn, maxResponse))
	var line []byte
	for len(bytes.TrimSpace(line)) == 0 { // empty lines only show that the daemon is still there
		if line, err = in.ReadBytes('\n'); err != nil {
			return Response{}, ended(ctx, socket, err)
		}
	}
	var answer Response
	if err := json.Unmarshal(line, &answer); err != nil {
		return Response{}, fmt.Errorf("answer of the process at %s: %w", socket, err)
	}
	return answer, nil
}

// ended says why a conversation broke off: the asker gave up, or the daemon is gone.
func ended(ctx context.Context, socket string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%w at %s: it closed the connection", ErrNoDaemon, socket)
	}
	return err
}
