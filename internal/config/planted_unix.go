//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// planted reports whether a file may have been put into its folder by somebody whom the user
// has nothing to do with: everybody can write to the folder, as to /tmp, and the file belongs
// neither to the user, nor to root, nor to whom the folder belongs.
func planted(folder, file fs.FileInfo) bool {
	above, known := folder.Sys().(*syscall.Stat_t)
	st, ok := file.Sys().(*syscall.Stat_t)
	return ok && known && folder.Mode().Perm()&0o002 != 0 &&
		st.Uid != 0 && int(st.Uid) != os.Geteuid() && st.Uid != above.Uid
}
