package grant

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// nonblock has no counterpart: os.Root refuses the names of devices.
const nonblock = 0

// systemCode returns the name that POSIX has for an error of the system and what it
// says, or no text if it is none that is known.
func systemCode(err error) (code, text string) {
	no, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return "", ""
	}
	switch no {
	case windows.ERROR_FILE_NOT_FOUND, windows.ERROR_INVALID_NAME, windows.ERROR_BAD_PATHNAME:
		return "ENOENT", "no such file or directory"
	case windows.ERROR_FILE_EXISTS, windows.ERROR_ALREADY_EXISTS, syscall.EEXIST:
		return "EEXIST", "file exists"
	case windows.ERROR_ACCESS_DENIED, windows.ERROR_PRIVILEGE_NOT_HELD, syscall.EACCES:
		return "EACCES", "permission denied"
	case windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, syscall.EBUSY:
		return "EBUSY", "resource busy or locked"
	case windows.ERROR_DIRECTORY, syscall.ENOTDIR:
		return "ENOTDIR", "not a directory"
	case windows.ERROR_DIR_NOT_EMPTY, syscall.ENOTEMPTY:
		return "ENOTEMPTY", "directory not empty"
	case windows.ERROR_NOT_SAME_DEVICE, syscall.EXDEV:
		return "EXDEV", "invalid cross-device link"
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, syscall.ENOSPC:
		return "ENOSPC", "no space left on device"
	case windows.ERROR_TOO_MANY_OPEN_FILES, syscall.EMFILE:
		return "EMFILE", "too many open files"
	case windows.ERROR_INVALID_HANDLE, syscall.EBADF:
		return "EBADF", "bad file descriptor"
	case windows.ERROR_INVALID_PARAMETER, syscall.EINVAL:
		return "EINVAL", "invalid argument"
	case windows.ERROR_FILENAME_EXCED_RANGE, syscall.ENAMETOOLONG:
		return "ENAMETOOLONG", "file name too long"
	case windows.ERROR_CANT_RESOLVE_FILENAME, syscall.ELOOP:
		return "ELOOP", "too many levels of symbolic links"
	case windows.ERROR_WRITE_PROTECT, syscall.EROFS:
		return "EROFS", "read-only file system"
	case syscall.EISDIR:
		return "EISDIR", "is a directory"
	}
	return "EIO", "input/output error"
}

// namesOf returns how many names a file has, which is not looked at here: a file that is
// written in place may have others.
func namesOf(os.FileInfo) uint64 { return 1 }

// mounted reports whether another file system begins at a folder: none is the kernel's.
func mounted(_, _ os.FileInfo) bool { return false }

// keepOwner reports whether the owner is kept: what is made in a folder takes the rights
// of the folder.
func keepOwner(*os.File, os.FileInfo) bool { return true }

// mayReplace reports whether this process may give the name of a file to another.
func mayReplace(*os.Root, os.FileInfo) bool { return true }

// may asks whether this process may do something with a file.
func may(_ *os.Root, _ string, info os.FileInfo, mode int) error {
	if mode&2 != 0 && info.Mode()&0o200 == 0 {
		return syscall.EPERM
	}
	return nil
}

// renameAt renames within a folder, or below the folder that a walk began in.
func renameAt(from, to *place) error {
	if from.loose && to.loose {
		a, err := from.real()
		if err != nil {
			return err
		}
		b, err := to.real()
		if err != nil {
			return err
		}
		return os.Rename(a, b)
	}
	if from.top == nil || from.top != to.top {
		return syscall.EXDEV
	}
	return from.top.Rename(filepath.Join(from.below, from.name), filepath.Join(to.below, to.name))
}

// kernels reports whether a folder is of a file system that is the kernel's.
func kernels(*os.Root) bool { return false }

func kernelsFile(*os.File) bool { return false }

// born returns when a file was made.
func born(_ *os.Root, _ string, info os.FileInfo) time.Time {
	if d, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return time.Unix(0, d.CreationTime.Nanoseconds())
	}
	return time.Time{}
}

func bornOpen(_ *os.File, info os.FileInfo) time.Time { return born(nil, "", info) }
