package grant

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// kernelsFile reports whether an open file is of a file system that shows the kernel
// instead of what somebody stored.
func kernelsFile(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return true
	}
	var st unix.Statfs_t
	if e := raw.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &st) }); e != nil || err != nil {
		return true
	}
	switch uint32(st.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC,
		unix.CGROUP2_SUPER_MAGIC, unix.SECURITYFS_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC, unix.DEVPTS_SUPER_MAGIC,
		unix.NSFS_MAGIC, unix.SELINUX_MAGIC, unix.SMACK_MAGIC, unix.PSTOREFS_MAGIC, unix.BINFMTFS_MAGIC, unix.RDTGROUP_SUPER_MAGIC,
		unix.HUGETLBFS_MAGIC, unix.SOCKFS_MAGIC,
		0x50495045, // pipefs
		0x19800202, // mqueue
		0x62656570, // configfs
		0x65735543: // fusectl
		return true
	}
	return false
}

// born returns when the file name of a folder was made.
func born(dir *os.Root, name string, _ os.FileInfo) time.Time {
	d, err := dir.Open(".")
	if err != nil {
		return time.Time{}
	}
	defer d.Close()
	return bornAt(int(d.Fd()), name, unix.AT_SYMLINK_NOFOLLOW)
}

// bornOpen returns when an open file was made.
func bornOpen(f *os.File, _ os.FileInfo) (t time.Time) {
	raw, err := f.SyscallConn()
	if err != nil {
		return t
	}
	_ = raw.Control(func(fd uintptr) { t = bornAt(int(fd), "", unix.AT_EMPTY_PATH) }) // closed: not known
	return t
}

func bornAt(fd int, name string, flags int) time.Time {
	var st unix.Statx_t
	if err := unix.Statx(fd, name, flags, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
