package harness

import "fmt"

// HeldError says that a client that lives has the session. A second one would mix its turns with the first one's.
type HeldError struct {
	Session string
	PID     int
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("session %s is open in process %d: end it there first", e.Session, e.PID)
}
