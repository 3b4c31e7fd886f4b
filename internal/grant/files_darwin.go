package grant

import (
	"os"
	"syscall"
	"time"
)

// kernelsFile reports whether an open file is of a file system that is the kernel's.
// What of these there is, /dev, holds devices and links to open files, which are refused
// as such.
func kernelsFile(*os.File) bool { return false }

// born returns when the file name of a folder was made.
func born(_ *os.Root, _ string, info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Birthtimespec.Unix())
	}
	return time.Time{}
}

// bornOpen returns when an open file was made.
func bornOpen(_ *os.File, info os.FileInfo) time.Time { return born(nil, "", info) }
