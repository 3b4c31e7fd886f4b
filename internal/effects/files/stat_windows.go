package files

import (
	"io/fs"
	"strconv"
	"syscall"
)

// system adds what the system tells of a file.
func system(info fs.FileInfo, stat map[string]string) {
	if d, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		stat["atime"] = strconv.FormatInt(d.LastAccessTime.Nanoseconds(), 10)
	}
}
