package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/sessevents/sessevents/engine/rundir"
)

// Watcher is a source with targets on this disk: a change there is polled at once. The interval stays, for what no
// notice comes of.
type Watcher interface {
	// Watch names what may be worth a poll of target when it changes: absolute paths of files, which need not exist,
	// and of folders, whose entries count. It is called before each poll of the target, so it is to be cheap.
	Watch(target Target) []string
}

// wakeFloor is the least time between two polls of one target that changes on the disk ask for: a storm of them is
// one poll a second.
const wakeFloor = time.Second

// waker hears of changes on the disk. It watches folders, not files: a file may not be there yet, and be replaced.
type waker struct {
	fs  *fsnotify.Watcher
	own string // files with this prefix are the daemon's own, which no target wakes for

	setting chan struct{} // held by the one set that is at the disk

	mu        sync.Mutex
	interests map[*target]interest
	waits     map[string]map[*target]bool // who waits for a path: a file, or a folder as a whole
	folders   map[string]int              // watched folders, and how many interests need each
	woken     map[*target]bool
	notify    chan struct{}
}

// interest is what one target is woken for.
type interest struct {
	named   []string // as the source named it
	paths   []string // as the disk calls it, and what lies on the way there that may lead elsewhere
	joints  []string // of these what does: links, and what is missing
	folders []string // watched for it
	// partial says that something is missing yet, or that there are too many folders: the next set tries again.
	partial bool
}

// newWaker returns nil where the system has no notices; polls then follow the interval alone.
func newWaker(files rundir.Files) *waker {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	return &waker{
		fs: fs, own: strings.TrimSuffix(files.State, "state.json"),
		interests: map[*target]interest{}, waits: map[string]map[*target]bool{}, folders: map[string]int{},
		woken: map[*target]bool{}, notify: make(chan struct{}, 1), setting: make(chan struct{}, 1),
	}
}

// run hears until the watcher is closed.
func (w *waker) run() {
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			w.heard(e.Name, e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename))
		case err, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) { // notices were lost: of whom nobody knows
				w.heardAll()
			}
		}
	}
}

// heard wakes who waits for path. gone says that what had the path has it no more: a watch on it ended with it.
func (w *waker) heard(path string, gone bool) {
	if strings.HasPrefix(path, w.own) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range []string{path, filepath.Dir(path)} {
		for t := range w.waits[p] {
			w.woken[t] = true
			if i := w.interests[t]; slices.Contains(i.joints, path) {
				i.partial = true // it may lead elsewhere now
				w.interests[t] = i
			}
		}
	}
	if gone && w.folders[path] > 0 {
		for t, i := range w.interests {
			if slices.Contains(i.folders, path) {
				i.partial = true
				w.interests[t] = i
				w.woken[t] = true
			}
		}
	}
	w.tell()
}

func (w *waker) heardAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t := range w.interests {
		w.woken[t] = true
	}
	w.tell()
}

func (w *waker) tell() {
	if len(w.woken) == 0 {
		return
	}
	select {
	case w.notify <- struct{}{}:
	default:
	}
}

// take returns the targets that something was heard for.
func (w *waker) take() map[*target]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	woken := w.woken
	w.woken = map[*target]bool{}
	return woken
}

// setPatience is how long a set waits for another one that the disk holds up; then the interval has to do.
const setPatience = time.Second

// set makes named all that t is woken for. It looks at the disk, so it is not for the loop; but what it holds while it
// does so stops neither the loop nor, for long, the polls of others.
func (w *waker) set(t *target, named []string) {
	timer := time.NewTimer(setPatience)
	defer timer.Stop()
	select {
	case w.setting <- struct{}{}:
		defer func() { <-w.setting }()
	case <-timer.C:
		return
	}
	w.mu.Lock()
	old := w.interests[t]
	w.mu.Unlock()
	if !old.partial && slices.Equal(old.named, named) {
		return
	}
	now, folders := survey(named)
	for _, folder := range folders {
		// Asked each time: a folder that was removed and made again is another one.
		if w.fs.Add(folder) == nil {
			now.folders = append(now.folders, folder)
		} else {
			now.partial = true
		}
	}
	w.replace(t, now)
}

