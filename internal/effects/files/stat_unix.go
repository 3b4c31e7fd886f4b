//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"syscall"
)

// system adds what the system tells of a file.
func system(info fs.FileInfo, stat map[string]string) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	for name, n := range map[string]any{
		"dev": st.Dev, "ino": st.Ino, "nlink": st.Nlink, "uid": st.Uid, "gid": st.Gid, "rdev": st.Rdev,
		"blksize": st.Blksize, "blocks": st.Blocks,
	} {
		stat[name] = fmt.Sprint(n)
	}
	atime, ctime := times(st)
	stat["atime"], stat["ctime"] = fmt.Sprint(atime.Nano()), fmt.Sprint(ctime.Nano())
	stat["birthtime"] = stat["ctime"] // if nothing better is known, as in Node
}
