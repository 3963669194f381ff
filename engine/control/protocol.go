// Package control is the conversation with a daemon over its unix socket, both ends: one JSON line asks, one JSON
// line answers. `echo '{"op":"status"}' | nc -UN SOCKET` is a client too.
//
// Only processes of the daemon's own user are heard. The same socket takes the reports that a session's inbox sends
// about messages.
package control

import (
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
)

// Op is what a request asks for.
type Op string

const (
	// Status asks for the daemon's [Report].
	Status Op = "status"
	// Watch saves the target that Words name and polls it.
	Watch Op = "watch"
	// Unwatch forgets the target that Words name, or with All every one.
	Unwatch Op = "unwatch"
	// Poll polls every target now.
	Poll Op = "poll"
	// Wait answers when there is an event above Since, or when Timeout has passed.
	Wait Op = "wait"
	// Stop ends the daemon; the answer comes when the last poll is saved.
	Stop Op = "stop"
)

// Request is one question.
type Request struct {
	Op    Op       `json:"op"`
	Words []string `json:"words,omitempty"`
	All   bool     `json:"all,omitempty"`
	Since int64    `json:"since,omitempty"`
	// TimeoutMS is how long a Wait may take, in milliseconds; 0: without end.
	TimeoutMS int64 `json:"timeoutMs,omitempty"`
}

// Response answers a request. Error and Usage are empty where it was done.
type Response struct {
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// Usage says that the error is the asker's: exit code 2.
	Usage bool `json:"usage,omitempty"`

	PID int `json:"pid,omitempty"`
	// Stopping says that the daemon is on its way out.
	Stopping bool `json:"stopping,omitempty"`
	// Targets are the targets that were watched, unwatched or polled.
	Targets []string `json:"targets,omitempty"`
	// Events are how many events the poll gave.
	Events int `json:"events,omitempty"`
	// Failed are the targets whose poll failed, with the reason.
	Failed []Failure `json:"failed,omitempty"`
	// Last is the id of the last event.
	Last int64 `json:"last,omitempty"`
	// TimedOut says that a Wait ended without an event.
	TimedOut bool    `json:"timedOut,omitempty"`
	Report   *Report `json:"report,omitempty"`
}

// Failure is a poll that failed.
type Failure struct {
	Target string    `json:"target,omitempty"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Report is what a daemon says of itself.
type Report struct {
	Name      string    `json:"name"`
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"startedAt"`
	Owner     Owner     `json:"owner"`
	Files     Files     `json:"files"`
	// IntervalSeconds and IdleIntervalSeconds are the shortest and the longest wait between polls.
	IntervalSeconds     float64          `json:"intervalSeconds"`
	IdleIntervalSeconds float64          `json:"idleIntervalSeconds"`
	Targets             []Target         `json:"targets"`
	Events              int64            `json:"events"`
	Recent              []eventlog.Event `json:"recent"`
	LastPoll            *time.Time       `json:"lastPoll,omitempty"`
	NextPoll            *time.Time       `json:"nextPoll,omitempty"`
	LastFailure         *Failure         `json:"lastFailure,omitempty"`
	// Limits are hosts that asked for patience: nothing is asked of them for so long.
	Limits []Limit `json:"limits,omitempty"`
	// ReloadError says why the source's changed file was not taken up.
	ReloadError string `json:"reloadError,omitempty"`
	// Delivery is absent for a file sink.
	Delivery *Delivery `json:"delivery,omitempty"`
}

// Owner is whom the daemon serves.
type Owner struct {
	PID   int    `json:"pid,omitempty"`
	ID    string `json:"id,omitempty"`
	Inbox string `json:"inbox,omitempty"`
}

// Files are the daemon's files.
type Files struct {
	Socket string `json:"socket"`
	State  string `json:"state"`
	Events string `json:"events"`
	Log    string `json:"log"`
}

// Target is one watched target.
type Target struct {
	Text string `json:"text"`
	// Summary is what stands now, a line for each standing alert.
	Summary []string `json:"summary,omitempty"`
	// Polling says that a poll of it is under way.
	Polling bool `json:"polling,omitempty"`
	// Failures counts its failed polls in a row.
	Failures    int        `json:"failures,omitempty"`
	LastPoll    *time.Time `json:"lastPoll,omitempty"`
	LastFailure *Failure   `json:"lastFailure,omitempty"`
}

// Limit is a host that asked for patience.
type Limit struct {
	Host        string  `json:"host"`
	LeftSeconds float64 `json:"leftSeconds"`
}

// Delivery is how the messages to the session fare.
type Delivery struct {
	Mode string `json:"mode"`
	// Sent counts the messages of this daemon's life.
	Sent     int        `json:"sent"`
	LastSent *time.Time `json:"lastSent,omitempty"`
	// Pending counts the alerts that wait, Since is the time of the oldest of them.
	Pending   int        `json:"pending"`
	Since     *time.Time `json:"since,omitempty"`
	LastError string     `json:"lastError,omitempty"`
	// Reports are the last ones of the receiver: messages that it holds or has dropped.
	Reports []Receipt `json:"reports,omitempty"`
	// Warning says why messages may be held: the daemon runs detached from its session.
	Warning string `json:"warning,omitempty"`
}

// Receipt is a report of the receiver on a message.
type Receipt struct {
	At     time.Time `json:"at"`
	Status string    `json:"status"`
	Reason string    `json:"reason,omitempty"`
	MsgID  string    `json:"msgId,omitempty"`
}
