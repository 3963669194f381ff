package csd

import (
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// wake tells when one of a few files changed, be it there yet or not. It watches their folders, since a file that is
// replaced whole, or made later, has no watch of its own.
type wake struct {
	C     <-chan struct{} // a notice; several changes may be one
	close func()
}

// lookAgain is how often files are looked at where the system gives no notices. A look is a stat or two.
const lookAgain = 500 * time.Millisecond

// watchFiles starts to watch. Folders that do not exist are passed over: who needs them gives their parents too.
func watchFiles(paths ...string) wake {
	notices := make(chan struct{}, 1)
	tell := func() {
		select {
		case notices <- struct{}{}:
		default:
		}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	watcher, err := fsnotify.NewWatcher()
	if err == nil && !addFolders(watcher, paths) {
		_ = watcher.Close()
		watcher = nil
	}
	if err != nil || watcher == nil {
		go func() {
			defer close(ended)
			tick := time.NewTicker(lookAgain)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					tell()
				case <-done:
					return
				}
			}
		}()
		return wake{C: notices, close: func() { close(done); <-ended }}
	}
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	go func() {
		defer close(ended)
		for {
			select {
			case e, ok := <-watcher.Events:
				if !ok {
					return
				}
				if wanted[e.Name] {
					tell()
				}
			case _, ok := <-watcher.Errors:
				if !ok {
					return
				}
				tell() // notices were lost: nobody knows of which file
			}
		}
	}()
	return wake{C: notices, close: func() { _ = watcher.Close(); <-ended }}
}

// addFolders watches the folder of each path, and reports whether there is at least one and none was refused.
func addFolders(w *fsnotify.Watcher, paths []string) bool {
	added := map[string]bool{}
	for _, p := range paths {
		dir := filepath.Dir(p)
		if added[dir] {
			continue
		}
		if err := w.Add(dir); err != nil {
			return false // also a folder that is not there yet: then we have to look
		}
		added[dir] = true
	}
	return len(added) > 0
}
