//go:build unix

package diagnose

import (
	"io/fs"
	"os"
	"syscall"
)

// openTo reports whether others than its owner can do something with a file.
func openTo(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// ours reports whether a file belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
