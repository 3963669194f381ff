// Package tail gives the whole lines of growing files, once each, across rotation, truncation and restarts.
//
// It keeps nothing between two reads but a [Position], which is a plain value: a restart is the same path as the next
// read. A file is known by its content before its inode: docs/tailing.md holds the cases, and the losses that no reader
// can avoid.
package tail

import (
	"context"
	"fmt"
	"time"
)

// Defaults of [Reader].
const (
	DefaultMaxLine  = 1_000_000
	DefaultMaxBytes = 64_000_000
)

// linger is how long a file that was rotated away is still looked at: its writer may not have noticed yet.
const linger = time.Minute

// maxGone bounds the files of a position that are gone; the oldest are forgotten first.
const maxGone = 64

// Reader reads lines. The zero value is ready, and is for one goroutine at a time.
type Reader struct {
	// FromEnd starts at the end of those files that are there at the first read. A file that appears later is
	// always read from its start.
	FromEnd bool
	// MaxLine is the longest line in bytes, its newline not counted; a longer one is skipped and reported.
	MaxLine int
	// MaxBytes is about how much one read goes through; the rest is left to the next one. At least one line is read.
	MaxBytes int64
	// Handles, where set, holds the watched files open between reads. Several readers may share one.
	Handles *Handles

	buf []byte
}

// Position says how far every file was read. It is to be kept, whole, with what was made of the lines.
type Position struct {
	Files []File `json:"files"`
}

// File is how far one file was read, and by what it is known again.
type File struct {
	// Path is where the file was last seen, symbolic links resolved.
	Path  string `json:"path"`
	Dev   uint64 `json:"dev,string"`
	Inode uint64 `json:"inode,string"`
	// Offset is the first byte that was not read. Head and Tail are prints of the first bytes and of the last ones
	// before Offset.
	Offset int64  `json:"offset"`
	Head   string `json:"head,omitempty"`
	Tail   string `json:"tail,omitempty"`
	// Skip is how much of an over-long line lies before Offset; its end has not been seen.
	Skip int64 `json:"skip,omitempty"`
	// Unread is what lay behind Offset at the last look: a line without its end, or a backlog.
	Unread int64 `json:"unread,omitempty"`
	// Changed is the inode's time of change, in Unix nanoseconds, at which Head and Tail were last seen to be there;
	// 0 where it was too young to tell one write from the next.
	Changed int64 `json:"changed,omitempty"`
	// Since is when the file was first found under none of the names that are watched, in Unix seconds; 0: it has one.
	// Was is the watched name that it had.
	Since int64  `json:"since,omitempty"`
	Was   string `json:"was,omitempty"`
	// Gone says that it was then found nowhere at all. It is known again only with the inode and the birth (in Unix
	// nanoseconds) that it had: a file with the same content made later is another one.
	Gone bool  `json:"gone,omitempty"`
	Born int64 `json:"born,omitempty"`
}

// Line is one line without its end. Text is good only until the callback returns.
type Line struct {
	Text   []byte
	Path   string
	Offset int64
}

// Report says what a read went through.
type Report struct {
	Lines int   // whole lines that are not blank, over-long ones too
	Bytes int64 // how much was gone past
	// Long are the over-long lines; no more than 20 are listed, and TooLong counts them all.
	Long    []Long
	TooLong int
	// Notes say what was odd: a file that was replaced before its end was read. They never quote the file.
	Notes []string
	// More says that there was more to read than one read may.
	More bool
	// Files are the files under the watched names.
	Files []Seen
}

// Long is a line that was skipped for its length.
type Long struct {
	Path   string
	Offset int64
	Size   int64
}

// Seen is one file under a watched name.
type Seen struct {
	Path string
	Size int64
}