// survey finds out what the disk calls the paths, and which folders have to be watched for them.
func survey(named []string) (i interest, folders []string) {
	i.named = named
	t := trail{interest: &i}
	for _, path := range named {
		t.follow(path, maxLinks)
	}
	slices.Sort(t.folders)
	slices.Sort(i.paths)
	i.paths = slices.Compact(i.paths)
	return i, slices.Compact(t.folders)
}

// maxLinks is how many links a path goes through at most, as in Linux.
const maxLinks = 40

// trail is the way to paths, from the root of the disk.
type trail struct {
	*interest
	folders []string
}

// follow goes along path, through links, as far as there is something.
func (t *trail) follow(path string, links int) {
	at := string(filepath.Separator)
	parts := strings.Split(strings.Trim(filepath.Clean(path), at), at)
	for n, part := range parts {
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		last := n == len(parts)-1
		switch {
		case err != nil: // it may come
			t.wait(at, next, true)
			t.partial = true
			return
		case info.Mode()&os.ModeSymlink != 0:
			t.wait(at, next, true)
			to, err := os.Readlink(next)
			if err != nil || links == 0 {
				t.partial = true
				return
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(at, to)
			}
			t.follow(filepath.Join(append([]string{to}, parts[n+1:]...)...), links-1)
			return
		case last:
			t.wait(at, next, false)
			if info.IsDir() {
				t.folders = append(t.folders, next)
			}
		}
		at = next
	}
}

// wait notes a path of a folder.
func (t *trail) wait(folder, path string, joint bool) {
	t.folders = append(t.folders, folder)
	t.paths = append(t.paths, path)
	if joint {
		t.joints = append(t.joints, path)
	}
}

// replace gives t another interest. Folders that nobody needs any more are let go.
func (w *waker) replace(t *target, now interest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.interests[t]
	for _, path := range now.paths {
		if w.waits[path] == nil {
			w.waits[path] = map[*target]bool{}
		}
		w.waits[path][t] = true
	}
	for _, folder := range now.folders {
		w.folders[folder]++
	}
	for _, path := range old.paths {
		if slices.Contains(now.paths, path) {
			continue
		}
		if delete(w.waits[path], t); len(w.waits[path]) == 0 {
			delete(w.waits, path)
		}
	}
	for _, folder := range old.folders {
		if w.folders[folder]--; w.folders[folder] == 0 {
			delete(w.folders, folder)
			_ = w.fs.Remove(folder) // it may have gone by itself
		}
	}
	if w.interests[t] = now; len(now.named) == 0 {
		delete(w.interests, t)
	}
}

// forget ends all that t is woken for.
func (w *waker) forget(t *target) { w.replace(t, interest{}) }

func (w *waker) close() error { return w.fs.Close() }

// wakeUp lets the targets be polled for which something was heard, each at most once in wakeFloor.
func (l *loop) wakeUp(now time.Time) {
	woken := l.waker.take()
	if woken[l.reload.file] {
		l.reload.due = now.Add(reloadSettle)
	}
	for _, t := range l.targets {
		if !woken[t] {
			continue
		}
		at := t.started.Add(wakeFloor)
		if at.Before(now) {
			at = now
		}
		if t.due.IsZero() || at.Before(t.due) {
			t.due = at
		}
	}
}

// hear lets changes on the disk wake the loop, where there is something to hear of. What it returns ends that.
func (l *loop) hear() (end func() error) {
	_, watcher := l.source.(Watcher)
	reloads := l.reload.build != nil && l.options.SourceFile != ""
	if !watcher && !reloads {
		return nil
	}
	if l.waker = newWaker(l.files); l.waker == nil {
		l.log.printf("this system gives no notice of changes on the disk: the interval is all there is")
		return nil
	}
	if reloads {
		l.waker.set(l.reload.file, []string{l.options.SourceFile})
	}
	var hearing sync.WaitGroup
	hearing.Go(l.waker.run)
	return func() error {
		err := l.waker.close()
		hearing.Wait()
		return err
	}
}
