package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/internal/atomicfile"
	"github.com/sessevents/sessevents/internal/parallel"
	"github.com/sessevents/sessevents/internal/rawfile"
)

// Meta is who a worker is. Members of the file that this version does not know are kept.
type Meta struct {
	TmuxName       string
	SessionID      string
	CWD            string
	Harness        string // claude, codex or pi
	StartedAt      time.Time
	Invocation     []string // the words of the launch that can be repeated
	TranscriptPath string
	EventsFile     string // the events file's name, chosen once; EventsFile of Root gives the path
	TmuxSocket     string
	ConfigDir      string

	read []byte // the file that it was read from, whose other members are kept
}

type metaFile struct {
	TmuxName       string   `json:"tmux_name"`
	SessionID      string   `json:"session_id"`
	CWD            string   `json:"cwd"`
	Harness        string   `json:"harness"`
	StartedAt      string   `json:"started_at,omitempty"`
	Invocation     []string `json:"invocation,omitempty"`
	TranscriptPath string   `json:"transcript_path,omitempty"`
	EventsFile     string   `json:"events_file,omitempty"`
	TmuxSocket     string   `json:"tmux_socket,omitempty"`
	ConfigDir      string   `json:"config_dir,omitempty"`
}

var metaMembers = []string{
	"tmux_name", "session_id", "cwd", "harness", "started_at", "invocation", "transcript_path", "events_file", "tmux_socket", "config_dir",
}

// MarshalJSON writes m as it stands in its file: the known members in their order, then the others by name.
func (m Meta) MarshalJSON() ([]byte, error) {
	f := metaFile{
		m.TmuxName, m.SessionID, m.CWD, m.Harness, "", m.Invocation, m.TranscriptPath, m.EventsFile, m.TmuxSocket, m.ConfigDir,
	}
	if !m.StartedAt.IsZero() {
		f.StartedAt = m.StartedAt.UTC().Format(time.RFC3339)
	}
	known, err := json.Marshal(f)
	if err != nil || len(m.read) == 0 {
		return known, err
	}
	var extra map[string]json.RawMessage
	if err := json.Unmarshal(m.read, &extra); err != nil {
		return nil, err
	}
	maps.DeleteFunc(extra, func(name string, _ json.RawMessage) bool { return slices.Contains(metaMembers, name) })
	if len(extra) == 0 {
		return known, nil
	}
	others, err := json.Marshal(extra)
	if err != nil {
		return nil, err
	}
	return append(append(known[:len(known)-1], ','), others[1:]...), nil
}

// UnmarshalJSON reads the content of a file.
func (m *Meta) UnmarshalJSON(data []byte) error { return m.decode(bytes.Clone(data)) }

// decode is UnmarshalJSON of data that m may keep.
func (m *Meta) decode(data []byte) error {
	var f metaFile
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*m = Meta{
		f.TmuxName, f.SessionID, f.CWD, f.Harness, time.Time{}, f.Invocation, f.TranscriptPath, f.EventsFile, f.TmuxSocket, f.ConfigDir, data,
	}
	if f.StartedAt != "" {
		at, err := time.Parse(time.RFC3339, f.StartedAt)
		if err != nil {
			return fmt.Errorf("started_at: %w", err)
		}
		m.StartedAt = at
	}
	return nil
}

// valid says what is wrong with m.
func (m Meta) valid() error {
	switch {
	case !ValidName(m.TmuxName):
		return fmt.Errorf("%q is no name of a worker", m.TmuxName)
	case !ValidID(m.SessionID):
		return fmt.Errorf("%q is no session id", m.SessionID)
	case m.Harness == "":
		return errors.New("no harness")
	}
	return nil
}

// Broken is a file of the root that is not what its name says.
type Broken struct {
	File string
	Err  error
}

// UnknownError says that no worker has the name or session id.
type UnknownError struct{ Handle string }

func (e *UnknownError) Error() string { return "no worker known as '" + e.Handle + "'" }

// Find returns the worker with the name or session id, or an *UnknownError.
func (r *Root) Find(handle string) (Meta, error) {
	if m, ok := r.Lookup(handle, handle); ok {
		return m, nil
	}
	// The index was lost, or is of another version.
	metas, _, err := r.All()
	if err != nil {
		return Meta{}, err
	}
	for _, m := range metas {
		if m.TmuxName == handle {
			return m, nil
		}
	}
	return Meta{}, &UnknownError{handle}
}

