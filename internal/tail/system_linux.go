package tail

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// refusePseudo refuses files that the kernel makes up on reading: their size is 0, so they would seem silent for
// ever, and some of them block.
func refusePseudo(f *os.File) error {
	var st unix.Statfs_t
	var err error
	conn, cerr := f.SyscallConn()
	if cerr != nil {
		return cerr
	}
	if cerr := conn.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &st) }); cerr != nil {
		return cerr
	}
	if err != nil {
		return fmt.Errorf("file system of %s: %w", f.Name(), err)
	}
	switch int64(st.Type) { // the width differs between architectures
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC:
		return ErrNotRegular
	}
	return nil
}

// born is when a file was made, in Unix nanoseconds; 0 where that is not known.
func born(path string) int64 {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}

// changed is the inode's time of change in Unix nanoseconds.
func changed(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
