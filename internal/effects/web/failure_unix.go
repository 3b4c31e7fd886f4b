//go:build unix

package web

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemCode returns the name of the system's error in err, empty if there is none.
func systemCode(err error) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return ""
	}
	return unix.ErrnoName(no)
}
