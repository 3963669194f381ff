package tail

import (
	"os"
	"syscall"
)

// refusePseudo has nothing to refuse: there is no /proc.
func refusePseudo(*os.File) error { return nil }

// born is when a file was made, in Unix nanoseconds; 0 where that is not known.
func born(path string) int64 {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return 0
	}
	return st.Birthtimespec.Nano()
}

// changed is the inode's time of change in Unix nanoseconds.
func changed(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
