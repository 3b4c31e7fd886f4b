//go:build unix

package daemon

import (
	"io/fs"
	"os"
	"syscall"
)

// permissions says that the mode of a folder means something here.
const permissions = true

// owned reports whether a file belongs to the user of this process.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// detached starts a process in a session of its own, so that neither a terminal that is
// closed nor a signal to the group of the command reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