// Lookup returns the worker that the index knows under name, or else the one with the session id, if that is its name
// or id. It reads two small files at most, however many workers there are.
func (r *Root) Lookup(name, id string) (Meta, bool) {
	if ValidName(name) {
		if indexed, err := os.Readlink(r.indexed(name)); err == nil {
			if m, err := r.read(indexed); err == nil && m.TmuxName == name {
				return m, true
			}
		}
	}
	m, err := r.read(id)
	return m, err == nil && (m.TmuxName == name || m.SessionID == name)
}

// read reads the meta of a session id.
func (r *Root) read(id string) (Meta, error) { return r.readPart(id, "") }

// readPart is read of a worker whose name holds part: another one's is not decoded, and comes back empty.
func (r *Root) readPart(id, part string) (Meta, error) {
	if !ValidID(id) {
		return Meta{}, fmt.Errorf("read meta: %q is no session id", id)
	}
	var m Meta
	data, err := readFile(r.file(id+metaEnd), maxFile)
	if err != nil {
		return Meta{}, err
	}
	if !bytes.Contains(data, []byte(part)) && !bytes.ContainsRune(data, '\\') { // no name has a letter that JSON escapes
		return Meta{}, nil
	}
	if err = m.decode(data); err == nil {
		err = m.valid()
	}
	if err == nil && m.SessionID != id {
		err = fmt.Errorf("it is of session %s", m.SessionID)
	}
	if err != nil {
		return Meta{}, fmt.Errorf("read meta %s: %w", id+metaEnd, err)
	}
	return m, nil
}

// readFile reads a small file of the root, which is no link.
func readFile(path string, limit int64) ([]byte, error) { return rawfile.Read(path, limit) }

// All returns all workers by name, and the metas that are none.
func (r *Root) All() ([]Meta, []Broken, error) {
	metas, broken, _, err := r.Matching("")
	return metas, broken, err
}

// Matching is All for the workers whose name holds part, with the markers of such names, whether or not there is a meta
// of them too. The folder is read once.
func (r *Root) Matching(part string) (metas []Meta, broken []Broken, markers []Marker, err error) {
	files, err := r.files()
	if err != nil {
		return nil, nil, nil, err
	}
	var ids []string
	for _, file := range files {
		if id, ok := strings.CutSuffix(file, metaEnd); ok {
			ids = append(ids, id)
		} else if name, ok := strings.CutSuffix(file, markerEnd); ok && strings.Contains(name, part) {
			if harness, ok := r.MarkerOf(name); ok {
				markers = append(markers, Marker{name, harness})
			}
		}
	}
	slices.SortFunc(markers, func(a, b Marker) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(ids) // which of two metas of a worker is shown as broken must not depend on the folder
	read := r.readAll(ids, part)
	metas = make([]Meta, 0, len(ids))
	for i, found := range read {
		switch {
		case errors.Is(found.err, os.ErrNotExist): // stopped just now
		case found.err != nil:
			broken = append(broken, Broken{ids[i] + metaEnd, found.err})
		case strings.Contains(found.TmuxName, part):
			metas = append(metas, found.Meta)
		}
	}
	slices.SortStableFunc(metas, func(a, b Meta) int { return strings.Compare(a.TmuxName, b.TmuxName) })
	metas, twins := r.withoutTwins(metas)
	return metas, append(broken, twins...), markers, nil
}

// withoutTwins leaves one meta of each worker. There are two where a hook was killed between the two steps of Repoint.
func (r *Root) withoutTwins(sorted []Meta) (metas []Meta, broken []Broken) {
	metas = sorted[:0]
	for _, m := range sorted {
		last := len(metas) - 1
		if last < 0 || metas[last].TmuxName != m.TmuxName {
			metas = append(metas, m)
			continue
		}
		other := metas[last]
		loser := other
		if current, _ := r.Lookup(m.TmuxName, other.SessionID); current.SessionID == other.SessionID {
			m, loser = other, m
		}
		metas[last] = m
		broken = append(broken, Broken{loser.SessionID + metaEnd, fmt.Errorf("worker %s has session %s now", m.TmuxName, m.SessionID)})
	}
	return metas, broken
}

// files are the names in the folder, in no order.
func (r *Root) files() ([]string, error) {
	dir, err := os.Open(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // nobody has launched a worker yet
	}
	if err != nil {
		return nil, fmt.Errorf("read worker folder: %w", err)
	}
	defer func() { _ = dir.Close() }()
	files, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read worker folder: %w", err)
	}
	return files, nil
}

