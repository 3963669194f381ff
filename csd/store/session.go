package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sessevents/sessevents/csd/event"
)

// Session is what a hook knows of the session that called it.
type Session struct {
	Worker, Harness string
	ID              string
	TranscriptPath  string
	CWD             string
	TmuxSocket      string
	At              time.Time
	// Begins says that the worker has this session from now on. Else it is noted as what it is, and the worker keeps
	// the session that it has: a client may have others beside its own.
	Begins bool
}

// Record appends e to the events of the session's worker. A worker that has only a marker is registered by that; one
// that began another session is pointed to it. It returns an *UnknownError, and leaves no file behind, where the root
// knows no such worker, be it that it was stopped this moment. It waits for other processes as long as ctx lasts.
func (r *Root) Record(ctx context.Context, s Session, e event.Event) error {
	if !ValidID(s.ID) {
		return fmt.Errorf("record event of worker %q: %q is no session id", s.Worker, s.ID)
	}
	return r.retry(ctx, s.Worker, func() error {
		if done, err := r.recordKnown(s, e); done {
			return err
		}
		unlock, err := r.take(s.Worker, lockMeta)
		if err != nil {
			return err
		}
		defer unlock()
		m, err := r.join(s)
		if err != nil {
			return err
		}
		return event.Append(r.EventsFile(m), e)
	})
}

// recordKnown is Record where nothing changes, which is nearly always: without a lock and without making a file, so
// that none of a worker that is stopped meanwhile comes back. It reports whether that was all.
func (r *Root) recordKnown(s Session, e event.Event) (done bool, err error) {
	m, ok := r.Lookup(s.Worker, s.ID)
	switch {
	case !ok || m.TmuxName != s.Worker:
		if r.marked(s) {
			return false, nil
		}
		return true, &UnknownError{s.Worker}
	case m.Harness != s.Harness:
		return true, &UnknownError{s.Worker}
	case s.changes(m):
		return false, nil
	}
	err = event.AppendExisting(r.EventsFile(m), e)
	return !errors.Is(err, os.ErrNotExist), err
}

func (r *Root) marked(s Session) bool {
	harness, ok := r.MarkerOf(s.Worker)
	return ok && harness == s.Harness
}

// changes reports whether the session changes what is known of its worker.
func (s Session) changes(m Meta) bool {
	return s.Begins && m.SessionID != s.ID || m.SessionID == s.ID && m.TranscriptPath == "" && s.TranscriptPath != ""
}

// join returns the worker of a session, registered and pointed to it, under the lock of its meta.
func (r *Root) join(s Session) (Meta, error) {
	m, ok := r.Lookup(s.Worker, s.ID)
	if ok && m.TmuxName == s.Worker {
		if m.Harness != s.Harness {
			return Meta{}, &UnknownError{s.Worker}
		}
		if !s.changes(m) {
			return m, nil
		}
		return r.repoint(s.Worker, m.SessionID, s.ID, s.TranscriptPath)
	}
	if !r.marked(s) {
		return Meta{}, &UnknownError{s.Worker}
	}
	return r.register(s)
}

// register makes the meta of a worker that had a marker alone, from what its launch left.
func (r *Root) register(s Session) (Meta, error) {
	m := Meta{CWD: s.CWD, StartedAt: s.At, TmuxSocket: s.TmuxSocket, ConfigDir: r.Home(s.Worker)}
	if state, err := r.State(s.Worker); err == nil && state.Pending != nil {
		m = *state.Pending
	}
	m.TmuxName, m.Harness, m.SessionID, m.TranscriptPath = s.Worker, s.Harness, s.ID, s.TranscriptPath
	if m.CWD == "" {
		m.CWD = s.CWD
	}
	if m.TmuxSocket == "" {
		m.TmuxSocket = s.TmuxSocket
	}
	var err error
	if m.EventsFile, err = r.freeEventsFile(m); err != nil {
		return Meta{}, err
	}
	return m, r.put(m)
}

// freeEventsFile is the name of an events file that no other worker has: one that went through a session keeps its
// file, and another may be given that session later.
func (r *Root) freeEventsFile(m Meta) (string, error) {
	name := m.SessionID + eventsEnd
	if _, err := os.Lstat(r.file(name)); errors.Is(err, os.ErrNotExist) {
		return name, nil
	}
	metas, _, err := r.All()
	if err != nil {
		return "", err
	}
	for _, other := range metas {
		if other.TmuxName != m.TmuxName && filepath.Base(r.EventsFile(other)) == name {
			return m.SessionID + "." + m.TmuxName + eventsEnd, nil
		}
	}
	return name, nil
}
