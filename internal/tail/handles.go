package tail

import (
	"container/list"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxHandles bounds the files that are held open, of all readers that share a [Handles].
	maxHandles = 64
	// handleLife is how long a file is held that no read asks for any more. It is longer than linger, since what was
	// read of a file counts only with a commit that comes later.
	handleLife = 2 * linger
)

// Handles holds files open between reads, so that the rest of one that was deleted right after it was rotated, as by a
// log that is packed at once, can still be read. It is a help and no state: without it, or after a restart, such a
// rest is lost. Its methods may be called from any goroutine. The zero value is ready.
type Handles struct {
	mu      sync.Mutex
	byInode map[[2]uint64]*list.Element
	age     list.List // of *handle, the last used first
}

type handle struct {
	dev, inode uint64
	file       *os.File
	used       time.Time
}

// Close closes all files.
func (h *Handles) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.age.Len() > 0 {
		h.drop(h.age.Back())
	}
}

func (h *Handles) drop(e *list.Element) {
	held := h.age.Remove(e).(*handle)
	delete(h.byInode, [2]uint64{held.dev, held.inode})
	held.file.Close() // only read from
}

// has says whether a file is held, and notes that it is wanted.
func (h *Handles) has(dev, inode uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.byInode[[2]uint64{dev, inode}]
	if e == nil {
		return false
	}
	e.Value.(*handle).used = time.Now()
	h.age.MoveToFront(e)
	return true
}

// dup returns a descriptor of its own for a file that is held; nil where there is none.
func (h *Handles) dup(dev, inode uint64) *os.File {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.byInode[[2]uint64{dev, inode}]
	if e == nil {
		return nil
	}
	held := e.Value.(*handle)
	held.used = time.Now()
	h.age.MoveToFront(e)
	f, err := duplicate(held.file)
	if err != nil {
		return nil
	}
	return f
}

// hold opens what p is now and keeps it. What cannot be opened is not held: the read itself will say why.
func (h *Handles) hold(p *seen) {
	if h.has(p.dev, p.inode) {
		return
	}
	f, info, err := open(p.path)
	if err != nil {
		return
	}
	dev, inode := number(info)
	if dev != p.dev || inode != p.inode {
		f.Close()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := [2]uint64{dev, inode}
	if h.byInode[key] != nil { // another reader was faster
		f.Close()
		return
	}
	if h.byInode == nil {
		h.byInode = map[[2]uint64]*list.Element{}
	}
	h.byInode[key] = h.age.PushFront(&handle{dev, inode, f, time.Now()})
	if h.age.Len() > maxHandles {
		h.drop(h.age.Back())
	}
}

// sweep closes what no read has asked for in a while.
func (h *Handles) sweep() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.age.Back(); e != nil && time.Since(e.Value.(*handle).used) > handleLife; e = h.age.Back() {
		h.drop(e)
	}
}

// duplicate returns a second descriptor of an open file.
func duplicate(f *os.File) (*os.File, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if cerr := conn.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); cerr != nil {
		return nil, cerr
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