// found is what a meta file came to.
type found struct {
	Meta
	err error
}

// readAll reads the metas of many session ids, as many at once as there are processors; those of workers whose name does
// not hold part need not be whole.
func (r *Root) readAll(ids []string, part string) []found {
	list := make([]found, len(ids))
	parallel.Each(len(ids), func(i int) { list[i].Meta, list[i].err = r.readPart(ids[i], part) })
	return list
}

// Put registers a worker, or replaces what is known of it, in one step each: its meta and then the index. A worker that
// has no events file yet is given the name of one. What was known under its name before, with another session id, is
// forgotten; the events of that stay until they are swept.
func (r *Root) Put(m Meta) error {
	if err := m.valid(); err != nil {
		return fmt.Errorf("register worker: %w", err)
	}
	return r.withMeta(m.TmuxName, func() (err error) {
		if m.EventsFile == "" {
			if m.EventsFile, err = r.freeEventsFile(m); err != nil {
				return err
			}
		}
		before, ok := r.Lookup(m.TmuxName, "")
		if err := r.put(m); err != nil || !ok || before.SessionID == m.SessionID {
			return err
		}
		return removeAll(r.file(before.SessionID + metaEnd))
	})
}

// put is Put under the lock of the worker's meta.
func (r *Root) put(m Meta) error {
	m.EventsFile = filepath.Base(r.EventsFile(m))
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("register worker %q: %w", m.TmuxName, err)
	}
	if err := atomicfile.Write(r.file(m.SessionID+metaEnd), append(data, '\n')); err != nil {
		return fmt.Errorf("register worker %q: %w", m.TmuxName, err)
	}
	return r.index(m)
}

func (r *Root) indexed(name string) string { return r.file(filepath.Join(names, name)) }

// index makes names/NAME a link whose text is the session id. It is never followed: a link is the smallest file that is
// replaced whole.
func (r *Root) index(m Meta) error {
	if err := r.folder(names); err != nil {
		return err
	}
	link := r.indexed(m.TmuxName)
	tmp := link + tmpEnd
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("index worker: %w", err)
	}
	if err := os.Symlink(m.SessionID, tmp); err != nil {
		return fmt.Errorf("index worker: %w", err)
	}
	return atomicfile.Rename(tmp, link)
}

// Repoint gives a worker the session that its client changed to: the new meta, the index, and then the old meta goes.
// Its events file stays. Where old is no longer the worker's meta, since another process was faster or the worker was
// stopped, nothing is changed, and it returns what stands, or an *UnknownError.
func (r *Root) Repoint(old Meta, newID, transcript string) (Meta, error) {
	if !ValidID(newID) {
		return Meta{}, fmt.Errorf("repoint worker %q: %q is no session id", old.TmuxName, newID)
	}
	var m Meta
	err := r.withMeta(old.TmuxName, func() (err error) {
		m, err = r.repoint(old.TmuxName, old.SessionID, newID, transcript)
		return err
	})
	return m, err
}

// repoint is Repoint under the lock of the worker's meta.
func (r *Root) repoint(name, oldID, newID, transcript string) (Meta, error) {
	m, ok := r.Lookup(name, oldID)
	switch {
	case !ok || m.TmuxName != name:
		return Meta{}, &UnknownError{name}
	case m.SessionID != oldID || oldID == newID && m.TranscriptPath == transcript:
		return m, nil
	}
	m.EventsFile = filepath.Base(r.EventsFile(m))
	m.SessionID, m.TranscriptPath = newID, transcript
	if err := r.put(m); err != nil || oldID == newID {
		return m, err
	}
	return m, removeAll(r.file(oldID + metaEnd))
}