// Read calls yield for each whole line that is new since from, in the order in which they were written to each file,
// an older file before the one that took its place. Blank lines are passed over. paths are the names that are watched;
// one that does not exist is no error. from is nil when the watch begins. yield returns false to end the read after
// this line.
//
// Read ends with an error when ctx does, and well before its deadline with what it has.
//
// On an error nothing has been read: the caller keeps its old position, and the lines it was given come again.
func (r *Reader) Read(ctx context.Context, paths []string, from *Position, now time.Time, yield func(Line) bool) (*Position, Report, error) {
	s := &scan{ctx: ctx, now: now, yield: yield, maxLine: r.MaxLine, left: r.MaxBytes, buf: r.buf, handles: r.Handles}
	if s.maxLine <= 0 {
		s.maxLine = DefaultMaxLine
	}
	if s.left <= 0 {
		s.left = DefaultMaxBytes
	}
	if deadline, ok := ctx.Deadline(); ok {
		s.hurry = deadline.Add(-time.Until(deadline) / 3)
	}
	defer func() { r.buf = s.buf }()

	present, err := look(ctx, paths)
	if err != nil {
		return nil, Report{}, err
	}
	for _, p := range present {
		s.report.Files = append(s.report.Files, Seen{p.name, p.size})
	}
	var plan []job
	if from == nil {
		plan, err = begin(present, r.FromEnd, s.maxLine)
	} else {
		plan, err = s.follow(from.Files, present)
	}
	if err != nil {
		return nil, Report{}, err
	}
	next := &Position{Files: make([]File, 0, len(plan))}
	for _, j := range plan {
		if j.at != nil {
			if err := s.file(&j); err != nil {
				return nil, Report{}, fmt.Errorf("read %s: %w", j.at.path, err)
			}
		}
		if s.over(j, len(present) > 0) {
			if !j.at.elsewhere {
				continue
			}
			j.Gone, j.Unread = true, 0 // it may come back
		}
		j.settle()
		next.Files = append(next.Files, j.File)
	}
	next.Files = forget(next.Files)
	if r.Handles != nil {
		for _, p := range present[:min(len(present), maxHandles)] {
			r.Handles.hold(p)
		}
		r.Handles.sweep()
	}
	return next, s.report, nil
}

// job is one file of a read: how far it was read, and where it is now; nil: nowhere.
type job struct {
	File
	at *seen
}

// young is how old a change must be before an equal time means that nothing was written since.
const young = 2 * time.Second

// settle notes that the content is what the prints say, as of the look. The age of a change is measured by the clock
// that file systems use, not by the caller's.
func (j *job) settle() {
	j.Changed = 0
	if j.at != nil && j.at.size == j.Offset+j.Unread && time.Since(time.Unix(0, j.at.changed)) > young {
		j.Changed = j.at.changed
	}
}

// begin is the position of a watch that starts now.
func begin(present []*seen, fromEnd bool, maxLine int) ([]job, error) {
	plan := make([]job, 0, len(present))
	for _, p := range present {
		f := p.fresh()
		if fromEnd {
			var err error
			if f, err = p.atEnd(maxLine); err != nil {
				return nil, fmt.Errorf("read %s: %w", p.name, err)
			}
		}
		plan = append(plan, job{f, p})
	}
	return plan, nil
}

// over says that nothing more can come of a file that was rotated away a while ago. While no watched name exists it
// stays, for its writer may still hold it, unless it has no name at all.
func (s *scan) over(j job, replaced bool) bool {
	if j.Since == 0 || j.at == nil || !replaced && !j.at.held || s.ended() {
		return false
	}
	if s.now.Sub(time.Unix(j.Since, 0)) < linger {
		return false
	}
	if j.Unread > 0 {
		s.note("the last %d bytes of %s have no end of line and are left out", j.Unread, j.Path)
	}
	return true
}

// forget bounds the files that are gone and may come back.
func forget(files []File) []File {
	gone := 0
	for _, f := range files {
		if f.Since != 0 {
			gone++
		}
	}
	kept := files[:0]
	for _, f := range files {
		if f.Since != 0 && gone > maxGone {
			gone--
			continue
		}
		kept = append(kept, f)
	}
	return kept
}
