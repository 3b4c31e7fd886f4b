//go:build unix

package grant

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblock is how everything is opened: so that a pipe does not wait for its other end,
// and a terminal does not become this process's.
const nonblock = unix.O_NONBLOCK | unix.O_NOCTTY

// systemCode returns the name of an error of the system and what it says, or no text if
// it is none.
func systemCode(err error) (code, text string) {
	no, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return "", ""
	}
	return unix.ErrnoName(no), no.Error()
}

// namesOf returns how many names a file has.
func namesOf(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() {
		return uint64(st.Nlink) //nolint:unconvert // it has other widths elsewhere
	}
	return 1
}

// mounted reports whether another file system begins at a folder.
func mounted(info, above os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	up, known := above.Sys().(*syscall.Stat_t)
	return !ok || !known || st.Dev != up.Dev
}

// keepOwner gives a file to whom another belongs, and reports whether it could.
func keepOwner(f *os.File, old os.FileInfo) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	want, known := old.Sys().(*syscall.Stat_t)
	if !ok || !known {
		return false
	}
	return st.Uid == want.Uid && st.Gid == want.Gid || f.Chown(int(want.Uid), int(want.Gid)) == nil
}

// mayReplace reports whether this process may give the name of a file in a folder to
// another: in a sticky one only the owner of either may.
func mayReplace(dir *os.Root, old os.FileInfo) bool {
	info, err := dir.Stat(".")
	if err != nil || info.Mode()&fs.ModeSticky == 0 {
		return true
	}
	folder, ok := info.Sys().(*syscall.Stat_t)
	file, known := old.Sys().(*syscall.Stat_t)
	me := uint32(os.Geteuid())
	return !ok || !known || me == 0 || me == folder.Uid || me == file.Uid
}

// may asks the system whether this process may do something with a file.
func may(dir *os.Root, name string, _ os.FileInfo, mode int) error {
	if mode == 0 {
		return nil
	}
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Faccessat(int(d.Fd()), name, uint32(mode), unix.AT_SYMLINK_NOFOLLOW)
}

// renameAt renames from one open folder to another.
func renameAt(from, to *place) error {
	a, err := from.dir.Open(".")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := to.dir.Open(".")
	if err != nil {
		return err
	}
	defer b.Close()
	return unix.Renameat(int(a.Fd()), from.name, int(b.Fd()), to.name)
}

// kernels reports whether a folder is of a file system that is the kernel's.
func kernels(dir *os.Root) bool {
	d, err := dir.Open(".")
	if err != nil {
		return true
	}
	defer d.Close()
	return kernelsFile(d)
}
