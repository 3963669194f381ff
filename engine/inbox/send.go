package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/sessevents/sessevents/internal/proc"
)

// sendTimeout bounds one delivery: an inbox that takes nothing for so long is tried again later.
const sendTimeout = 5 * time.Second

// Send gives one message to the inbox. Nil says that the receiver has all of it, an error that it has not got a whole
// frame, so that the same message may be sent again.
//
// The receiver answers nothing. It closes the connection once it has read the half-closed stream to its end; where
// that does not come in time, the frame still lies in its socket, and is taken as given.
func (a Address) Send(ctx context.Context, msgID, body string) error {
	lines, err := a.lines(msgID, body)
	if err != nil {
		return fmt.Errorf("encode message %s: %w", msgID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", a.Inbox)
	if err != nil {
		return fmt.Errorf("open inbox %s: %w", a.Inbox, err)
	}
	conn := c.(*net.UnixConn)
	defer conn.Close()
	if peer, err := proc.PeerOf(conn); err != nil {
		return err
	} else if peer.UID != os.Geteuid() {
		return fmt.Errorf("inbox %s belongs to a process of user %d", a.Inbox, peer.UID)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(lines); err != nil {
		return fmt.Errorf("write to inbox %s: %w", a.Inbox, err)
	}
	if err := conn.CloseWrite(); err != nil {
		return fmt.Errorf("write to inbox %s: %w", a.Inbox, err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(conn, 1<<16))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("inbox %s closed on message %s: %w", a.Inbox, msgID, err)
	}
	return nil
}
