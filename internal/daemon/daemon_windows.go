package daemon

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/windows"
)

// permissions says that the mode of a folder means something here. The folders are below
// the user's own, which others cannot enter.
const permissions = false

func owned(fs.FileInfo) bool { return true }

// detached starts a process without a console, in a group of its own.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
