package files

import "syscall"

// times returns when a file was last read and last changed.
func times(st *syscall.Stat_t) (atime, ctime syscall.Timespec) { return st.Atimespec, st.Ctimespec }
