//go:build unix

package scope

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// deviceOf tells file systems apart; 0 for what is not there.
func deviceOf(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Dev) //nolint:unconvert,gosec // its type differs between systems
}

func accessible(path string) bool { return unix.Access(path, unix.X_OK) == nil }

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
